/** So many requests in any window of so many milliseconds, at most. */
export interface RateLimit {
  readonly requests: number;
  readonly intervalMs: number;
}

/**
 * Counts requests in a sliding window of monotonic time. A request counts from its start until `intervalMs` after its
 * end: the exchange saw it somewhere in between, so that no window the exchange can measure holds more than the limit.
 */
export class RateWindow {
  readonly #limit: RateLimit;
  readonly #ended: number[] = [];
  #running = 0;

  constructor(limit: RateLimit) {
    this.#limit = limit;
  }

  /** Milliseconds until one more request may start: 0 for now, undefined until one that is running has ended. */
  waitMs(now: number): number | undefined {
    while (this.#ended[0] !== undefined && this.#ended[0] + this.#limit.intervalMs <= now) this.#ended.shift();
    const counted = this.#running + this.#ended.length;
    if (counted < this.#limit.requests) return 0;
    const oldest = this.#ended[0];
    return oldest === undefined ? undefined : oldest + this.#limit.intervalMs - now;
  }

  /** One request starts. */
  start(): void {
    this.#running += 1;
  }

  /** It has ended at `now`; one that was proved not to have left does not count. */
  end(now: number, wasSent: boolean): void {
    this.#running -= 1;
    if (wasSent) this.#ended.push(now);
  }
}
