import {
  decidingAdvice,
  isCovered,
  isKnownTo,
  isSeenAfter,
  mostRowsRead,
  placeReached,
  type FailOver,
} from '../accounts/rules/fail-over.ts';
import { assumeSent, type Assumption } from './rules/create.ts';
import { changeFailOver, countDoubtful, readFailOvers, sentTimes } from '../store/tables/fail-overs.ts';
import type { Transaction } from '../store/port.ts';
import { trackingOf, type OrderRow } from '../store/orders/order-columns.ts';
import { DUE_COLUMNS, dueKeyOf, findOrders, type DueKey, type OrderFilter } from '../store/find-orders.ts';
import { lockFreeOrder, orderIds, readOrder, saveDecision } from '../store/orders/orders.ts';
import { pagesAfter, partsOf } from '../store/pages.ts';
import type { FlowDeps } from './pass/deps.ts';
import type { SentIntents } from './pass/sent-intents.ts';
import { recordUnknownOutcome } from '../findings/record-findings.ts';

export interface Assuming extends Pick<FlowDeps, 'clock'> {
  readonly settings: Pick<FlowDeps['settings'], 'verifyAfter'>;
}

type MarkingDeps = Assuming & Pick<FlowDeps, 'account' | 'store' | 'log'>;
type FailOverDeps = MarkingDeps & { readonly intents: SentIntents };

const PAGE = 200;

/** The fail-over by order id, for orders in doubt whose rows other programs lock. Such orders must not be sent. */
type Unmarked = FlowDeps['creates']['unmarked'];

/** Makes each order unknown that a lost owner may have sent. `newestAt` is the time of the newest fail-over, in ms. */
export async function takeUpFailOvers(deps: FailOverDeps) {
  const { account, store } = deps;
  await reportSent(deps);
  const unmarked: Unmarked = new Map();
  const unknown = (fromId = '') => orderIds(store.db, { account, states: ['unknown'], fromId, limit: PAGE });
  const all = await readFailOvers(store.db, account);
  const newest = all.at(-1);
  for (const failOver of all.filter(({ markedAt }) => markedAt === undefined)) {
    await mark(deps, failOver, await lostIntents(deps), unmarked);
    if (isCovered(failOver)) continue;
    for await (const ids of ordersRead(deps, failOver)) await mark(deps, failOver, ids, unmarked);
    // The lost owner may have resent unknown orders already, so this process must not resend them.
    for await (const ids of pagesAfter(PAGE, unknown)) await mark(deps, failOver, ids, unmarked);
  }
  await endMarking(deps, unmarked);
  return { newestAt: newest === undefined ? undefined : Date.parse(newest.seenAt), unmarked };
}

export async function markLeft(deps: MarkingDeps, unmarked: Unmarked): Promise<void> {
  const [first] = unmarked.values();
  if (first === undefined) return;
  await mark(deps, first, [...unmarked.keys()], unmarked);
  await endMarking(deps, unmarked);
}

/** Makes each order unknown that this process sent and whose intent an unreported fail-over lost. */
export async function reportSent(deps: FailOverDeps): Promise<void> {
  const { account, store, clock, intents, log } = deps;
  const owned = intents.owned.get(account);
  if (owned === undefined) return;
  const isOurs = ({ reportedAt, generation, seenAt }: FailOver) =>
    reportedAt === undefined && generation <= owned.generation && isSeenAfter(seenAt, owned.at);
  for (const failOver of (await readFailOvers(store.db, account)).filter(isOurs)) {
    const locked: Unmarked = new Map();
    const sent = await lostIntents(deps);
    await mark(deps, failOver, sent, locked);
    // If the next owner is still marking, or other programs lock rows, a later call does the rest.
    if (failOver.markedAt === undefined || locked.size > 0) continue;
    const now = clock.now();
    await store.writer.write((tx) => changeFailOver(tx, account, failOver, { reportedAt: now.toISOString() }, now));
    log.warn(
      { failOver: failOver.id, orders: sent.length },
      'this worker reported the orders that it had sent and whose intents a fail-over lost',
    );
  }
}

async function lostIntents({ account, store, intents }: FailOverDeps): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const page of partsOf(intents.of(account), PAGE)) {
    const sent = new Map(page.map(({ externalOrderId, sentAt }) => [externalOrderId, sentAt]));
    const known = await sentTimes(store.db, account, [...sent.keys()]);
    ids.push(...[...known].filter(([id, sentAt]) => sent.get(id) !== sentAt).map(([id]) => id));
  }
  return ids;
}

