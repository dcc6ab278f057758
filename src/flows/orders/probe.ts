import { FOLLOWED_STATES, type OrderState } from '../../domain/orders/states.ts';
import { NEVER_LEFT } from '../../domain/orders/create.ts';
import { trackingOf } from '../../store/order-columns.ts';
import { findOrders } from '../../store/find-orders.ts';
import { readOrder } from '../../store/orders.ts';
import { makePendingDue } from '../../store/wrong-due-times.ts';
import type { FlowDeps } from '../pass/deps.ts';
import { isolateFailure, isRefusal } from '../pass/isolate.ts';
import { lookUp } from './follow.ts';

type ProbeDeps = Parameters<typeof lookUp>[0];

/** Pending orders that take turns: one whose look-ups alone fail must not keep the others unsent. */
const CANDIDATES = 10;
const PAGE = 200;

/**
 * Looks one order up where that must be answered before the next create, and there is one to send. A look-up creates
 * nothing, whatever becomes of it; it is recorded as any other.
 */
export async function probeForCreates(deps: ProbeDeps, signal: AbortSignal): Promise<void> {
  const { exchange } = deps;
  const { isOpen, needsProbe, failedProbes } = exchange.breaker('create');
  if (isOpen || !needsProbe || exchange.breaker('lookup').isOpen || signal.aborted) return;
  const externalOrderId = await orderToProbe(deps, failedProbes);
  if (externalOrderId === undefined) return;
  await isolateFailure(deps, externalOrderId, () => lookUp(deps, externalOrderId, signal, true));
  const { needsProbe: isStillNeeded, openForMs } = exchange.breaker('create');
  if (isStillNeeded) deps.log.debug({ externalOrderId, openForMs }, 'a probe was not answered, so no create goes yet');
  else deps.log.debug({ externalOrderId }, 'a probe was answered: creates go again, one at first');
  if (!isStillNeeded && failedProbes > 0) await makeUnsentDue(deps);
}

/** Makes orders due now whose creates never left: they wait only for the end of an outage. */
export async function makeUnsentDue({ account, store, clock }: Pick<FlowDeps, 'account' | 'store' | 'clock'>) {
  try {
    for (let made = PAGE; made >= PAGE;) {
      const query = { account, reason: NEVER_LEFT, to: clock.now(), limit: PAGE };
      made = await store.writer.write((tx) => makePendingDue(tx, query));
    }
  } catch (error) {
    // Orders that a merchant's trigger refuses come due at their own times.
    if (!isRefusal(error)) throw error;
  }
}

/** The order that last answered, where it is followed anyway, or else one of the next to be sent. */
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
