import { decideCreated, type CreateOutcome, KEY_REFUSED, NEVER_LEFT } from './rules/create.ts';
import { FOLLOWED_STATES } from './rules/states.ts';
import { lockFreeOrder, orderIds, saveDecision, sendingOrders, readOrder } from '../store/orders/orders.ts';
import { trackingOf } from '../store/orders/order-columns.ts';
import { pagesAfter } from '../store/pages.ts';
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

/** Makes orders unknown that the last owner left `sending`, and corrects due times. Runs before any create. */
export async function recover(deps: RecoverDeps & { readonly wrongTimes: WrongTimes }, clockWentBack: boolean) {
  const { account, store, log } = deps;
  let found = 0;
  const outcome = { kind: 'unknown', why: 'the process ended while the create was under way' } as const;
  const settle = async (id: string) =>
    void (await store.writer.write((tx) => settleSending(tx, deps, id, () => outcome)));
  const sending = (fromId = '') => orderIds(store.db, { account, states: ['sending'], fromId, limit: PAGE });
  for await (const ids of pagesAfter(PAGE, sending)) {
    // The writes run together, so that they share a commit.
    await Promise.all(ids.map((id) => isolateFailure(deps, id, () => settle(id))));
    found += ids.length;
  }
  if (found > 0) log.warn({ orders: found }, 'found orders whose create was under way; they will be looked up');
  await deps.wrongTimes.correct(clockWentBack);
  await makeDue(deps, NEVER_LEFT);
}

/** Records an outcome for each order that is `sending` without a create in flight. */
export async function recoverUnrecorded(deps: FlowDeps): Promise<void> {
  const { account, store, clock, log } = deps;
  const { inFlight, lease } = deps.creates;
  const limit = inFlight.size + inFlight.unwritten.size + PAGE;
  const sending = await sendingOrders(store.db, { account, until: clock.now(), limit });
  for (const id of sending.filter((one) => !inFlight.has(one))) {
    const unwritten = inFlight.unwritten.get(id);
    if (unwritten !== undefined && unwritten.tryAt > clock.now()) continue;
    await isolateFailure(deps, id, async () => {
      if (unwritten !== undefined) {
        await store.writer.write((tx) => lease.assertOwned(tx));
        return await recordOrKeep(deps, unwritten.claimed, unwritten.outcome);
      }
      const why = 'the outcome of the create could not be recorded';
      const outcomeOf = () =>
        inFlight.has(id) ? undefined : ({ kind: inFlight.isUnsent(id) ? 'not-sent' : 'unknown', why } as const);
      const state = await store.writer.write(async (tx) => {
        // Another owner may be sending the order.
        await lease.assertOwned(tx);
        return await settleSending(tx, deps, id, outcomeOf);
      });
      inFlight.forget(id);
      if (state !== undefined)
        log.warn(
          { externalOrderId: id, state },
          'the outcome of a create was not recorded, so the order is no longer sending and continues from this state',
        );
    });
  }
}

/** Records the outcome from `read` for an order that is still `sending`. Returns undefined if nothing was recorded. */
async function settleSending(tx: Transaction, deps: RecoverDeps, id: string, read: () => CreateOutcome | undefined) {
  const { account, clock, settings } = deps;
  const row = await lockFreeOrder(tx, account, id);
  const outcome = row?.state === 'sending' ? read() : undefined;
  if (row === undefined || outcome === undefined) return undefined;
  const now = clock.now();
  let tracking = trackingOf(row);
  for (const decision of decideCreated(tracking, outcome, now, clock.random(), settings)) {
    tracking = await saveDecision(tx, tracking, decision, now);
  }
  await recordUnknownOutcome(tx, tracking, now);
  return tracking.state;
}

/** How many pending orders take turns as probes, because the look-ups of a single order may always fail. */
const CANDIDATES = 10;

/** Looks one order up if an answer is required before the next create. Unlike a create, a look-up can do no harm. */
export async function probeForCreates(deps: FlowDeps, signal: AbortSignal): Promise<void> {
  const { exchange } = deps;
  const { isOpen, needsProbe, failedProbes } = exchange.breaker('create');
  if (isOpen || !needsProbe || exchange.breaker('lookup').isOpen || signal.aborted) return;
  const externalOrderId = await orderToProbe(deps, failedProbes);
  if (externalOrderId === undefined) return;
  await isolateFailure(deps, externalOrderId, () => lookUp(deps, externalOrderId, signal, true));
  const { needsProbe: isStillNeeded, openForMs } = exchange.breaker('create');
  if (isStillNeeded)
    return deps.log.debug({ externalOrderId, openForMs }, 'a probe was not answered, so no create is sent yet');
  deps.log.debug({ externalOrderId }, 'a probe was answered: creates are sent again, one at first');
  if (failedProbes > 0) await makeDue(deps, NEVER_LEFT);
}

/** If the key may be new, makes orders due that got a 401. The restraint `key-refused` lets them go one at a time. */
export async function makeRefusedDue(deps: FlowDeps): Promise<void> {
  if (!deps.restraints.isKeyOther) return;
  await makeDue(deps, KEY_REFUSED);
  deps.restraints.isKeyOther = false;
}

/** Makes pending orders due whose `state_reason` begins with `reason`, because that reason has ended. */
async function makeDue({ account, store, clock }: Pick<FlowDeps, 'account' | 'store' | 'clock'>, reason: string) {
  try {
    for (let made = PAGE; made >= PAGE;) {
      const now = clock.now();
      const query = { account, state: 'pending', reason, latest: now, to: now, limit: PAGE } as const;
      if ((await wronglyDueOrders(store.db, query)).length === 0) return;
      made = await store.writer.write((tx) => correctDueTimes(tx, query));
    }
  } catch (error) {
    // If the merchant's trigger refuses the write, the orders come due at their own times.
    if (!isRefusal(error)) throw error;
  }
}

/** Returns undefined if no pending order is due. Prefers the last order that was answered, if it is still followed. */
async function orderToProbe({ account, store, clock, exchange }: FlowDeps, turn: number): Promise<string | undefined> {
  const filter = { account, state: 'pending', until: clock.now(), by: 'due', limit: CANDIDATES } as const;
  const due = await findOrders(store.db, filter, ['external_order_id']);
  if (due.length === 0) return undefined;
  const { lastAnswered } = exchange;
  const row = lastAnswered === undefined ? undefined : await readOrder(store.db, account, lastAnswered);
  // An order that has ended is not probed, because the probe would use up one of its few look-ups.
  if (row !== undefined && (FOLLOWED_STATES as readonly string[]).includes(row.state)) return lastAnswered;
  return due[turn % due.length]?.external_order_id;
}
