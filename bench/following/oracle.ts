import { solvePrice, type PaceLimits } from '../../src/extensions/pace/pace.ts';
import { statusKey } from '../../src/extensions/pace/status.ts';
import { enough } from '../../src/extensions/pace/stay-times.ts';
import type { Duration } from './durations.ts';
import { statusOf, type Follower, type SeenOrder } from './simulate.ts';
import { SECOND, type Stage, type World } from './world.ts';

const GROWTH = 1.1;
/** Ages in milliseconds: 0, then from a second to 2 years, far finer than the bins of the program. */
const AGES = Array.from({ length: 190 }, (_, cell) => (cell === 0 ? 0 : SECOND * GROWTH ** (cell - 1)));
/** Fewer orders than this in a status count as none. */
const NOBODY = 1e-9;
/** Below this chance in a millisecond, no order leaves any more. */
const LEAST_HAZARD = 1e-15;

function cellOf(ms: number): number {
  if (ms < SECOND) return 0;
  return Math.min(AGES.length - 1, 1 + Math.floor(Math.log(ms / SECOND) / Math.log(GROWTH)));
}

/** The true times of a status, by the sum of the hazard until an age. */
class TrueTimes {
  readonly #passed: readonly number[];

  constructor({ lasting }: Duration) {
    this.#passed = AGES.map((ms) => -Math.log(Math.max(NOBODY, lasting(ms))));
  }

  /** The part of the orders that are there at an age which leave within `ms`. */
  leaving(ageMs: number, ms: number): number {
    return -Math.expm1(this.#until(ageMs) - this.#until(ageMs + ms));
  }

  /** The same rule as that of the program. */
  gapMs(ageMs: number, priceMs: number, { leastMs, mostMs }: PaceLimits): number {
    const before = this.#until(ageMs);
    for (let cell = cellOf(ageMs); cell < AGES.length - 1; cell += 1) {
      const hazard = this.#hazardOf(cell);
      const start = Math.max(ageMs, AGES[cell] ?? 0);
      const needed = enough(hazard * priceMs) - (this.#until(start) - before);
      const gap = start - ageMs + (needed <= 0 ? 0 : needed / hazard);
      if (gap >= mostMs && start - ageMs >= mostMs) return mostMs;
      if (ageMs + gap < (AGES[cell + 1] ?? 0)) return Math.min(mostMs, Math.max(leastMs, gap));
    }
    return mostMs;
  }

  #until(ms: number): number {
    const cell = Math.min(AGES.length - 2, cellOf(ms));
    return (this.#passed[cell] ?? 0) + this.#hazardOf(cell) * (ms - (AGES[cell] ?? 0));
  }

  #hazardOf(cell: number): number {
    const [start = 0, end = 0] = AGES.slice(cell, cell + 2);
    return Math.max(LEAST_HAZARD, ((this.#passed[cell + 1] ?? 0) - (this.#passed[cell] ?? 0)) / (end - start));
  }
}

/** Orders of one status and about one age: how many, and the sum of 1 / gap. */
interface Cell {
  orders: number;
  lookups: number;
}

/** Goes by the rule of the program, but knows how long orders stay in each status, and when each of them came into it. */
export class Oracle implements Follower {
  readonly #world: World;
  readonly #limits: PaceLimits;
  #stages: readonly Stage[] = [];
  #times = new Map<string, TrueTimes>();
  #gaps = new Map<string, readonly number[]>();

  constructor(world: World, limits: PaceLimits) {
    this.#world = world;
    this.#limits = limits;
  }

  gapMs(order: SeenOrder, now: number): number {
    return this.#gaps.get(statusKey(statusOf(order)))?.[cellOf(ageAt(order, now))] ?? this.#limits.leastMs;
  }

  learn(orders: Iterable<SeenOrder>, now: number): void {
    const stages = this.#world.stagesAt(now);
    if (stages !== this.#stages) {
      this.#stages = stages;
      this.#times = new Map(stages.map(({ status, duration }) => [statusKey(status), new TrueTimes(duration)]));
    }
    const leastMs = Math.max(this.#limits.leastMs, this.#world.tickMs(now));
    const groups = this.#groupsOf(orders, now, { ...this.#limits, leastMs });
    const priceMs = solvePrice(groups, this.#limits, this.#limits.worthMs);
    this.#gaps = new Map(
      [...this.#times].map(([key, times]) => [key, AGES.map((ms) => times.gapMs(ms, priceMs, this.#limits))]),
    );
  }

  #groupsOf(orders: Iterable<SeenOrder>, now: number, atTicks: PaceLimits) {
    const cells = new Map([...this.#times].map(([key]) => [key, AGES.map((): Cell => ({ orders: 0, lookups: 0 }))]));
    for (const order of orders) {
      const lookedUpAt = order.lookedUpAt ?? order.plan.createdAt;
      const cell = cells.get(statusKey(statusOf(order)))?.[cellOf(ageAt(order, lookedUpAt))];
      if (cell === undefined) continue;
      cell.orders += 1;
      cell.lookups += 1 / Math.max(this.#limits.leastMs, Math.max(order.dueAt, now) - lookedUpAt);
    }
    return [...this.#times].flatMap(([key, times]) =>
      (cells.get(key) ?? []).flatMap((cell, index) => this.#groupOf(times, AGES[index] ?? 0, cell, atTicks)),
    );
  }

  #groupOf(times: TrueTimes, ageMs: number, { orders, lookups }: Cell, atTicks: PaceLimits) {
    if (orders === 0) return [];
    const leaving = times.leaving(ageMs, orders / lookups);
    const demand = (priceMs: number) => {
      const gapMs = times.gapMs(ageMs, priceMs, atTicks);
      return leaving < NOBODY ? orders / gapMs : (lookups * leaving) / times.leaving(ageMs, gapMs);
    };
    return [{ demand }];
  }
}

/** For how long an order was in its status at a time, by what the exchange knows. */
function ageAt({ plan, seen }: SeenOrder, now: number): number {
  return now - (plan.leavesAt[seen - 1] ?? plan.createdAt);
}
