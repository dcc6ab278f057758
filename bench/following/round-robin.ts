import type { PaceLimits } from '../../src/extensions/pace/pace.ts';
import type { Outcome } from './simulate.ts';
import { DAY, SECOND, type OrderPlan, type World } from './world.ts';

interface QueuedOrder {
  readonly plan: OrderPlan;
  seen: number;
  changedAt: number;
  lookedUpAt: number;
}

/** Looks up all orders that are followed, one after another, `rate` of them a second, and none sooner than it may be. */
export function roundRobin(world: World, rate: number, { leastMs }: Pick<PaceLimits, 'leastMs'>): Outcome {
  const { plans, measuredFrom, measuredTo, measuredChanges, end } = world;
  const outcome: Outcome = { delays: [], lookups: 0, ofFinal: 0, ofIdle: 0, longestWaitMs: 0 };
  const isMeasured = (at: number) => at >= measuredFrom && at < measuredTo;
  const count = ({ plan, seen }: QueuedOrder, seenAt: number) => {
    const at = plan.leavesAt[seen]!;
    if (seen < measuredChanges && isMeasured(at)) outcome.delays.push(seenAt - at);
  };
  const queue: QueuedOrder[] = [];
  let [head, arrived] = [0, 0];
  for (let now = 0; now < end; now += SECOND / rate) {
    for (; (plans[arrived]?.createdAt ?? Number.POSITIVE_INFINITY) <= now; arrived += 1) {
      const plan = plans[arrived]!;
      queue.push({ plan, seen: 0, changedAt: plan.createdAt, lookedUpAt: plan.lookedUpAt ?? plan.createdAt });
    }
    const order = queue[head];
    if (order === undefined || now - order.lookedUpAt < leastMs) continue;
    head += 1;
    if (isMeasured(now)) {
      outcome.lookups += 1;
      if (now - order.changedAt > DAY) outcome.ofIdle += 1;
      outcome.longestWaitMs = Math.max(outcome.longestWaitMs, now - order.lookedUpAt);
    }
    lookUp(order, now, count);
    if (order.seen < order.plan.leavesAt.length) queue.push(order);
  }
  // A change that was not seen at the end counts as seen then.
  for (const order of queue.slice(head)) lookUp(order, end, count);
  return outcome;
}

function lookUp(order: QueuedOrder, now: number, count: (order: QueuedOrder, seenAt: number) => void): void {
  const { leavesAt } = order.plan;
  while ((leavesAt[order.seen] ?? Number.POSITIVE_INFINITY) <= now) {
    count(order, now);
    order.seen += 1;
    order.changedAt = now;
  }
  order.lookedUpAt = now;
}
