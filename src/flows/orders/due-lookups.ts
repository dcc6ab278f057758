import { isNeverLookedUp, LOOKUPS_A_ROUND, nextRound, type LookupSource } from '../../domain/orders/schedule.ts';
import { dueLookups } from '../../store/due-times.ts';
import type { DueKey } from '../../store/find-orders.ts';
import type { FlowDeps } from '../pass/deps.ts';

/** Gives the time until which the orders of a source count as due, each time anew. */
type DueUntil = (source: LookupSource) => Date;

/**
 * Gives the orders that are due, round after round, until none is. Each round reads anew what is due, so that what comes
 * due meanwhile waits for one round. No order is given twice unless it comes due again. `isOver` ends it before that. `onRound` is
 * given the sources of which some are due.
 */
export async function* ordersToLookUp(
  { account, store }: Pick<FlowDeps, 'account' | 'store'>,
  until: DueUntil,
  isOver: () => boolean,
  onRound: (sources: ReadonlySet<LookupSource>) => void = () => {},
): AsyncGenerator<string> {
  const places = new Map<LookupSource, DueKey>();
  // Orders of the last rounds that are still among the newest: they are in flight, or could not be written.
  let taken = new Set<string>();
  while (!isOver()) {
    const placeOf = (source: LookupSource) => ({
      until: until(source),
      after: places.get(source === 'newest' ? 'new' : source),
    });
    const read = await dueLookups(store.db, { account, limit: LOOKUPS_A_ROUND, placeOf });
    const newest = read.filter(({ source }) => source === 'newest').map(({ externalOrderId }) => externalOrderId);
    taken = taken.intersection(new Set(newest));
    const due = read.filter(({ source, externalOrderId }) => !isNeverLookedUp(source) || !taken.has(externalOrderId));
    if (due.length === 0) return;
    onRound(new Set(due.map(({ source }) => source)));
    // An accepted order that was never looked up is given as a new one.
    const round = nextRound(due.filter(({ isNew }) => isNew === 0));
    for (const { externalOrderId } of round) {
      if (isOver()) return;
      yield externalOrderId;
    }
    taken = taken.union(new Set(round.map(({ externalOrderId }) => externalOrderId)));
    for (const [source, page] of Map.groupBy(read, (one) => one.source)) {
      const left = page.findIndex((one) => one.isNew === 0 && !taken.has(one.externalOrderId));
      const last = left === -1 ? page.at(-1) : page[left - 1];
      if (last !== undefined) places.set(source, placeAfter(last, places.get(source)));
    }
  }
}

/** SQLite reads ids that are no text otherwise than it compares them: a page of them would come again and again. */
function placeAfter(last: DueKey, before: DueKey | undefined): DueKey {
  const isStuck = last.nextActionAt === before?.nextActionAt && last.externalOrderId === before.externalOrderId;
  return isStuck ? { nextActionAt: `${last.nextActionAt}~`, externalOrderId: '' } : last;
}
