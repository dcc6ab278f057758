import { after } from '../instant.ts';
import { accountWords } from './name.ts';

/** The purpose of a request: a create, the look-up of an order or link, or what a person asks for, which goes ahead of both. */
export type Lane = 'create' | 'lookup' | 'person';

/**
 * The kinds of holds, and what each stops. A person pauses creates or everything; `restored` stands after a database that
 * was put back to an older state was accepted. The exchange asks to wait (`rate-limited`: 429, or Retry-After with 503),
 * refuses the key (401), or refuses the account a create (`forbidden`: documented 403). `slowed` lets single creates go,
 * each after a longer wait, because creates have no outcome while look-ups are answered. `guarded`: one more create would
 * pass a limit of `guard.*`.
 */
const STOPS = {
  'creates-paused': ['create'],
  'all-paused': ['create', 'lookup'],
  restored: ['create'],
  'rate-limited': ['create', 'lookup', 'person'],
  'key-refused': ['create', 'lookup'],
  forbidden: ['create'],
  slowed: ['create'],
  guarded: ['create'],
} as const satisfies Record<string, readonly Lane[]>;

/** The kind of a hold; an account has one of each at the most. */
export type HoldKind = keyof typeof STOPS;

export const HOLD_KINDS = Object.keys(STOPS) as readonly HoldKind[];

/** The holds that `order-sync resume` ends. The others end when the exchange takes a request. */
export const RESUMED_HOLDS: readonly HoldKind[] = ['creates-paused', 'all-paused', 'restored', 'slowed', 'guarded'];

/** A reason for which an account sends nothing of a kind, or one request at a time. */
export interface Hold {
  readonly kind: HoldKind;
  readonly since: Date;
  /** From then on one request at a time goes, to see whether the hold is over; null: until a person ends it. */
  readonly until: Date | null;
  readonly reason: string;
  /** The person who set it. */
  readonly actor: string | null;
}

export type SendingDecision =
  | { readonly kind: 'free' }
  | { readonly kind: 'probe'; readonly hold: Hold }
  | { readonly kind: 'held'; readonly hold: Hold };

export function stops({ kind }: Pick<Hold, 'kind'>, lane: Lane): boolean {
  return (STOPS[kind] as readonly Lane[]).includes(lane);
}

/** The hold that lasts longest decides. */
export function decideSending(holds: readonly Hold[], lane: Lane, now: Date): SendingDecision {
  const [longest] = holds.filter((hold) => stops(hold, lane)).toSorted((a, b) => endOf(b) - endOf(a));
  if (longest === undefined) return { kind: 'free' };
  return endOf(longest) > now.getTime() ? { kind: 'held', hold: longest } : { kind: 'probe', hold: longest };
}

function endOf({ until }: Hold): number {
  return until?.getTime() ?? Number.POSITIVE_INFINITY;
}

export type AccountNews =
  /** The key was taken, and nothing asked to wait. */
  | { readonly kind: 'served' }
  /** A look-up got no answer: the exchange does not serve, or cannot be reached. */
  | { readonly kind: 'no-answer' }
  /** `hadRoom` if it came (429) although our own rate limit had room. */
  | { readonly kind: 'rate-limited'; readonly retryAfterMs: number; readonly hadRoom?: boolean }
  | { readonly kind: 'key-refused' }
  /** A create was refused as the account may not create: documented 403. */
  | { readonly kind: 'forbidden' }
  | { readonly kind: 'create-accepted' }
  | { readonly kind: 'create-rejected' }
  | { readonly kind: 'create-unknown' };

/** What binds an account. */
export interface Restraints {
  readonly holds: readonly Hold[];
  readonly unknownInARow: number;
  readonly evidence?: LostCreates | undefined;
}

/**
 * Creates of unknown outcome that are one piece of evidence: a create belongs to it if it left before `knownAt`, or was lost
 * before a request was answered.
 */
export interface LostCreates {
  readonly knownAt: Date;
  /** No request was answered since `knownAt`: everything may be out of reach. */
  readonly isDoubted: boolean;
}

