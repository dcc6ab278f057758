import type { Times } from '../../reports/status/status.ts';

/** How many of the newest times are kept. */
const KEPT = 200;

/** The newest times of a kind, in milliseconds, and how many there were. */
export class NewestTimes {
  readonly #times = new Float32Array(KEPT);
  #count = 0;

  add(ms: number): void {
    this.#times[this.#count % KEPT] = ms;
    this.#count += 1;
  }

  get count(): number {
    return this.#count;
  }

  get all(): Float32Array {
    return this.#times.subarray(0, Math.min(this.#count, KEPT));
  }
}

/** The quantiles of several kinds of times together. */
export function timesOf(parts: readonly NewestTimes[]): Times {
  const sorted = parts.flatMap(({ all }) => [...all]).toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
  return { count: parts.reduce((sum, { count }) => sum + count, 0), p50Ms: at(0.5), p99Ms: at(0.99) };
}
