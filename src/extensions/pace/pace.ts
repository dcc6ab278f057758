import { instantMs } from '../../base/instant.ts';
import { LEAST_GAP_MS, type Pace } from '../../orders/rules/lookup.ts';
import { type Stay, isAccepted, statusKey, type FollowedOrder } from './status.ts';
import { AGE_BINS, binOf, gapMs, leaving, StayTimes } from './stay-times.ts';

export const LONGEST_GAP_MS = 7 * 24 * 60 * 60_000;

/** The bounds and the budget of a learned pace. Times are in ms, `budget` and `rate` in requests a ms. */
export interface PaceLimits {
  /** An order is looked up from `leastMs` to `mostMs` after its last look-up. */
  readonly leastMs: number;
  readonly mostMs: number;
  /** The shortest time between two ticks of `schedule.cron`. A due order waits for the next tick. */
  readonly tickMs?: number;
  /** The least price of a look-up, in ms of delay (`follow.worth`). The price is higher if `budget` requires it. */
  readonly worthMs: number;
  /** The part `follow.share` of `rate`, for look-ups of followed orders. */
  readonly budget: number;
  readonly rate: number;
}

export const MOST_STATUSES = 200;
export const OTHERS = '';

/** Orders whose age at the last look-up is in one bin. `ageMs` is the sum of the ages, `lookups` the sum of 1 / gap. */
type Followed = Record<'orders' | 'ageMs' | 'lookups', number>;

type StatusFacts = { readonly times: StayTimes; readonly followed: readonly Followed[] };

/** `demand` is in look-ups a ms. `news` is the number of orders a ms that are expected to leave the status. */
type LearnedStatus = Readonly<Record<'stays' | 'orders' | 'priceMs' | 'demand' | 'news', number>> &
  Readonly<{ key: string; hazards: Float64Array }>;

export interface LearnedPace extends Pace {
  /** The price of a look-up, in ms of delay; the higher price if accepted pre-orders and orders have two prices. */
  readonly priceMs: number;
  readonly demand: number;
  readonly statuses: readonly LearnedStatus[];
  hazardsOf(key: string): Float64Array;
}

export class PaceLearner {
  readonly #history: ReadonlyMap<string, StayTimes>;
  readonly #facts: Map<string, StatusFacts>;
  readonly #others = newFacts();
  readonly #historyFrom: Date | null;

  constructor(stays: readonly Stay[] | ReadonlyMap<string, StayTimes> = [], historyFrom: Date | null = null) {
    this.#history = stays instanceof Map ? stays : historyOf(stays as readonly Stay[]);
    this.#facts = new Map([...this.#history].map(([key, times]) => [key, newFacts(times)]));
    this.#historyFrom = historyFrom;
  }

