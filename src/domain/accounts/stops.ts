/** Why an account is stopped: its database is in an older state, its settings are wrong, or it failed otherwise. */
export type StopKind = 'older-state' | 'wrong-settings' | 'has-failed';

/** An account that no worker can drive, since when, and why. */
export interface AccountStop {
  readonly account: string;
  /** One of `StopKind`, or a word of another version. */
  readonly kind: string;
  readonly since: string;
  readonly reason: string | null;
}

const REMEDIES: Readonly<Record<StopKind, string>> = {
  'older-state': 'order-sync db accept-restore',
  'wrong-settings': 'order-sync config check',
  'has-failed': 'order-sync doctor',
};

/** Returns the command that helps against a stop; `words` name the accounts. The daemon tries again each minute. */
export function stopRemedy(kind: string, words: string): string {
  const command = Object.hasOwn(REMEDIES, kind) ? REMEDIES[kind as StopKind] : REMEDIES['has-failed'];
  return kind === 'wrong-settings' ? command : `${command}${words}`;
}

/** Says that an account is stopped, and why. */
export function describeStop({ account, since, reason }: Omit<AccountStop, 'kind'>): string {
  return `the account ${account} is stopped since ${since}${reason === null ? '' : `: ${reason}`}`;
}
