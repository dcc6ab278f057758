import type { PacedOrder } from '../../src/orders/rules/lookup.ts';
import {
  LOOKUPS_A_ROUND,
  nextRound,
  plannedGapMs,
  type DueLookup,
  type LookupSource,
} from '../../src/orders/rules/schedule.ts';
import { DAY, HOUR, MINUTE, SECOND, type OrderPlan, type World } from './world.ts';

/** An order as the program knows it. */
export interface SeenOrder extends DueLookup {
  readonly plan: OrderPlan;
  source: LookupSource;
  /** How many of its changes were seen. */
  seen: number;
  changedAt: number;
  lookedUpAt: number | undefined;
  dueAt: number;
  nextActionAt: string;
  rechecks: number;
}

/** The status of an order that is followed. */
export function statusOf({ plan, seen }: SeenOrder): PacedOrder {
  return plan.statuses[seen]!;
}

/** A way to decide when orders are looked up again. */
export interface Follower {
  /** The time until the next look-up of an order that was looked up or created now, in milliseconds. */
  gapMs(order: SeenOrder, now: number): number;
  /** Hears of an order that was created. */
  created?(order: SeenOrder): void;
  /** Hears of a change that was seen; `before` is the number of changes that were known. */
  changed?(order: SeenOrder, before: number, now: number): void;
  /** Learns anew from the orders that are followed, now and then. */
  learn?(orders: Iterable<SeenOrder>, now: number): void;
}

/** How late the changes that are measured were seen, and how many look-ups that took. */
export interface Outcome {
  /** How late each change was seen, in milliseconds. */
  readonly delays: number[];
  /** Look-ups in the time that is measured, of those the ones of final orders, and of orders unchanged for a day. */
  lookups: number;
  ofFinal: number;
  ofIdle: number;
  /** The longest time between two look-ups of an order that is followed. */
  longestWaitMs: number;
}

const RECHECKS_MS = [HOUR, DAY, 7 * DAY];
/** The program learns every 10 minutes: half as often takes half the time here. */
const LEARN_EVERY_MS = 20 * MINUTE;
/** Orders come due at ticks of this many milliseconds, or of a multiple of it. */
const SLOT_MS = 5 * SECOND;
const SOURCES: readonly LookupSource[] = ['new', 'accepted', 'open', 'final'];

/**
 * Has the orders of a world looked up as the program does it: at each tick the due ones, in rounds by their groups,
 * `limit` of them a second. Final ones are looked at again after an hour and a day.
 */
export function simulate(world: World, limit: number, follower: Follower): Outcome {
  return new Run(world, limit, follower).outcome();
}

class Run {
  readonly #world: World;
  readonly #follower: Follower;
  readonly #stepMs: number;
  readonly #orders = new Set<SeenOrder>();
  /** Orders by the tick at which they come due, and the due ones, the oldest first. */
  readonly #later = new Map<number, SeenOrder[]>();
  readonly #due = new Map<LookupSource, SeenOrder[]>(SOURCES.map((source) => [source, []]));
  readonly #outcome: Outcome = { delays: [], lookups: 0, ofFinal: 0, ofIdle: 0, longestWaitMs: 0 };
  #arrived = 0;
  #slot = 0;

  constructor(world: World, limit: number, follower: Follower) {
    this.#world = world;
    this.#follower = follower;
    this.#stepMs = 1_000 / limit;
  }

  outcome(): Outcome {
    const { end, tickMs } = this.#world;
    let freeAt = 0;
    let round: SeenOrder[] = [];
    let learnAt = 0;
    for (let tick = 0; tick < end; tick += tickMs(tick)) {
      const next = tick + tickMs(tick);
      this.#arrive(tick);
      if (tick >= learnAt) {
        this.#follower.learn?.(this.#orders, tick);
        learnAt = tick + LEARN_EVERY_MS;
      }
      this.#comeDue(tick);
      for (let now = Math.max(tick, freeAt); now < next; now += this.#stepMs, freeAt = now) {
        if (round.length === 0) round = this.#nextRound();
        const order = round.pop();
        if (order === undefined) break;
        this.#lookUp(order, now);
      }
    }
    this.#countUnseen();
    return this.#outcome;
  }

