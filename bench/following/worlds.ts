import type { PacedOrder } from '../../src/orders/rules/lookup.ts';
import { between, logNormal, pareto, withStaying, type Duration } from './durations.ts';
import { DAY, drawPlans, HOUR, MINUTE, SECOND, type OrderPlan, type Stage, type World } from './world.ts';

const SEED = 20_260_101;
const NEVER_TAKEN_UP = 0.3;
const MOST_NEVER_TAKEN_UP = 0.95;
const TICK_MS = 5 * SECOND;
const STATUSES = ['NEW', 'PROCESSING', 'PAYING'];
const ACCEPTED: PacedOrder = { state: 'accepted', orderStatus: null, cryptoStatus: null, fiatStatus: null };

/** A pre-order that may never be taken up, and then the statuses of an order, each for a time. */
function stages(accepted: Duration, ...open: readonly Duration[]): readonly Stage[] {
  return [
    { status: ACCEPTED, duration: withStaying(NEVER_TAKEN_UP, accepted) },
    ...open.map((duration, index): Stage => {
      const orderStatus = STATUSES[index] ?? 'OPEN';
      return { status: { state: 'open', orderStatus, cryptoStatus: null, fiatStatus: null }, duration };
    }),
  ];
}

const LOG_NORMAL = stages(
  logNormal(5 * MINUTE, 1),
  logNormal(MINUTE, 1),
  logNormal(10 * MINUTE, 1),
  logNormal(40 * MINUTE, 1),
);
const FEW_TAKEN_UP = LOG_NORMAL.with(0, {
  status: ACCEPTED,
  duration: withStaying(MOST_NEVER_TAKEN_UP, logNormal(MINUTE, 1)),
});
const HEAVY = stages(logNormal(2 * MINUTE, 2), pareto(MINUTE, 1.1), logNormal(8 * MINUTE, 2), pareto(20 * MINUTE, 1.1));
const AT_ONCE = stages(
  between(0, 2 * SECOND),
  logNormal(5 * MINUTE, 1),
  between(0, 2 * SECOND),
  logNormal(40 * MINUTE, 1),
);
/** Slow statuses are quick, and the reverse. */
const CHANGED = stages(
  logNormal(20 * MINUTE, 1),
  logNormal(5 * MINUTE, 1),
  logNormal(80 * MINUTE, 1),
  logNormal(5 * MINUTE, 1),
);

/** How much of each world there is. */
export interface WorldSize {
  readonly ordersADay: number;
  /** The time before that which is measured, and that time. */
  readonly warmUpMs: number;
  readonly measuredMs: number;
}

type Traits = Partial<Omit<World, 'name' | 'plans'>> & {
  readonly mostADay?: number;
  readonly aDay?: (ms: number) => number;
  readonly older?: readonly OrderPlan[];
};

/** Pre-orders of 20 days ago that no customer takes up; they come due spread over the longest time between two look-ups. */
function idleOrders(count: number, longestMs: number): OrderPlan[] {
  return Array.from({ length: count }, (_, index) => {
    const dueAt = (longestMs * index) / count;
    const leavesAt = [Number.POSITIVE_INFINITY];
    return { createdAt: -20 * DAY, statuses: [ACCEPTED], leavesAt, lookedUpAt: dueAt - longestMs, dueAt };
  });
}

/** The worlds by their names; each is made when it is asked for. `longestMs` is the longest time between two look-ups. */
export function worldsOf({ ordersADay, warmUpMs, measuredMs }: WorldSize, longestMs: number) {
  const world = (name: string, traits: Traits = {}): World => {
    const { mostADay = ordersADay, older = [], measuredFrom = warmUpMs, stagesAt = () => LOG_NORMAL } = traits;
    const { aDay = () => mostADay, measuredTo = measuredFrom + measuredMs, tickMs = () => TICK_MS } = traits;
    const { measuredChanges = Number.POSITIVE_INFINITY } = traits;
    const end = measuredTo + HOUR;
    const plans = [...older, ...drawPlans(SEED, { end, mostADay, aDay, stagesAt })];
    return { name, plans, stagesAt, measuredFrom, measuredTo, measuredChanges, end, tickMs };
  };
  return {
    logNormal: () => world('log-normal stages'),
    heavy: () => world('heavy tails', { stagesAt: () => HEAVY }),
    atOnce: () => world('a status that changes at once', { stagesAt: () => AT_ONCE }),
    rhythm: () =>
      world('a daily rhythm', {
        mostADay: 2 * ordersADay,
        aDay: (ms) => ordersADay * (1 - Math.cos((2 * Math.PI * ms) / DAY)),
        measuredTo: warmUpMs + DAY,
      }),
    regime: () => world('a regime change', { stagesAt: (ms) => (ms < warmUpMs ? LOG_NORMAL : CHANGED) }),
    neverEnd: () => world('50,000 that never end', { older: idleOrders(50_000, longestMs) }),
    hourly: () =>
      world('an hourly cron before', {
        measuredFrom: DAY,
        measuredTo: DAY + measuredMs,
        tickMs: (ms) => (ms < DAY ? HOUR : TICK_MS),
      }),
    nothingKnown: () => world('nothing to learn from', { measuredFrom: 0, measuredTo: 2 * HOUR }),
    quiet: () => world('100 orders a day', { mostADay: 100, measuredFrom: 3 * DAY, measuredTo: 8 * DAY }),
    fewTakenUp: () =>
      world('few are taken up', {
        mostADay: 1_000,
        stagesAt: () => FEW_TAKEN_UP,
        measuredFrom: 4 * DAY,
        measuredTo: 8 * DAY,
        measuredChanges: 1,
      }),
    overload: () =>
      world('100,000 that never end', {
        mostADay: 100,
        older: idleOrders(100_000, longestMs),
        measuredFrom: HOUR,
        measuredTo: 30 * HOUR,
      }),
  };
}
