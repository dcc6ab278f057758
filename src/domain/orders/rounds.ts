import type { OrderState } from './states.ts';

/**
 * A state whose orders are looked up. `new`: the accepted orders that were never looked up; `newest`: the same orders, read
 * from the other end.
 */
export type LookupSource = 'new' | 'newest' | Exclude<OrderState, 'pending' | 'sending' | 'invalid'>;

/**
 * The groups of orders that take turns, and how many of each go in a turn of its own. None waits for another one to be
 * done: of 500,000 accepted orders that are due, an open one waits for a round.
 */
const GROUPS: readonly { readonly weight: number; readonly sources: readonly LookupSource[] }[] = [
  { weight: 8, sources: ['unknown'] },
  { weight: 4, sources: ['new', 'newest'] },
  { weight: 4, sources: ['open', 'disputed'] },
  { weight: 2, sources: ['accepted'] },
  { weight: 1, sources: ['held', 'final', 'rejected', 'cancelled', 'abandoned'] },
];

/** Tells whether the orders of a source are accepted and were never looked up. */
export function isNeverLookedUp(source: LookupSource): boolean {
  return source === 'new' || source === 'newest';
}

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

/**
 * Chooses the look-ups of a round, in their order: the oldest of each group, by its weight, until the round is full. Orders
 * that were never looked up go oldest and newest in turn: a backlog that is due for weeks does not keep a new order waiting.
 */
export function nextRound<Due extends DueLookup>(due: readonly Due[]): readonly Due[] {
  const groups = GROUPS.map(({ weight, sources }) => ({
    weight,
    waiting: fromBothEnds(due.filter(({ source }) => sources.includes(source))),
  }));
  const round: Due[] = [];
  while (round.length < LOOKUPS_A_ROUND && groups.some(({ waiting }) => waiting.length > 0)) {
    round.push(...groups.flatMap(({ weight, waiting }) => waiting.splice(0, weight)));
  }
  return round.slice(0, LOOKUPS_A_ROUND);
}

/** Takes the oldest and the newest in turn; each order once, though two sources may have it. */
function fromBothEnds<Due extends DueLookup>(due: readonly Due[]): Due[] {
  const oldest = due.filter(({ source }) => source !== 'newest').toSorted(byAge);
  const newest = due.filter(({ source }) => source === 'newest').toSorted((one, other) => byAge(other, one));
  const turns = Array.from({ length: due.length }, (_, index) => [oldest[index], newest[index]]).flat();
  return [...new Map(turns.flatMap((one) => (one === undefined ? [] : [[one.externalOrderId, one]]))).values()];
}

function byAge(one: DueLookup, other: DueLookup): number {
  return compare(one.nextActionAt, other.nextActionAt) || compare(one.externalOrderId, other.externalOrderId);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