  #arrive(now: number): void {
    const { plans } = this.#world;
    for (; (plans[this.#arrived]?.createdAt ?? Number.POSITIVE_INFINITY) <= now; this.#arrived += 1) {
      const plan = plans[this.#arrived]!;
      const order: SeenOrder = {
        plan,
        source: plan.lookedUpAt === undefined ? 'new' : 'accepted',
        externalOrderId: String(this.#arrived).padStart(7, '0'),
        seen: 0,
        changedAt: plan.createdAt,
        lookedUpAt: plan.lookedUpAt,
        dueAt: 0,
        nextActionAt: '',
        rechecks: 0,
      };
      this.#orders.add(order);
      this.#follower.created?.(order);
      this.#plan(order, plan.dueAt ?? plan.createdAt + this.#follower.gapMs(order, plan.createdAt));
    }
  }

  #plan(order: SeenOrder, dueAt: number): void {
    order.dueAt = Math.round(dueAt);
    order.nextActionAt = String(order.dueAt).padStart(12, '0');
    const slot = Math.ceil(order.dueAt / SLOT_MS);
    const orders = this.#later.get(slot);
    if (orders === undefined) this.#later.set(slot, [order]);
    else orders.push(order);
  }

  #comeDue(tick: number): void {
    for (; this.#slot <= tick / SLOT_MS; this.#slot += 1) {
      const orders = this.#later.get(this.#slot);
      if (orders === undefined) continue;
      this.#later.delete(this.#slot);
      for (const order of orders.toSorted(byDueTime)) this.#due.get(order.source)!.push(order);
    }
  }

  #nextRound(): SeenOrder[] {
    const round = nextRound([...this.#due.values()].flatMap((orders) => orders.slice(0, LOOKUPS_A_ROUND)));
    for (const [source, ofSource] of Map.groupBy(round, (order) => order.source)) {
      this.#due.get(source)!.splice(0, ofSource.length);
    }
    return round.toReversed();
  }

  #lookUp(order: SeenOrder, now: number): void {
    const isMeasured = this.#isMeasured(now);
    if (isMeasured) this.#outcome.lookups += 1;
    if (order.source === 'final') {
      if (isMeasured) this.#outcome.ofFinal += 1;
      order.rechecks += 1;
      this.#planRecheck(order, now);
      return;
    }
    if (isMeasured) {
      if (now - order.changedAt > DAY) this.#outcome.ofIdle += 1;
      this.#waited(order, now);
    }
    const { plan, seen } = order;
    while ((plan.leavesAt[order.seen] ?? Number.POSITIVE_INFINITY) <= now) {
      this.#count(order, now);
      order.seen += 1;
    }
    if (order.seen > seen) {
      this.#follower.changed?.(order, seen, now);
      order.changedAt = now;
    }
    order.lookedUpAt = now;
    const status = plan.statuses[order.seen];
    if (status === undefined) {
      order.source = 'final';
      this.#orders.delete(order);
      this.#planRecheck(order, now);
      return;
    }
    order.source = status.state as LookupSource;
    this.#plan(order, now + this.#follower.gapMs(order, now));
  }

  #planRecheck(order: SeenOrder, now: number): void {
    const gapMs = plannedGapMs(order.rechecks, RECHECKS_MS);
    if (gapMs !== undefined) this.#plan(order, now + gapMs);
  }

  #isMeasured(at: number): boolean {
    return at >= this.#world.measuredFrom && at < this.#world.measuredTo;
  }

  /** Counts the next change of an order that was not seen before. */
  #count({ plan, seen }: SeenOrder, seenAt: number): void {
    const at = plan.leavesAt[seen]!;
    if (seen < this.#world.measuredChanges && this.#isMeasured(at)) this.#outcome.delays.push(seenAt - at);
  }

  #waited({ lookedUpAt, plan }: SeenOrder, now: number): void {
    this.#outcome.longestWaitMs = Math.max(this.#outcome.longestWaitMs, now - (lookedUpAt ?? plan.createdAt));
  }

  /** A change that was not seen at the end counts as seen then. */
  #countUnseen(): void {
    const { end } = this.#world;
    for (const order of this.#orders) {
      this.#waited(order, end);
      for (; (order.plan.leavesAt[order.seen] ?? end) < end; order.seen += 1) this.#count(order, end);
    }
  }
}
function byDueTime(one: SeenOrder, other: SeenOrder): number {
  return one.dueAt - other.dueAt || (one.externalOrderId < other.externalOrderId ? -1 : 1);
}
