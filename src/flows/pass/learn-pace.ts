import { PaceLearner } from '../../domain/orders/pace/pace.ts';
import { staysOf, type Stay } from '../../domain/orders/pace/history.ts';
import { isPaced, PACED_STATES } from '../../domain/orders/pace/status.ts';
import { FOLLOWED_STATES } from '../../domain/orders/states.ts';
import {
  beforeNewestChanges,
  changedOrders,
  changeTime,
  ORDERS_A_READ,
  statusEvents,
} from '../../store/status-events.ts';
import { orderAges, type AgedOrder } from '../../store/orders-with-records.ts';
import { FIRST_DUE } from '../../store/orders.ts';
import type { FlowDeps } from './deps.ts';

type LearnDeps = Pick<FlowDeps, 'account' | 'store' | 'clock'>;

/** How long orders stay in a status is learned from so many changes of states and statuses, the newest. */
const LEARNED_FROM = 20_000;
/** Changes of one page. */
const PAGE = 1_000;
/** Orders of one page. */
const ORDERS_PAGE = 200;

/** How long orders stayed in their statuses. */
export interface History {
  readonly stays: readonly Stay[];
  /** When the part of it begins that was read; null where that is all. */
  readonly from: Date | null;
}

/**
 * Reads how long orders stayed in their statuses, from the newest changes alone: the history may be long. Of an order that
 * changed in this part of the history, what came before it is read too, so that it is known when it entered its status.
 */
export async function readHistory({ account, store, clock }: LearnDeps, signal: AbortSignal): Promise<History> {
  const stays: Stay[] = [];
  const known = new Set<string>();
  const startId = await beforeNewestChanges(store.db, account, LEARNED_FROM);
  for (let afterId: number | undefined = startId; afterId !== undefined && !signal.aborted;) {
    const page: Awaited<ReturnType<typeof changedOrders>> = await changedOrders(store.db, {
      account,
      afterId,
      limit: PAGE,
    });
    const unread = page.externalOrderIds.filter((id) => !known.has(id));
    for (const id of unread) known.add(id);
    for (let first = 0; first < unread.length; first += ORDERS_A_READ) {
      const orders = await statusEvents(store.db, account, unread.slice(first, first + ORDERS_A_READ));
      stays.push(...orders.flatMap((events) => staysOf(events, startId + 1)));
      await clock.turn();
    }
    afterId = page.lastId;
  }
  return { stays, from: await changeTime(store.db, account, startId) };
}

/**
 * Reads the orders that are followed, whose number and ages decide the price of a look-up, beside the stays that have ended.
 * `onPage` is given the followed orders of every state, also of those that are looked up at times of their own.
 */
export async function learnPace(
  { account, store, clock }: LearnDeps,
  history: History,
  signal: AbortSignal,
  onPage?: (page: readonly AgedOrder[], now: Date) => Promise<void>,
): Promise<PaceLearner> {
  const learner = new PaceLearner(history.from);
  learner.addStays(history.stays);
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

/** Has an account that has learned nothing yet go by its history; the price of a look-up is solved by the first sweep. */
export async function learnFirst(deps: LearnDeps & Pick<FlowDeps, 'settings'>, signal: AbortSignal): Promise<void> {
  const { pace } = deps.settings;
  if (!pace.isNew) return;
  const history = await readHistory(deps, signal);
  const learner = new PaceLearner(history.from);
  learner.addStays(history.stays);
  if (!signal.aborted) pace.take(learner);
}