  again(): PaceLearner {
    return new PaceLearner(this.#history, this.#historyFrom);
  }

  /** Adds an order. Time before the history does not count as watched, because stays that ended then are unknown. */
  addOrder(order: FollowedOrder, now: Date): void {
    const { changedAt, lastLookupAt, nextActionAt } = order;
    const facts = this.#factsOf(statusKey(order));
    const since = changedAt?.getTime() ?? Number.NaN;
    const lookedUpAt = lastLookupAt?.getTime() ?? since;
    facts.times.watched(lookedUpAt - since, (this.#historyFrom?.getTime() ?? Number.NEGATIVE_INFINITY) - since);
    const ageMs = Math.max(0, lookedUpAt - since) || 0;
    // An overdue order waits longer than planned, at least until now.
    const gap = Math.max(now.getTime(), instantMs(nextActionAt) ?? 0) - lookedUpAt;
    const group = facts.followed[binOf(ageMs)]!;
    group.orders += 1;
    group.ageMs += ageMs;
    group.lookups += 1 / (Math.max(LEAST_GAP_MS, gap) || LEAST_GAP_MS);
  }

  pace(limits: PaceLimits): LearnedPace {
    const assumed = new StayTimes().hazards();
    const statuses = [...this.#facts, [OTHERS, this.#others] as const].map(([key, facts]) => {
      const hazards = key === OTHERS ? assumed : facts.times.hazards();
      return { key, facts, hazards, groups: groupsOf(facts, hazards, limits) };
    });
    const groupsIf = (wanted: boolean) =>
      statuses.filter(({ key }) => isAccepted(key) === wanted).flatMap(({ groups }) => groups);
    const prices = solvePrices([groupsIf(true), groupsIf(false)], limits, limits.worthMs);
    const priceOf = (key: string) => prices[isAccepted(key) ? 0 : 1];
    const learned = statuses.map(({ key, facts, hazards, groups }) => ({
      key,
      stays: facts.times.stays,
      orders: groups.reduce((sum, { orders }) => sum + orders, 0),
      hazards,
      priceMs: priceOf(key),
      demand: demandAt(groups, priceOf(key)),
      news: groups.reduce((sum, { news }) => sum + news, 0),
    }));
    const byKey = new Map(learned.map(({ key, hazards }) => [key, hazards]));
    const hazardsOf = (key: string) => byKey.get(key) ?? assumed;
    return {
      priceMs: Math.max(...prices),
      demand: learned.reduce((sum, { demand }) => sum + demand, 0),
      statuses: learned.filter(({ stays, orders }) => stays + orders > 0),
      hazardsOf,
      gapMs: (order, sinceChangeMs) => {
        const key = statusKey(order);
        return boundedGap(hazardsOf(key), sinceChangeMs, priceOf(key), limits);
      },
    };
  }

  #factsOf(key: string): StatusFacts {
    const facts = this.#facts.get(key);
    if (facts !== undefined) return facts;
    if (this.#facts.size >= MOST_STATUSES) return this.#others;
    const added = newFacts();
    this.#facts.set(key, added);
    return added;
  }
}

function historyOf(stays: readonly Stay[]): Map<string, StayTimes> {
  const byKey = [...Map.groupBy(stays, ({ key }) => key)];
  const most = byKey.toSorted(([, one], [, other]) => other.length - one.length).slice(0, MOST_STATUSES);
  const history = new Map(most.map(([key]) => [key, new StayTimes()]));
  for (const stay of stays) {
    if (stay.isByExchange) history.get(stay.key)?.ended(stay);
    else history.get(stay.key)?.watched(stay.from);
  }
  return history;
}

function newFacts(times = new StayTimes()): StatusFacts {
  const followed = Array.from({ length: AGE_BINS }, () => ({ orders: 0, ageMs: 0, lookups: 0 }));
  return { times: times.copy(), followed };
}

type StatusGroup = PacedGroup & { readonly orders: number; readonly news: number };

/**
 * Treats the orders of a bin as alike. F(gap) is the part that leaves within a gap, so n orders leave at a rate of
 * n·F(gap) / gap a ms. As many orders come as leave. At any gap x, an order takes 1 / F(x) look-ups until it leaves.
 */
function groupsOf({ followed }: StatusFacts, hazards: Float64Array, limits: PaceLimits): readonly StatusGroup[] {
  const atTicks = { ...limits, leastMs: Math.max(limits.leastMs, limits.tickMs ?? 0) };
  return followed
    .filter(({ orders }) => orders > 0)
    .map(({ orders, ageMs, lookups }) => {
      const mean = ageMs / orders;
      const news = lookups * leaving(hazards, mean, orders / lookups);
      const demand = (priceMs: number) => news / leaving(hazards, mean, boundedGap(hazards, mean, priceMs, atTicks));
      return { orders, news, demand };
    });
}

function boundedGap(hazards: Float64Array, ageMs: number, priceMs: number, limits: PaceLimits): number {
  const { leastMs, mostMs } = limits;
  return Math.max(leastMs, gapMs(hazards, Math.max(0, ageMs), priceMs, Math.max(leastMs, mostMs)));
}

export type PacedGroup = { demand(priceMs: number): number };

type Budget = Pick<PaceLimits, 'budget' | 'rate'>;

/** The highest price, in ms of delay. A higher price would delay new orders more than a backlog of due orders does. */
const HIGHEST_MS = 60 * 60_000;
const PRECISION = 0.01;
const RESERVED = 0.2;
/** The part of the rate that planned look-ups may take. */
const MOST_OF_RATE = 0.98;

export function demandAt(groups: readonly PacedGroup[], priceMs: number): number {
  return groups.reduce((sum, group) => sum + group.demand(priceMs), 0);
}

/**
 * Returns the lowest price, at least `leastMs`, at which the groups demand no more than `budget`. The groups may demand
 * more, within the rate, if their demand at the highest price leaves less than a fifth of `budget`. Otherwise many old
 * orders would starve new orders.
 */
export function solvePrice(groups: readonly PacedGroup[], { budget, rate }: Budget, leastMs: number): number {
  const atMost = demandAt(groups, HIGHEST_MS) + RESERVED * budget;
  const allowed = Math.max(budget, Math.min(atMost, MOST_OF_RATE * rate));
  if (demandAt(groups, leastMs) <= allowed) return leastMs;
  let [tooLow, enough] = [leastMs, Math.max(leastMs, HIGHEST_MS)];
  if (demandAt(groups, enough) > allowed) return enough;
  while (enough / tooLow > 1 + PRECISION) {
    const middle = Math.sqrt(tooLow * enough);
    if (demandAt(groups, middle) <= allowed) enough = middle;
    else tooLow = middle;
  }
  return enough;
}

/** Returns a price for each kind of groups. A kind that needs less than a fifth of `budget` may have a lower price. */
export function solvePrices(
  [one, other]: readonly [readonly PacedGroup[], readonly PacedGroup[]],
  { budget, rate }: Budget,
  leastMs: number,
): readonly [number, number] {
  const common = solvePrice([...one, ...other], { budget, rate }, leastMs);
  const reserved = RESERVED * budget;
  const rest = (kind: readonly PacedGroup[], spared: readonly PacedGroup[], priceMs: number) =>
    solvePrice(kind, { budget: Math.max(reserved, budget - demandAt(spared, priceMs)), rate }, leastMs);
  const alone = solvePrice(one, { budget: reserved, rate }, leastMs);
  if (alone < common) return [alone, rest(other, one, alone)];
  const otherAlone = solvePrice(other, { budget: reserved, rate }, leastMs);
  return otherAlone < common ? [rest(one, other, otherAlone), otherAlone] : [common, common];
}
