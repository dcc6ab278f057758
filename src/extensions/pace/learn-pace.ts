import { PaceLearner } from './pace.ts';
import { learnStuckAfter, staysOf, type Stay } from './status.ts';
import { beforeNewestChanges, changedOrders, changeTime, ORDERS_A_READ, statusEvents } from './tables/status-events.ts';
import { partsOf } from '../../store/pages.ts';
import type { PaceDeps } from '../../orders/pass/pace.ts';

export interface Learned {
  readonly changes: number;
  readonly lastId: number;
  readonly learner: PaceLearner;
  readonly stuckAfter: number;
}

const LEARNED_FROM = 20_000;
const PAGE = 1_000;

const GROWTH = 1 / 50;
const LEAST_GROWTH = 20;

/** Reads the stays that the newest changes ended. `from` is the time of the last earlier change, or null. */
export async function readHistory({ account, store, clock }: PaceDeps, signal: AbortSignal) {
  const stays: Stay[] = [];
  const known = new Set<string>();
  const startId = await beforeNewestChanges(store.db, account, LEARNED_FROM);
  let [lastId, changes] = [startId, 0];
  while (!signal.aborted) {
    const page = await changedOrders(store.db, { account, afterId: lastId, limit: PAGE });
    if (page.lastId === undefined) break;
    const unread = page.externalOrderIds.filter((id) => !known.has(id));
    for (const id of unread) known.add(id);
    for (const part of partsOf(unread, ORDERS_A_READ)) {
      const orders = await statusEvents(store.db, account, part);
      stays.push(...orders.flatMap((events) => staysOf(events, startId + 1)));
      await clock.turn();
    }
    lastId = page.lastId;
    changes += page.changes;
  }
  return { stays, from: await changeTime(store.db, account, startId), changes, lastId };
}

export async function learnHistory(deps: PaceDeps, known: Learned | undefined, signal: AbortSignal): Promise<Learned> {
  const { account, store } = deps;
  if (known !== undefined) {
    const limit = Math.max(LEAST_GROWTH, Math.ceil(known.changes * GROWTH));
    const { changes } = await changedOrders(store.db, { account, afterId: known.lastId, limit });
    if (changes < limit) return known;
  }
  const { stays, from, changes, lastId } = await readHistory(deps, signal);
  const changed = stays.filter(({ state, isByExchange }) => state === 'open' && isByExchange);
  const stuckAfter = learnStuckAfter(changed.map(({ to }) => to));
  return { learner: new PaceLearner(stays, from), stuckAfter, changes, lastId };
}
