import { decideLookup, type LookupAnswer, type LookupDecision } from '../domain/follow.ts';
import { FOLLOWED_STATES, RECHECKED_STATES, type OrderState } from '../domain/order.ts';
import { dueOrders, FIRST_DUE, orderIds, readOrder, saveDecision, trackingOf, type DueKey } from '../store/orders.ts';
import { isNewStatus, keepOrderRecord } from '../store/records.ts';
import { apart } from './apart.ts';
import type { FlowDeps } from './deps.ts';
import { workThrough } from './in-hand.ts';

const PAGE = 200;

/** Status values that the interface document shows (§3). */
const DOCUMENTED_STATUSES: readonly string[] = ['REQUEST', 'NEW'];

/** Unknown outcomes first: until they are verified a person may have to be called. */
const LOOKED_UP_STATES: readonly OrderState[] = [...FOLLOWED_STATES, ...RECHECKED_STATES];

/** Which orders a follow pass looks up: those that are due, or every order being followed, due or not. */
export type FollowScope = 'due' | 'all';

/**
 * Looks orders up and records what changed. Each order is looked up once, an unknown outcome each time it comes due; the
 * pass ends when none is left, when the exchange cannot serve, or when `signal` aborts. With the scope `all`, orders that were looked up after `since` count
 * as done.
 */
export async function followPass(
  deps: FlowDeps,
  scope: FollowScope,
  signal: AbortSignal,
  since: Date = deps.clock.now(),
): Promise<void> {
  const orders = scope === 'due' ? dueToLookUp(deps, signal) : allFollowed(deps, signal, since);
  await workThrough(orders, deps.inHand, (id) => apart(deps, id, () => lookUp(deps, id, signal)));
}

/** After each page the states are gone through from the first, so that a new unknown outcome waits for one page only. */
async function* dueToLookUp(
  deps: FlowDeps,
  signal: AbortSignal,
  states: readonly OrderState[] = LOOKED_UP_STATES,
): AsyncGenerator<string> {
  const from = new Map<OrderState, DueKey>();
  const began = deps.clock.now();
  for (;;) {
    const next = await firstPage(deps, states, from, began);
    if (next === undefined) return;
    for (const due of next.page) {
      if (isOver(deps, signal)) return;
      yield due.externalOrderId;
      from.set(next.state, due);
    }
  }
}

/**
 * The next page of the first state that has one. Only unknown outcomes may have come due since the pass began: those
 * are fewer and fewer, while the other orders would come due again and the pass would not end.
 */
async function firstPage(
  { account, store, clock }: FlowDeps,
  states: readonly OrderState[],
  behind: ReadonlyMap<OrderState, DueKey>,
  began: Date,
): Promise<{ state: OrderState; page: readonly DueKey[] } | undefined> {
  for (const state of states) {
    const from = behind.get(state) ?? FIRST_DUE;
    const until = state === 'unknown' ? clock.now() : began;
    const page = await dueOrders(store.db, { account, state, until, from, limit: PAGE });
    // Ids that are no text are read otherwise than they are compared: they would come again and again.
    const last = page.at(-1);
    const isStuck = last?.externalOrderId === from.externalOrderId && last.nextActionAt === from.nextActionAt;
    if (last !== undefined && !isStuck) return { state, page };
  }
  return undefined;
}

async function* allFollowed(deps: FlowDeps, signal: AbortSignal, notLookedUpSince: Date): AsyncGenerator<string> {
  const { account, store } = deps;
  let fromId = '';
  for (;;) {
    const query = { account, states: FOLLOWED_STATES, fromId, limit: PAGE, notLookedUpSince };
    const page = await orderIds(store.db, query);
    for (const externalOrderId of page) {
      if (isOver(deps, signal)) return;
      yield externalOrderId;
      fromId = externalOrderId;
    }
    if (page.length < PAGE) break;
  }
  yield* dueToLookUp(deps, signal, RECHECKED_STATES);
}

function isOver({ exchange }: FlowDeps, signal: AbortSignal): boolean {
  return signal.aborted || exchange.gate.isHeld('lookup');
}

