import { capitalized } from '../../documents/words.ts';
import type { StopKind, AccountStop } from '../../../accounts/rules/restraints.ts';
import { quote } from '../../../base/text.ts';
import { sumOf, withCommas } from '../../../base/words.ts';
import { type Problem, problem, firstOf, KEPT_BACK_REMEDY } from '../../commands/problem.ts';

/** `changed` is the settings file if that file has changed since the daemon read it; else undefined. */
export function settingsProblems(changed: string | undefined): readonly Problem[] {
  return changed === undefined ? [] : [problem('settings-changed', `${changed} changed after the daemon started`)];
}

export function problemText({ text, since }: Problem): string {
  return since === null ? text : `${text} (since ${since})`;
}

/** Reports rows of accounts that are not in the settings. Names are quoted, because a shop may write any text. */
export function otherAccountsProblems(others: readonly { readonly account: string; readonly orders: number }[]) {
  if (others.length === 0) return [];
  const rows = sumOf(others, ({ orders }) => orders);
  const names = firstOf(others.map(({ account }) => quote(account)));
  const which = others.length === 1 ? `the account ${names}` : `the accounts ${names}`;
  const text = `${withCommas(rows)} ${rows === 1 ? 'row is' : 'rows are'} neither sent nor followed: the settings do not name ${which}`;
  return [problem('other-accounts', text)];
}

export function keptBackProblems(of: {
  readonly account: string;
  readonly keptBack: readonly { readonly externalOrderId: string; readonly since: string; readonly cause: string }[];
}): readonly Problem[] {
  return of.keptBack.map(({ since, ...kept }) => {
    const about = { account: of.account, externalOrderId: kept.externalOrderId };
    return problem('kept-back', describeKeptBack(kept).why, { about, since });
  });
}

const REMEDIES: Readonly<Record<StopKind, string>> = {
  'older-state': 'order-sync db accept-restore',
  'wrong-settings': 'order-sync config check',
  'has-failed': 'order-sync doctor',
};

/** Returns the command to run for a stopped account. `words` is the option ` --account NAME`, or empty. */
export function stopRemedy(kind: string, words: string): string {
  const command = Object.hasOwn(REMEDIES, kind) ? REMEDIES[kind as StopKind] : REMEDIES['has-failed'];
  return kind === 'wrong-settings' ? command : `${command}${words}`;
}

export function describeStop({ account, since, reason }: Omit<AccountStop, 'kind'>): string {
  return `the account ${account} has been stopped since ${since}${reason === null ? '' : `: ${reason}`}`;
}

/** Describes an order whose row cannot be written, because the database or a merchant's trigger refuses the write. */
export function describeKeptBack({ externalOrderId, cause }: Readonly<Record<'externalOrderId' | 'cause', string>>) {
  const why = `the row of order ${externalOrderId} cannot be written, so nothing is done for it: ${cause}`;
  return { why, remedy: `${capitalized(KEPT_BACK_REMEDY)}.` };
}