async function* ordersRead(deps: FailOverDeps, failOver: FailOver): AsyncGenerator<readonly string[]> {
  const seenAt = new Date(failOver.seenAt);
  // Also reads orders that are due later: lost commits of a person or a probe may have made them due.
  for (const range of [...(await rangesRead(deps, failOver, { until: seenAt })), { laterThan: seenAt }]) {
    for await (const page of pendingPages(deps, range)) {
      const isSeen = (createdAt: string) => range.laterThan === undefined || createdAt <= failOver.seenAt;
      const known = page.filter(({ createdAt }) => isKnownTo(failOver, createdAt) && isSeen(createdAt));
      yield known.map(({ externalOrderId }) => externalOrderId);
    }
  }
}

/** Returns the ranges that the lost owner may have read. Finds all ends before marking, which changes due times. */
async function rangesRead(deps: FailOverDeps, failOver: FailOver, due: Range): Promise<Range[]> {
  const most = mostRowsRead(failOver);
  if (most === undefined) return [due];
  const place = placeReached(failOver);
  const fromPlace = place && { ...due, after: { nextActionAt: place[0], externalOrderId: place[1] } };
  // While the account may not create (403), a pass also sends the first order that had no 403.
  const ranges = [due, ...(fromPlace === undefined ? [] : [fromPlace]), { ...due, forbiddenIn: 0 }];
  const ends: Range[] = [];
  for (const range of ranges) {
    let [upTo, left]: [Range['upTo'], number] = [undefined, most];
    for await (const page of pendingPages(deps, range)) {
      upTo = page[Math.min(page.length, left) - 1] ?? upTo;
      left -= page.length;
      if (left <= 0) break;
    }
    ends.push({ ...range, upTo: left > 0 ? undefined : upTo });
  }
  return ends;
}

type Range = Pick<OrderFilter, 'until' | 'laterThan' | 'after' | 'upTo' | 'forbiddenIn'>;

function pendingPages({ account, store }: FailOverDeps, range: Range) {
  return pagesAfter(PAGE, async (last?: DueKey & { readonly createdAt: string }) => {
    const filter = { account, state: 'pending', ...range, after: last ?? range.after, by: 'due', limit: PAGE } as const;
    const rows = await findOrders(store.db, filter, [...DUE_COLUMNS, 'created_at']);
    return rows.map((row) => ({ ...dueKeyOf(row), createdAt: row.created_at }));
  });
}

export function doubtOf(account: string, failOver: FailOver): Assumption {
  const lost = 'it may have been sent, and a fail-over of the database may have lost the record of that';
  const reason = `${lost}; ${decidingAdvice(account, failOver)}`;
  return { source: 'create', reason, failOver: failOver.id };
}

/** Marks orders as in doubt. A locked order keeps the fail-over that put it in doubt first. */
async function mark(deps: MarkingDeps, failOver: FailOver, ids: readonly string[], locked: Unmarked): Promise<void> {
  const { account, store, clock } = deps;
  const markOne = async (tx: Transaction, id: string, first: FailOver) => {
    const row = await lockFreeOrder(tx, account, id);
    if (row !== undefined) locked.delete(id);
    else if ((await readOrder(tx, account, id)) !== undefined) locked.set(id, first);
    if (row?.state === 'unknown' && row.resends === 0) {
      const before = trackingOf(row);
      await saveDecision(tx, before, { tracking: { ...before, resends: 1 }, events: [] }, clock.now());
    } else if (row !== undefined && ['pending', 'rejected', 'invalid'].includes(row.state))
      await assumeRowSent(tx, row, doubtOf(account, first), deps);
  };
  const write = (id: string) => {
    const first = locked.get(id) ?? failOver;
    return store.writer.write((tx) => markOne(tx, id, first), [id]);
  };
  // Orders are sent only after this marking, so the writes run together and share commits.
  for (const part of partsOf(ids, PAGE)) await Promise.all(part.map(write));
}

async function endMarking({ account, store, clock, log }: MarkingDeps, unmarked: Unmarked): Promise<void> {
  if (unmarked.size > 0) return;
  for (const failOver of await readFailOvers(store.db, account)) {
    if (failOver.markedAt !== undefined) continue;
    const now = clock.now();
    await store.writer.write((tx) => changeFailOver(tx, account, failOver, { markedAt: now.toISOString() }, now));
    const orders = await countDoubtful(store.db, account, failOver.id);
    const about = { failOver: failOver.id };
    const other = 'the last commit of the account was made on another database server';
    if (orders === 0) log.warn(about, `${other}; no order is in doubt`);
    else {
      const advice = decidingAdvice(account, failOver);
      log.error({ ...about, orders, advice }, `${other}, so orders may have been sent without a trace`);
    }
  }
}

export async function assumeRowSent(tx: Transaction, row: OrderRow, how: Assumption, { clock, settings }: Assuming) {
  const now = clock.now();
  const before = trackingOf(row);
  const unknown = await saveDecision(tx, before, assumeSent(before, how, now, settings), now);
  await recordUnknownOutcome(tx, unknown, now);
}
