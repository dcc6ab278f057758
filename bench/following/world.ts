import type { PacedOrder } from '../../src/orders/rules/lookup.ts';
import { seededRandom } from '../../src/extensions/sandbox/random.ts';
import type { Duration } from './durations.ts';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** A status that an order goes through. */
export interface Stage {
  readonly status: PacedOrder;
  readonly duration: Duration;
}

/** The life of one order, however it is looked up; times in milliseconds since the begin of the world. */
export interface OrderPlan {
  readonly createdAt: number;
  /** Its statuses, in their order, and when it leaves each; after the last one it is final. */
  readonly statuses: readonly PacedOrder[];
  readonly leavesAt: readonly number[];
  /** Of an order that is older than the world: its last look-up, and when it is due. */
  readonly lookedUpAt?: number;
  readonly dueAt?: number;
}

/** Orders that come and change over time, and which part of that time is measured. */
export interface World {
  readonly name: string;
  /** In the order of `createdAt`. */
  readonly plans: readonly OrderPlan[];
  /** The stages of an order, as they are at a time. */
  readonly stagesAt: (ms: number) => readonly Stage[];
  /** Changes from then until then are measured; it continues until the end, so that they are seen. */
  readonly measuredFrom: number;
  readonly measuredTo: number;
  /** The number of changes that are measured of an order, the first ones. */
  readonly measuredChanges: number;
  readonly end: number;
  /** The time between ticks of `schedule.cron` at a time. */
  readonly tickMs: (ms: number) => number;
}

/** When orders come: until the end, at this rate a day, and never more than `mostADay`. */
interface Arrivals extends Pick<World, 'end' | 'stagesAt'> {
  readonly mostADay: number;
  readonly aDay: (ms: number) => number;
}

/** Draws the orders of a world, and what becomes of them. */
export function drawPlans(seed: number, { end, mostADay, aDay, stagesAt }: Arrivals): OrderPlan[] {
  const random = seededRandom(seed);
  const plans: OrderPlan[] = [];
  for (let ms = 0; ;) {
    ms -= (Math.log(1 - random()) * DAY) / mostADay;
    if (ms >= end) return plans;
    if (random() * mostADay < aDay(ms)) plans.push(drawPlan(ms, stagesAt, random));
  }
}

function drawPlan(createdAt: number, stagesAt: World['stagesAt'], random: () => number): OrderPlan {
  const [statuses, leavesAt]: [PacedOrder[], number[]] = [[], []];
  let at = createdAt;
  for (let index = 0; at < Number.POSITIVE_INFINITY; index += 1) {
    const stage = stagesAt(at)[index];
    if (stage === undefined) break;
    at += stage.duration.draw(random);
    statuses.push(stage.status);
    leavesAt.push(at);
  }
  return { createdAt, statuses, leavesAt };
}
