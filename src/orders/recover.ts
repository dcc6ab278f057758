import { becomesUnknown, decideCreated, type CreateOutcome, KEY_REFUSED, NEVER_LEFT } from './rules/create.ts';
import { type OrderState, FOLLOWED_STATES } from './rules/states.ts';
import { lockFreeOrder, orderIds, saveDecision, sendingOrders, readOrder } from '../store/orders/orders.ts';
import { trackingOf } from '../store/orders/order-columns.ts';
import type { Transaction } from '../store/port.ts';
import { isolateFailure, isRefusal } from './pass/isolate.ts';
import type { FlowDeps } from './pass/deps.ts';
import { recordUnknownOutcome } from '../findings/record-findings.ts';
import { recordOrKeep } from './record-outcome.ts';
import type { WrongTimes } from './correct-times.ts';
import { findOrders } from '../store/find-orders.ts';
import { correctDueTimes, wronglyDueOrders } from '../store/orders/wrong-due-times.ts';
import { lookUp } from './follow.ts';

const PAGE = 200;

type RecoverDeps = Omit<FlowDeps, 'exchange' | 'restraints' | 'creates' | 'gracePeriodOver'>;
type UnrecordedDeps = Omit<FlowDeps, 'exchange'>;

/**
 * Puts right what the last owner left, before anything is sent. An order that is found `sending` may have been taken, so
 * it becomes unknown. A due time that is further away than any schedule plans was written under a wrong clock or by
 * another program, so the order becomes due now.
 */
export async function recover(
  deps: RecoverDeps & { readonly wrongTimes: WrongTimes },
  clockWentBack: boolean,
): Promise<void> {
  const { account, store, log } = deps;
  let found = 0;
  for (let fromId = ''; ;) {
    const ids = await orderIds(store.db, { account, states: ['sending'], fromId, limit: PAGE });
    // Together, so that they share a commit.
    await Promise.all(ids.map((id) => isolateFailure(deps, id, () => sendingBecomesUnknown(deps, id))));
    found += ids.length;
    if (ids.length < PAGE) break;
    fromId = ids.at(-1) ?? fromId;
  }
  if (found > 0) log.warn({ orders: found }, 'found orders whose create was under way; they will be looked up');
  await deps.wrongTimes.correct(clockWentBack);
  await makeDue(deps, NEVER_LEFT);
}

/**
 * Puts right, while the program runs, the orders that are `sending` although none of its creates is under way: their
 * outcomes could not be written. An order whose outcome this process still knows gets it; an order that it never sent is
 * pending again; any other order is unknown.
 */
export async function recoverUnrecorded(deps: UnrecordedDeps): Promise<void> {
  const { account, store, clock, log } = deps;
  const { inFlight, lease } = deps.creates;
  const limit = inFlight.size + inFlight.unwrittenSize + PAGE;
  const sending = await sendingOrders(store.db, { account, until: clock.now(), limit });
  for (const id of sending.filter((one) => !inFlight.has(one))) {
    const unwritten = inFlight.unwritten(id);
    if (unwritten !== undefined && unwritten.tryAt > clock.now()) continue;
    await isolateFailure(deps, id, async () => {
      if (unwritten !== undefined) {
        await store.writer.write((tx) => lease.assertOwned(tx));
        return await recordOrKeep(deps, unwritten.claimed, unwritten.outcome, () => {});
      }
      const state = await store.writer.write((tx) => recoverOne(tx, deps, id));
      inFlight.forget(id);
      if (state !== undefined)
        log.warn({ externalOrderId: id, state }, 'an order whose create was not recorded is put right');
    });
  }
}

async function recoverOne(
  tx: Transaction,
  { account, clock, settings, creates: { lease, inFlight } }: UnrecordedDeps,
  externalOrderId: string,
): Promise<OrderState | undefined> {
  // Another owner may be sending it.
  await lease.assertOwned(tx);
  const row = await lockFreeOrder(tx, account, externalOrderId);
  if (row?.state !== 'sending' || inFlight.has(externalOrderId)) return undefined;
  const now = clock.now();
  const why = 'the outcome of the create could not be recorded';
  const outcome: CreateOutcome = inFlight.isUnsent(externalOrderId)
    ? { kind: 'not-sent', why }
    : { kind: 'unknown', why };
  let tracking = trackingOf(row);
  for (const decision of decideCreated(tracking, outcome, now, clock.random(), settings)) {
    tracking = await saveDecision(tx, tracking, decision, now);
  }
  await recordUnknownOutcome(tx, { account }, tracking, now);
  return tracking.state;
}

