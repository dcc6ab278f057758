import type { Span } from '../../formats/document.ts';

/** Steps for each doubling of a duration: percentiles are right to a tenth, enough for a chart. */
const STEPS_A_DOUBLING = 8;
/** An exchange may send a new status with each order: further names are counted together. */
const MOST_NAMES = 200;

/** Durations, counted by about how long they are. Memory does not grow with them. */
export class Histogram {
  readonly #counts = new Map<number, number>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(ms: number): void {
    this.#addSteps(Math.round(Math.log2(ms / 1_000 + 1) * STEPS_A_DOUBLING), 1);
  }

  addAll(other: Histogram): void {
    for (const [steps, count] of other.#counts) this.#addSteps(steps, count);
  }

  /** The percentiles, to a tenth; a percentile is the smallest duration that so many in a hundred do not exceed. */
  span(): Span {
    const steps = [...this.#counts].toSorted(([a], [b]) => a - b);
    const at = (percent: number) => {
      let below = 0;
      const found = steps.find(([, count]) => (below += count) * 100 >= this.#count * percent);
      return Math.round((2 ** ((found?.[0] ?? 0) / STEPS_A_DOUBLING) - 1) * 1_000);
    };
    return { p1: at(1), p25: at(25), p50: at(50), p75: at(75), p99: at(99) };
  }

  #addSteps(steps: number, count: number): void {
    this.#counts.set(steps, (this.#counts.get(steps) ?? 0) + count);
    this.#count += count;
  }
}

/** A histogram for each name, of a bounded number of names. */
export class Histograms {
  readonly #byName = new Map<string, Histogram>();
  readonly #others = new Histogram();

  add(name: string, ms: number): void {
    const known = this.#byName.get(name);
    if (known !== undefined) return known.add(ms);
    if (this.#byName.size === MOST_NAMES) return this.#others.add(ms);
    const histogram = new Histogram();
    histogram.add(ms);
    this.#byName.set(name, histogram);
  }

  get(name: string): Histogram | undefined {
    return this.#byName.get(name);
  }

  /** Of all names together. */
  all(): Histogram {
    const all = new Histogram();
    for (const histogram of [...this.#byName.values(), this.#others]) all.addAll(histogram);
    return all;
  }

  /** Those that count the most, and all others as one of the name `others`. */
  greatest(most: number, others: string): readonly (readonly [name: string, histogram: Histogram])[] {
    const sorted = [...this.#byName].toSorted(([a, one], [b, other]) => other.count - one.count || (a < b ? -1 : 1));
    const rest = new Histogram();
    for (const [, histogram] of sorted.slice(most)) rest.addAll(histogram);
    rest.addAll(this.#others);
    return [...sorted.slice(0, most), ...(rest.count > 0 ? [[others, rest] as const] : [])];
  }
}
