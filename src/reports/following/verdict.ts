import { latenessOf } from '../../domain/orders/pace/lookups.ts';
import type { Verdict } from '../formats/document.ts';
import { cut, inUnits, withCommas } from '../formats/words.ts';
import { lateOf, lateSentence, type FollowedAccount } from './statuses.ts';

/** The price keeps to the budget but for a rounding. */
const MUCH = 1.05;

/** What was seen decides, and whether there are more orders than there are look-ups for. */
export function verdictOf(accounts: readonly FollowedAccount[]): Verdict {
  const learned = accounts.map((account) => account.learned);
  const late = latenessOf(learned.flatMap(lateOf));
  const hasChanged = learned.some(({ statuses }) => statuses.some(({ stays }) => stays > 0));
  const warnings = [...overdueSentences(accounts), ...planSentences(accounts)];
  return {
    tone: warnings.length > 0 ? 'warning' : late === undefined ? 'neutral' : 'info',
    text:
      late !== undefined
        ? `Changes were seen ${inUnits(late.meanMs)} late in the mean`
        : hasChanged
          ? 'Nobody knows how late changes were seen'
          : 'No order has changed yet',
    reasons: [
      ...warnings,
      lateSentence(learned) ??
        (hasChanged
          ? 'The exchange dates none of the newest changes (modificationDate).'
          : 'How late changes are seen is known once the exchange has changed an order.'),
      ...fixedSentences(accounts),
    ],
  };
}

/** The orders of some accounts that wait for a look-up which was due, and since when the first does, for people; undefined where none does. */
export function overdueOf(accounts: readonly FollowedAccount[]): { orders: number; since: string } | undefined {
  const all = accounts.flatMap(({ overdue }) => overdue ?? []);
  if (all.length === 0) return undefined;
  const firstMs = all.reduce((first, { since }) => Math.min(first, since.getTime()), Number.POSITIVE_INFINITY);
  const orders = all.reduce((sum, one) => sum + one.orders, 0);
  return { orders, since: `${new Date(firstMs).toISOString().slice(0, 16)}Z` };
}

function overdueSentences(accounts: readonly FollowedAccount[]): readonly string[] {
  return [false, true].flatMap((isSilent) => {
    const some = accounts.filter(({ overdue }) => overdue?.isSilent === isSilent);
    const overdue = overdueOf(some);
    if (overdue === undefined) return [];
    const { orders, since } = overdue;
    const wait = orders === 1 ? 'One order waits' : `${withCommas(orders)} orders wait`;
    const why = isSilent
      ? 'none is made, as no pass runs or requests are held back'
      : 'more is due than the rate allows';
    return [
      `${wait} for a look-up that was due, the first since ${since}: ${why}${accounts.length > 1 ? `: ${namesOf(some)}` : ''}.`,
    ];
  });
}

function planSentences(accounts: readonly FollowedAccount[]): readonly string[] {
  const over = accounts.filter(({ pace, budget, learned: { demand } }) => pace === 'learned' && demand > budget * MUCH);
  return over.length === 0
    ? []
    : [
        `More look-ups are expected than follow.share of exchange.rate is for, so orders may wait for their turn: ${namesOf(over)}.`,
      ];
}

/** Of what is not learned nothing is expected. */
function fixedSentences(accounts: readonly FollowedAccount[]): readonly string[] {
  const fixed = Map.groupBy(
    accounts.filter(({ pace }) => pace !== 'learned'),
    ({ pace }) => pace,
  );
  if (fixed.size === 0) return [];
  const paces = [...fixed].map(([pace, some]) => `${pace} in ${namesOf(some)}`).join('; ');
  return [`Look-ups do not go by what was learned, so none are expected (follow.pace): ${paces}.`];
}

function namesOf(accounts: readonly FollowedAccount[]): string {
  return cut(accounts.map(({ account }) => account).join(', '), 80);
}
