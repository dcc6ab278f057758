import type { Clock } from '../clock.ts';

/** A hint may come before its commit can be read, and stand for later commits: the looks after it grow apart from here. */
const FIRST_MS = 1;
const FACTOR = 1.5;
/** A hint changes nothing while looks are closer together than this: a shop that inserts all the time costs no more looks. */
const CLOSE_MS = 50;

/** Tells when a database is to be looked at: soon after a hint that somebody wrote to it, and now and then without one. */
export class Looks {
  readonly #clock: Pick<Clock, 'sleep'>;
  #waitMs = Infinity;
  #isHinted = false;
  #wake: (() => void) | undefined;

  constructor(clock: Pick<Clock, 'sleep'>) {
    this.#clock = clock;
  }

  hint(): void {
    if (this.#waitMs < CLOSE_MS) return;
    this.#isHinted = true;
    this.#wake?.();
  }

  /** Waits for the next look, `longestMs` at most, or until `signal` aborts. */
  async next(longestMs: number, signal: AbortSignal): Promise<void> {
    const { promise: hinted, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const slept = this.#clock.sleep(Math.min(this.#waitMs, longestMs), signal).catch(() => undefined);
    if (!this.#isHinted) await Promise.race([slept, hinted]);
    this.#wake = undefined;
    this.#waitMs = this.#isHinted ? FIRST_MS : Math.min(FACTOR * this.#waitMs, longestMs);
    this.#isHinted = false;
  }
}
