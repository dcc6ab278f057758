import { decideDoubt } from '../operate/rules/judgement.ts';
import { assumeOrderSent } from '../operate/decide-orders.ts';
import { accountsIn } from '../commands/tables/accounts.ts';
import type { Assumption } from '../../orders/rules/create.ts';
import { nextGeneration } from '../../store/tables/accounts.ts';
import { setHold } from '../../store/tables/account-holds.ts';
import { recordStop } from '../../store/tables/account-stops.ts';
import { insertHappenings } from '../../store/tables/events.ts';
import { orderIds, lockOrder, saveDecision } from '../../store/orders/orders.ts';
import { findOrders } from '../../store/find-orders.ts';
import { pagesAfter, partsOf } from '../../store/pages.ts';
import type { MissingTime, Transaction, Database } from '../../store/port.ts';
import type { FlowDeps } from '../../orders/pass/deps.ts';
import type { Assuming } from '../../orders/fail-over.ts';
import type { FailOver } from '../../accounts/rules/fail-over.ts';
import { finding, type Decision, type Tracking } from '../../orders/rules/tracking.ts';
import { changeFailOver, countDoubtful } from '../../store/tables/fail-overs.ts';
import { trackingOf } from '../../store/orders/order-columns.ts';
import { newestEventTime, forgetMove } from './tables/counts.ts';

/** The store must be opened with `isRestored`. */
type RestoreDeps = Assuming & Pick<FlowDeps, 'store'> & { readonly accounts: readonly string[] };

type Acceptance = Decider & { readonly isNothingSent: boolean };
export type AcceptedRestore = Readonly<{ missing: MissingTime; orders: number }>;

const PAGE = 200;

/**
 * Unless `isNothingSent`, pauses creates and makes each order `unknown` that may have been sent since the copy. Until
 * the new mark is written, `restoring` in the mark stops other processes, so an interrupted run must be repeated.
 */
export async function acceptRestore(deps: RestoreDeps, acceptance: Acceptance): Promise<AcceptedRestore> {
  const { store, clock } = deps;
  const mark = await store.mark.read();
  const position = await store.mark.position();
  const isShown = mark !== undefined && (await store.mark.sign()) !== undefined;
  // A mark that was put back together with the database does not show when the lost database was last used.
  const missing = mark?.restoring ?? { from: await newestEventTime(store.db), to: isShown ? mark.at : null };
  await store.mark.write({ ...(mark ?? { ...position, at: clock.now().toISOString() }), restoring: missing });
  let orders = 0;
  // Accounts without orders are paused too, because the merchant may insert the lost orders again.
  const others = store.mark.account === undefined ? await accountsIn(store.db, 'merchant_orders') : [];
  for (const account of new Set([...deps.accounts, ...others])) {
    await store.writer.write(async (tx) => {
      // The new generation stops an owner that opened the database under another path. It exceeds the generation in the
      // mark, so any other old copy of the database is older than the new mark.
      await nextGeneration(tx, account, mark?.generation);
      // The database is in use again, even if `db copy` marked it as moved.
      await forgetMove(tx);
      await recordRestore(tx, account, acceptance, clock.now());
    });
    if (!acceptance.isNothingSent) orders += await assumeAllSent(deps, account, acceptance);
  }
  await store.mark.write({ ...(await store.mark.position()), at: clock.now().toISOString() });
  return { missing, orders };
}

async function recordRestore(tx: Transaction, account: string, acceptance: Acceptance, now: Date): Promise<void> {
  const { actor, reason, isNothingSent } = acceptance;
  await tellDecision(tx, account, isNothingSent ? 'nothing-sent' : 'may-be-sent', acceptance, now);
  await recordStop(tx, account, { kind: null, reason, actor, now });
  if (isNothingSent) return;
  await setHold(tx, account, { kind: 'restored', since: now, until: null, reason, actor }, now);
}

type Decider = Readonly<{ actor: string; reason: string }>;

async function tellDecision(tx: Transaction, account: string, decision: string, { actor, reason }: Decider, now: Date) {
  const event = { account, type: 'account', subject: account, field: 'restore', new_value: decision } as const;
  await insertHappenings(tx, [{ ...event, source: 'operator', reason, actor }], now);
}

