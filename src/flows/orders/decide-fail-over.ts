import type { FailOver } from '../../domain/accounts/fail-over.ts';
import { freeOfDoubt } from '../../domain/orders/create.ts';
import { finding, type Decision, type OrderEvent, type Tracking } from '../../domain/orders/tracking.ts';
import { insertHappenings } from '../../store/events.ts';
import { countDoubtful, doubtfulOrders, tellFailOver } from '../../store/fail-overs.ts';
import { trackingOf } from '../../store/order-columns.ts';
import { lockOrder, saveDecision } from '../../store/orders.ts';
import type { FlowDeps } from '../pass/deps.ts';

/** A person's answer to a fail-over: the orders that it left in doubt were sent, or were not. */
export interface FailOverAnswer {
  readonly isSent: boolean;
  readonly actor: string;
  readonly reason: string;
  /** The orders to decide; undefined for all that the fail-over left in doubt. */
  readonly ids?: readonly string[] | undefined;
}

type DecidingDeps = Pick<FlowDeps, 'account' | 'store' | 'clock'>;

const PAGE = 200;

/**
 * Carries out a person's decision on the orders that a fail-over left in doubt: they become accepted if they were sent, and
 * else pending and due now. Returns how many orders it decided, and how many are left.
 */
export async function decideFailOver(
  deps: DecidingDeps,
  failOver: FailOver,
  answer: FailOverAnswer,
): Promise<{ readonly orders: number; readonly left: number }> {
  const { account, store, clock } = deps;
  const { isSent, reason, actor } = answer;
  let orders = 0;
  for await (const ids of pages(deps, failOver, answer)) {
    orders += await store.writer.write(async (tx) => {
      let decided = 0;
      for (const id of ids) {
        const row = await lockOrder(tx, account, id);
        let before = row === undefined ? undefined : trackingOf(row);
        const decisions = before === undefined ? [] : decisionsFor(before, failOver, answer, clock.now());
        for (const decision of decisions) if (before) before = await saveDecision(tx, before, decision, clock.now());
        decided += Math.min(1, decisions.length);
      }
      return decided;
    });
  }
  const left = await countDoubtful(store.db, account, failOver.id);
  await store.writer.write(async (tx) => {
    const decision = isSent ? 'sent' : 'not-sent';
    const event = { account, type: 'account', subject: account, field: 'restore', new_value: decision } as const;
    await insertHappenings(tx, [{ ...event, source: 'operator', reason, actor }], clock.now());
    await tellFailOver(tx, account, answer.ids === undefined ? { ...failOver, decision } : failOver, clock.now());
  });
  return { orders, left };
}

async function* pages({ account, store }: DecidingDeps, { id: failOver }: FailOver, { ids }: FailOverAnswer) {
  for (let from = 0; from < (ids?.length ?? 0); from += PAGE) yield ids?.slice(from, from + PAGE) ?? [];
  for (let fromId = ''; ids === undefined;) {
    const page = await doubtfulOrders(store.db, { account, failOver, fromId, limit: PAGE });
    yield page;
    if (page.length < PAGE) return;
    fromId = page.at(-1) ?? fromId;
  }
}

function decisionsFor(
  tracking: Tracking,
  { id, seenAt }: FailOver,
  { isSent, reason, actor }: FailOverAnswer,
  now: Date,
): readonly Decision[] {
  const how = { source: 'operator', reason, actor } as const;
  if (tracking.failOver === id) return freeOfDoubt(tracking, isSent, how, now);
  // An order that stayed as it was may be sent again from now on.
  const isLeft = ['rejected', 'invalid'].includes(tracking.state) && !isSent && tracking.failOver === null;
  const event: OrderEvent = {
    ...finding('FAIL_OVER', 'operator', `not sent before ${seenAt}: ${reason}`, null),
    actor,
  };
  return isLeft ? [{ tracking, events: [event] }] : [];
}