async function sendingBecomesUnknown(
  { account, store, clock, settings }: RecoverDeps,
  externalOrderId: string,
): Promise<void> {
  await store.writer.write(async (tx) => {
    const row = await lockFreeOrder(tx, account, externalOrderId);
    if (row === undefined) return;
    const now = clock.now();
    const why = 'the process ended while the create was under way';
    const before = trackingOf(row);
    // The state may have changed since the page was read.
    if (before.state !== 'sending') return;
    const unknown = becomesUnknown(before, why, now, settings);
    await saveDecision(tx, before, unknown, now);
    await recordUnknownOutcome(tx, { account }, unknown.tracking, now);
  });
}

type ProbeDeps = Parameters<typeof lookUp>[0];

/** Pending orders that take turns: one whose look-ups alone fail must not keep the others unsent. */
const CANDIDATES = 10;

/**
 * Looks one order up if that must be answered before the next create, and there is one to send. A look-up creates
 * nothing, whatever becomes of it; it is recorded as any other.
 */
export async function probeForCreates(deps: ProbeDeps, signal: AbortSignal): Promise<void> {
  const { exchange } = deps;
  const { isOpen, needsProbe, failedProbes } = exchange.breaker('create');
  if (isOpen || !needsProbe || exchange.breaker('lookup').isOpen || signal.aborted) return;
  const externalOrderId = await orderToProbe(deps, failedProbes);
  if (externalOrderId === undefined) return;
  await isolateFailure(deps, externalOrderId, () => lookUp(deps, externalOrderId, signal, { isProbe: true }));
  const { needsProbe: isStillNeeded, openForMs } = exchange.breaker('create');
  if (isStillNeeded)
    deps.log.debug({ externalOrderId, openForMs }, 'a probe was not answered, so no create is sent yet');
  else deps.log.debug({ externalOrderId }, 'a probe was answered: creates are sent again, one at first');
  if (!isStillNeeded && failedProbes > 0) await makeDue(deps, NEVER_LEFT);
}

/** If another key may be in force than the refused one, orders that wait for that alone are due. The restraint lets one probe go. */
export async function makeRefusedDue(deps: FlowDeps): Promise<void> {
  if (!deps.restraints.isKeyOther) return;
  await makeDue(deps, KEY_REFUSED);
  deps.restraints.isKeyOther = false;
}

/** Makes pending orders due now that wait only for the end of this reason, such as an outage. */
async function makeDue({ account, store, clock }: Pick<FlowDeps, 'account' | 'store' | 'clock'>, reason: string) {
  try {
    for (let made = PAGE; made >= PAGE;) {
      const now = clock.now();
      const query = { account, state: 'pending', reason, latest: now, to: now, limit: PAGE } as const;
      if ((await wronglyDueOrders(store.db, query)).length === 0) return;
      made = await store.writer.write((tx) => correctDueTimes(tx, query));
    }
  } catch (error) {
    // Orders that a merchant's trigger refuses come due at their own times.
    if (!isRefusal(error)) throw error;
  }
}

/** The order that last answered, if it is still followed, or else one of the next orders to send. */
async function orderToProbe({ account, store, clock, exchange }: ProbeDeps, turn: number): Promise<string | undefined> {
  const filter = { account, state: 'pending', until: clock.now(), by: 'due', limit: CANDIDATES } as const;
  const due = await findOrders(store.db, filter, ['external_order_id']);
  if (due.length === 0) return undefined;
  const { lastAnswered } = exchange;
  const row = lastAnswered === undefined ? undefined : await readOrder(store.db, account, lastAnswered);
  // A look-up before its time would use up one of the few of an order that has ended.
  if (row !== undefined && isFollowed(trackingOf(row).state)) return lastAnswered;
  return due[turn % due.length]?.external_order_id;
}

function isFollowed(state: OrderState): boolean {
  return (FOLLOWED_STATES as readonly OrderState[]).includes(state);
}