async function lookUp(deps: FlowDeps, externalOrderId: string, signal: AbortSignal): Promise<void> {
  const { exchange, lease, lastCall, tally } = deps;
  const task = async () => {
    await lease.hold();
    const askedAt = deps.clock.now();
    const { answer, reply, passage } = await exchange.lookUpOrder(externalOrderId, lastCall);
    if (reply === 'key-refused') tally.noteKey('refused');
    else if (reply === 'ok' || reply === 'refused') tally.noteKey('works');
    return { result: { answer, askedAt }, passage };
  };
  const answered = await exchange.gate.pass('lookup', task, signal);
  if (answered !== undefined) await recordAnswer(deps, externalOrderId, answered);
}

async function recordAnswer(
  deps: FlowDeps,
  externalOrderId: string,
  { answer, askedAt }: { answer: LookupAnswer; askedAt: Date },
): Promise<void> {
  const { account, store, clock, settings } = deps;
  const random = clock.random();
  const recorded = await store.writer.write(async (tx) => {
    const row = await readOrder(tx, account, externalOrderId);
    const before = row === undefined ? undefined : trackingOf(row);
    if (before === undefined || !LOOKED_UP_STATES.includes(before.state)) return undefined;
    const now = clock.now();
    // Another pass has asked and been answered since. A time ahead of this clock was written under another.
    const { lastLookupAt } = before;
    if (lastLookupAt !== null && lastLookupAt > askedAt && lastLookupAt <= now) return undefined;
    const decision = decideLookup(before, answer, now, random, settings);
    await saveDecision(tx, before.state, decision, now);
    const receivedAt = now.toISOString();
    if (answer.kind === 'found' && decision.keepsRecord) {
      await keepOrderRecord(tx, { account, externalOrderId, body: answer.body, receivedAt });
    }
    const unseen = [];
    for (const { field, newValue } of decision.events) {
      const isStatus = field.endsWith('.status') && newValue !== null;
      if (isStatus && (await isNewStatus(tx, { account, field, value: newValue, firstSeenAt: receivedAt }))) {
        unseen.push({ field, value: newValue });
      }
    }
    return { before, decision, unseen };
  });
  if (recorded === undefined) return;
  for (const { field, value } of recorded.unseen) {
    if (!DOCUMENTED_STATUSES.includes(value)) deps.log.warn({ field, value }, 'a status that was not seen before');
  }
  countAnswer(deps, recorded.before.state, answer, recorded.decision);
}

function countAnswer(
  { tally, log }: FlowDeps,
  before: OrderState,
  answer: LookupAnswer,
  decision: LookupDecision,
): void {
  const { counts } = tally;
  const { externalOrderId, state, stateReason: reason } = decision.tracking;
  if (answer.kind === 'unanswered') {
    counts.failed += 1;
    log.warn({ externalOrderId, why: answer.why }, 'look-up brought no answer, it will be tried again');
    return;
  }
  counts.lookedUp += 1;
  const changes = decision.events.filter(({ field }) => field === 'state' || field.endsWith('.status'));
  if (changes.length > 0) counts.changed += 1;
  for (const { field, oldValue, newValue } of changes) {
    log.info({ externalOrderId, field, oldValue, newValue }, 'order changed');
  }
  for (const { field, newValue, reason: why } of decision.events) {
    if (field !== 'finding' && field !== 'record.stale') continue;
    counts.findings += 1;
    log.warn({ externalOrderId, finding: field === 'finding' ? newValue : field, why }, 'a person should look');
  }
  if (state === 'final' && before !== 'final') counts.final += 1;
  if (state === 'held' && before !== 'held') {
    counts.held += 1;
    log.warn({ externalOrderId, reason }, 'order is held, a person must decide');
  }
  if (answer.kind === 'not-found' && (before === 'open' || before === 'final')) {
    counts.findings += 1;
    log.warn({ externalOrderId, state }, 'the exchange no longer finds this order');
  }
}
