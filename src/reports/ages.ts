import { instantMs } from '../domain/instant.ts';
import type { AgeGroup, OldestOrder } from './ageing.ts';

interface Group extends Pick<AgeGroup, 'state' | 'status' | 'pair'> {
  /** Milliseconds since 1970; NaN for a time that cannot be read. */
  readonly times: number[];
}

/** The ages of orders by state, order status and pair. It keeps 8 bytes an order, and the oldest of some states whole. */
export class Ages {
  readonly #states: readonly string[];
  readonly #limit: number;
  readonly #groups = new Map<string, Group>();
  #oldest: OldestOrder[] = [];
  orders = 0;

  /** Of the orders in one of these states, the `limit` oldest are named. */
  constructor(states: readonly string[], limit: number) {
    this.#states = states;
    this.#limit = limit;
  }

  add(order: OldestOrder): void {
    const { state, status, pair, since } = order;
    const key = `${state}\n${status === null ? '' : `=${status}`}\n${pair}`;
    const group = this.#groups.get(key) ?? { state, status, pair, times: [] };
    this.#groups.set(key, group);
    group.times.push(instantMs(since) ?? Number.NaN);
    this.orders += 1;
    if (this.#states.includes(state)) this.#addOldest(order);
  }

  byPair(): readonly AgeGroup[] {
    return this.#sorted().map(({ times, ...group }) => ({ ...group, ...percentiles(times) }));
  }

  byStatus(): readonly AgeGroup[] {
    const groups = Map.groupBy(this.#sorted(), ({ state, status }) => JSON.stringify([state, status]));
    return [...groups.values()].map((same) => ({
      state: same[0]?.state ?? '',
      status: same[0]?.status ?? null,
      pair: null,
      ...percentiles(same.flatMap(({ times }) => times)),
    }));
  }

  oldest(): readonly OldestOrder[] {
    return this.#oldest.toSorted(compareAges).slice(0, this.#limit);
  }

  #addOldest(order: OldestOrder): void {
    this.#oldest.push(order);
    // Now and then only: an order costs no search among the oldest.
    if (this.#oldest.length >= 2 * this.#limit + 1_000) this.#oldest = [...this.oldest()];
  }

  #sorted(): readonly Group[] {
    return [...this.#groups].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
  }
}

function compareAges(a: OldestOrder, b: OldestOrder): number {
  if (a.since !== b.since) return a.since < b.since ? -1 : 1;
  if (a.id !== b.id) return a.id < b.id ? -1 : 1;
  return a.account < b.account ? -1 : 1;
}

/** A percentile is the smallest age that so many in a hundred do not exceed: one of the ages themselves. */
function percentiles(times: readonly number[]): Omit<AgeGroup, 'state' | 'status' | 'pair'> {
  const orders = times.length;
  // Sorts without a function to compare by: numbers, and what is none at the end.
  const oldestFirst = Float64Array.from(times).toSorted();
  const at = (percent: number) => timeOf(oldestFirst[orders - Math.ceil((orders * percent) / 100)]);
  const halves = { p1: at(1), p25: at(25), p50: at(50), p75: at(75) };
  return { orders, ...halves, p90: at(90), p99: at(99), longest: at(100) };
}

/** Empty for a time that could not be read. */
function timeOf(ms: number | undefined): string {
  return ms === undefined || Number.isNaN(ms) ? '' : new Date(ms).toISOString();
}