export interface RestraintChange {
  readonly set?: Hold | undefined;
  readonly ended: readonly HoldKind[];
  readonly unknownInARow: number;
  readonly evidence?: LostCreates | undefined;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 5 * 60_000;
/** The second piece of evidence slows creates; each further piece doubles the wait. */
const SLOWED_FROM = 2;
const FIRST_SLOWED_MS = 60_000;
const LONGEST_SLOWED_MS = 60 * 60_000;

export interface HoldSettings {
  /** From this many pieces of evidence in a row on, creates go once an hour. */
  readonly pauseAfterUnknown: number;
}

/** Decides what a reply to a request of `askedAt` changes of what binds the account. */
export function decideRestraints(
  { holds, unknownInARow, evidence }: Restraints,
  news: AccountNews,
  askedAt: Date,
  now: Date,
  settings: HoldSettings,
): RestraintChange {
  const ended = holds.filter((hold) => isEndedBy(hold, news, askedAt)).map(({ kind }) => kind);
  const doubted = evidence?.isDoubted === true ? evidence : undefined;
  const settled = evidence && { ...evidence, isDoubted: false };
  switch (news.kind) {
    case 'served': {
      if (doubted === undefined || askedAt < doubted.knownAt) return { ended, unknownInARow, evidence };
      const isSlowed = unknownInARow >= slowedFrom(settings);
      const set = isSlowed ? slowed(holds, unknownInARow, doubted.knownAt, settings) : undefined;
      return { ended, unknownInARow, evidence: settled, set };
    }
    case 'no-answer':
      return { ended, unknownInARow: unknownInARow - (doubted === undefined ? 0 : 1), evidence: settled };
    case 'create-accepted':
    case 'create-rejected':
      return { ended, unknownInARow: 0, evidence: settled };
    case 'rate-limited':
    case 'key-refused':
    case 'forbidden':
      return { ended, unknownInARow, evidence, set: refused(holds, news, askedAt, now) };
    case 'create-unknown': {
      const isOfLast = doubted !== undefined || (evidence !== undefined && askedAt < evidence.knownAt);
      if (isOfLast) return { ended, unknownInARow, evidence };
      return { ended, unknownInARow: unknownInARow + 1, evidence: { knownAt: now, isDoubted: true } };
    }
  }
}

/** Returns how many pieces of evidence slow creates. */
export function slowedFrom({ pauseAfterUnknown }: HoldSettings): number {
  return Math.min(SLOWED_FROM, pauseAfterUnknown);
}

/** True if the next create must wait for a look-up, which shows whether creates alone are lost. */
export function isInDoubt({ unknownInARow, evidence }: Restraints, settings: HoldSettings): boolean {
  return evidence?.isDoubted === true && unknownInARow >= slowedFrom(settings);
}

function slowed(holds: readonly Hold[], unknownInARow: number, knownAt: Date, settings: HoldSettings): Hold {
  const known = holds.find(({ kind }) => kind === 'slowed');
  const reason = `creates had unknown outcomes ${unknownInARow} times in a row while the exchange answered look-ups`;
  const hold = { kind: 'slowed', since: known?.since ?? knownAt, until: null, reason, actor: null } as const;
  return slowedAgain(hold, unknownInARow, knownAt, settings);
}

/** The same hold after a create: the next create may go 1, 2, 4 … min later, at most an hour. */
export function slowedAgain(hold: Hold, unknownInARow: number, since: Date, settings: HoldSettings): Hold {
  const ms = FIRST_SLOWED_MS * 2 ** Math.min(Math.max(0, unknownInARow - SLOWED_FROM), 12);
  const isHourly = unknownInARow >= settings.pauseAfterUnknown;
  return { ...hold, until: after(since, isHourly ? LONGEST_SLOWED_MS : Math.min(ms, LONGEST_SLOWED_MS)) };
}

export const REFUSALS = {
  'rate-limited': 'the exchange asked to wait (429, or Retry-After)',
  'key-refused': 'the exchange refuses the key (401)',
  forbidden: 'the exchange does not let the account create (403)',
} as const;

/** A request that was in flight when a hold began does not end it. */
function isEndedBy({ kind, since, until }: Hold, news: AccountNews, askedAt: Date): boolean {
  if (news.kind === 'served' && kind === 'rate-limited') return until !== null && askedAt >= until;
  if (news.kind === 'served' && kind === 'key-refused') return askedAt > since;
  if (news.kind === 'create-accepted' && kind === 'forbidden') return askedAt > since;
  return news.kind === 'create-accepted' && kind === 'slowed';
}

type Refusal = Extract<AccountNews, { kind: keyof typeof REFUSALS }>;

/**
 * The hold that a refusal sets: for 1 s, or for `retryAfterMs` where that is longer. When it comes again after the wait,
 * the next wait is as long as the hold has lasted, up to 5 min, so that waits double. A request that was in flight
 * meanwhile must not double them.
 */
function refused(holds: readonly Hold[], news: Refusal, askedAt: Date, now: Date): Hold | undefined {
  const { kind } = news;
  const known = holds.find((hold) => hold.kind === kind);
  const since = known?.since ?? now;
  const until = known?.until ?? now;
  const isNew = known === undefined || askedAt >= until;
  const lastedMs = Math.min(Math.max(FIRST_WAIT_MS, now.getTime() - since.getTime()), LONGEST_WAIT_MS);
  const next = after(now, Math.max(isNew ? lastedMs : 0, news.kind === 'rate-limited' ? news.retryAfterMs : 0));
  if (!isNew && next <= until) return undefined;
  return { kind, since, until: next, reason: REFUSALS[kind], actor: null };
}

/** The longest time from now that a hold of the program's own may last; one that lasts longer was written under another clock. */
const LONGEST_HOLD_MS = 24 * 60 * 60_000;

/** A hold as a new owner takes it over: its key may be another one, and its clock too. */
export function takenOver(hold: Hold, now: Date): Hold {
  if (hold.until === null) return hold;
  const isTriedNow = hold.kind === 'key-refused' || hold.until.getTime() - now.getTime() > LONGEST_HOLD_MS;
  return isTriedNow ? { ...hold, until: now } : hold;
}

/** A hold for people and programs; times are UTC, ISO 8601. */
export interface HoldView extends Pick<Hold, 'kind' | 'reason' | 'actor'> {
  readonly since: string;
  readonly until: string | null;
}

export function viewOf({ kind, since, until, reason, actor }: Hold): HoldView {
  return { kind, since: since.toISOString(), until: until?.toISOString() ?? null, reason, actor };
}

export function describeHold({ kind, since, until, reason, actor }: HoldView, account: string): string {
  const by = actor === null ? '' : ` by ${actor}`;
  const end =
    until === null ? `until: order-sync resume${accountWords(account)} --reason TEXT` : `until ${until}, or longer`;
  return `the account is held (${kind}) since ${since}${by}: ${reason}; ${end}`;
}

/** Why an account is stopped: its database is in an older state, its settings are wrong, or it failed otherwise. */
export type StopKind = 'older-state' | 'wrong-settings' | 'has-failed';

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

export function describeStop({ account, since, reason }: Omit<AccountStop, 'kind'>): string {
  return `the account ${account} is stopped since ${since}${reason === null ? '' : `: ${reason}`}`;
}
