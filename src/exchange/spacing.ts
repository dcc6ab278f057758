/** The part of the limit that is used; the rest is for requests that the network brings closer together. */
const USED = 0.95;
/** A start that comes late by less is made up for by the next ones: timers and commits delay single starts. */
const MOST_LATE_MS = 50;
/** The same as a part of the interval. It is less than the unused part, so that no window has more starts than the limit. */
const MOST_LATE = 1 / 25;
const SLOW_MS = 60_000;
const SLOWER = 2;

/** The distance between the starts of requests, on the monotonic clock: equal, and twice as long for a minute after a 429. */
export class Spacing {
  readonly #gapMs: number;
  readonly #mostLateMs: number;
  #nextAt = Number.NEGATIVE_INFINITY;
  #slowUntil = Number.NEGATIVE_INFINITY;

  constructor({ requests, intervalMs }: { readonly requests: number; readonly intervalMs: number }) {
    this.#gapMs = intervalMs / (USED * requests);
    this.#mostLateMs = Math.min(MOST_LATE_MS, intervalMs * MOST_LATE);
  }

  /** Milliseconds until one more request may start. */
  waitMs(now: number): number {
    return Math.max(0, this.#nextAt - now);
  }

  /** One request starts. After a time without any the next one waits for a whole gap: nothing is saved up. */
  start(now: number): void {
    const isLate = now - this.#nextAt <= this.#mostLateMs;
    const gapMs = now < this.#slowUntil ? this.#gapMs * SLOWER : this.#gapMs;
    this.#nextAt = (isLate ? this.#nextAt : now) + gapMs;
  }

  /** The exchange said at `now` that requests come too fast (429). */
  slowDown(now: number): void {
    this.#slowUntil = now + SLOW_MS;
  }
}
