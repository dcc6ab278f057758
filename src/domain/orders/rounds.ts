import type { OrderState } from './states.ts';

/** The orders of a state that is looked up; `new` are those of the accepted ones that were never looked up. */
export type LookupSource = 'new' | Exclude<OrderState, 'pending' | 'sending' | 'invalid'>;

/**
 * The groups of orders that take turns, and how many of each go in a turn of its own. None waits for another one to be
 * done: of 500,000 accepted orders that are due, an open one waits for a round.
 */
const GROUPS: readonly { readonly weight: number; readonly sources: readonly LookupSource[] }[] = [
  { weight: 8, sources: ['unknown'] },
  { weight: 4, sources: ['new'] },
  { weight: 4, sources: ['open', 'disputed'] },
  { weight: 2, sources: ['accepted'] },
  { weight: 1, sources: ['held', 'final', 'rejected', 'cancelled', 'abandoned'] },
];

/** Every source once. */
export const LOOKUP_SOURCES: readonly LookupSource[] = GROUPS.flatMap(({ sources }) => sources);

/** Look-ups of one round. What comes due meanwhile waits for them. */
export const LOOKUPS_A_ROUND = 32;

/** An order that is due. */
export interface DueLookup {
  readonly source: LookupSource;
  readonly externalOrderId: string;
  readonly nextActionAt: string;
}

/** Chooses the look-ups of a round, in their order: of each group the oldest, by its weight, until there are enough. */
export function nextRound<Due extends DueLookup>(due: readonly Due[]): readonly Due[] {
  const groups = GROUPS.map(({ weight, sources }) => ({
    weight,
    waiting: due.filter(({ source }) => sources.includes(source)).toSorted(byAge),
  }));
  const round: Due[] = [];
  while (round.length < LOOKUPS_A_ROUND && groups.some(({ waiting }) => waiting.length > 0)) {
    round.push(...groups.flatMap(({ weight, waiting }) => waiting.splice(0, weight)));
  }
  return round.slice(0, LOOKUPS_A_ROUND);
}

function byAge(one: DueLookup, other: DueLookup): number {
  return compare(one.nextActionAt, other.nextActionAt) || compare(one.externalOrderId, other.externalOrderId);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
