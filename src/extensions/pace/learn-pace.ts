import { learnStuckAfter } from '../../findings/rules/age.ts';
import { PaceLearner } from './pace.ts';
import { staysOf, type Stay, isPaced, PACED_STATES } from './status.ts';
import { FOLLOWED_STATES } from '../../orders/rules/states.ts';
import { beforeNewestChanges, changedOrders, changeTime, ORDERS_A_READ, statusEvents } from './tables/status-events.ts';
import { isAnythingAwaited } from '../../store/orders/due-times.ts';
import { orderAges, type AgedOrder } from '../../store/orders/orders-with-records.ts';
import { FIRST_DUE } from '../../store/find-orders.ts';
import { partsOf } from '../../store/pages.ts';
import type { FlowDeps } from '../../orders/pass/deps.ts';
import type { Learned } from './follow-pace.ts';

type LearnDeps = Pick<FlowDeps, 'account' | 'store' | 'clock'>;
type PacedDeps = LearnDeps & Pick<FlowDeps, 'settings'>;

/** How long orders stay in a status is learned from so many changes of states and statuses, the newest. */
const LEARNED_FROM = 20_000;
const PAGE = 1_000;
const ORDERS_PAGE = 200;

const GROWTH = 1 / 50;
const LEAST_GROWTH = 20;

/**
 * Reads stays from the newest changes; of an order among them all earlier changes too, so that its entry is known.
 * `from` is when this part of the history begins; null if it is all.
 */
export async function readHistory({ account, store, clock }: LearnDeps, signal: AbortSignal) {
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

/** Returns what was learned before if hardly more has happened since. */
export async function learnHistory(deps: PacedDeps, signal: AbortSignal): Promise<Learned> {
  const { account, store, settings } = deps;
  const known = settings.pace.history;
  if (known !== undefined) {
    const limit = Math.max(LEAST_GROWTH, Math.ceil(known.changes * GROWTH));
    const { changes } = await changedOrders(store.db, { account, afterId: known.lastId, limit });
    if (changes < limit) return known;
  }
  const { stays, from, changes, lastId } = await readHistory(deps, signal);
  const changed = stays.filter(({ state, isByExchange }) => state === 'open' && isByExchange);
  const learned = {
    learner: new PaceLearner(stays, from).again(),
    stuckAfter: learnStuckAfter(changed.map(({ to }) => to)),
    changes,
    lastId,
  };
  if (!signal.aborted) settings.pace.history = learned;
  return learned;
}

/**
 * Adds the followed orders, whose number and ages decide the price of a look-up. `onPage` gets those of every state,
 * also of states without a pace.
 */
export async function addFollowed(
  { account, store, clock }: LearnDeps,
  learner: PaceLearner,
  signal: AbortSignal,
  onPage?: (page: readonly AgedOrder[], now: Date) => Promise<void>,
): Promise<PaceLearner> {
  for (const state of onPage === undefined ? PACED_STATES : FOLLOWED_STATES) {
    for (let [from, isLast] = [FIRST_DUE, false]; !isLast && !signal.aborted;) {
      const page = await orderAges(store.db, { account, state, from, limit: ORDERS_PAGE });
      const now = clock.now();
      if (isPaced(state)) for (const order of page) learner.addOrder(order, now);
      await onPage?.(page, now);
      from = page.at(-1) ?? from;
      isLast = page.length < ORDERS_PAGE;
      await clock.turn();
    }
  }
  return learner;
}

export async function learnPace(deps: PacedDeps, signal: AbortSignal): Promise<void> {
  const { learner } = await learnHistory(deps, signal);
  const all = await addFollowed(deps, learner.again(), signal);
  if (!signal.aborted) deps.settings.pace.take(all, deps.clock.monotonic());
}

/** Without an order that waits the history would be read in vain. */
export async function learnFirst(deps: PacedDeps, signal: AbortSignal): Promise<void> {
  const { account, store, settings } = deps;
  if (settings.pace.isNew && (await isAnythingAwaited(store.db, account))) await learnPace(deps, signal);
}