/** Orders in these states become unknown. Orders that are unknown already are read first, to be read only once. */
const LEFT = ['pending', 'invalid', 'rejected', 'sending'] as const;

async function assumeAllSent(deps: RestoreDeps, account: string, { actor, reason }: Acceptance): Promise<number> {
  const { store } = deps;
  const how: Assumption = { source: 'operator', reason, actor };
  // Each page has its own transaction, because the merchant's own writes wait until a transaction ends.
  const assume = async (ids: readonly string[]) =>
    await store.writer.write(async (tx) => {
      let assumed = 0;
      for (const id of ids) assumed += await assumeOrderSent(tx, { account, id, how }, deps);
      return assumed;
    });
  let orders = 0;
  const sent = (fromId = '') => orderIds(store.db, { account, states: ['unknown', 'held'], fromId, limit: PAGE });
  for await (const ids of pagesAfter(PAGE, sent)) orders += await assume(ids);
  for (const state of LEFT) {
    // An order whose id is not valid Unicode keeps its state, so each page contains the order again.
    for (let unreadable = 0; ;) {
      const limit = PAGE + unreadable;
      const some = await findOrders(store.db, { account, state, by: 'due', limit }, ['external_order_id']);
      const ids = some.map((row) => row.external_order_id);
      const assumed = await assume(ids);
      orders += assumed;
      unreadable = ids.length - assumed;
      if (ids.length < limit) break;
    }
  }
  return orders;
}

type DecisionDeps = Pick<FlowDeps, 'account' | 'store' | 'clock'>;
/** Without `ids` the answer is about all orders that the fail-over left in doubt. */
type Answer = Decider & Readonly<{ isSent: boolean; ids?: readonly string[] | undefined }>;

/** Makes orders that a fail-over left in doubt accepted or pending. Returns how many, and how many stay in doubt. */
export async function decideFailOver({ account, store, clock }: DecisionDeps, failOver: FailOver, answer: Answer) {
  let orders = 0;
  for await (const ids of answer.ids ? partsOf(answer.ids, PAGE) : doubtfulOrders(store.db, account, failOver.id)) {
    orders += await store.writer.write(async (tx) => {
      let decided = 0;
      for (const id of ids) {
        const row = await lockOrder(tx, account, id);
        if (row === undefined) continue;
        let before = trackingOf(row);
        const decisions = decisionsFor(before, failOver, answer, clock.now());
        for (const decision of decisions) before = await saveDecision(tx, before, decision, clock.now());
        decided += Math.min(1, decisions.length);
      }
      return decided;
    });
  }
  const left = await countDoubtful(store.db, account, failOver.id);
  await store.writer.write(async (tx) => {
    const decision = answer.isSent ? 'sent' : 'not-sent';
    await tellDecision(tx, account, decision, answer, clock.now());
    await changeFailOver(tx, account, failOver, answer.ids === undefined ? { decision } : {}, clock.now());
  });
  return { orders, left };
}

function decisionsFor(tracking: Tracking, { id, seenAt }: FailOver, answer: Answer, now: Date): readonly Decision[] {
  const { isSent, reason, actor } = answer;
  const how = { source: 'operator', reason, actor } as const;
  if (tracking.failOver === id) return decideDoubt(tracking, isSent, how, now);
  // `doubtedBy` doubts a rejected or invalid order until its row is updated. Saving this event updates the row.
  const isLeft = ['rejected', 'invalid'].includes(tracking.state) && !isSent && tracking.failOver === null;
  const event = finding('FAIL_OVER', 'operator', `not sent before ${seenAt}: ${reason}`, null);
  return isLeft ? [{ tracking, events: [{ ...event, actor }] }] : [];
}

export async function* doubtfulOrders(db: Database, account: string, failOver: number) {
  const filter = { account, failOver, by: 'id', limit: PAGE } as const;
  const after = (last?: { readonly external_order_id: string }) =>
    findOrders(db, { ...filter, afterId: last?.external_order_id ?? '' }, ['external_order_id']);
  for await (const page of pagesAfter(PAGE, after)) yield page.map((row) => row.external_order_id);
}
