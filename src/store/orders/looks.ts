import type { Clock } from '../../base/clock.ts';

/** The first wait after a hint. More looks follow, because the hinted commit may become readable later. */
const FIRST_MS = 1;
const FACTOR = 1.5;
/** While the wait is shorter than this, hints are ignored, so that constant inserts do not cause constant looks. */
const CLOSE_MS = 50;

/** Sets the waits between looks at a database: short after a hint that another program wrote, then growing. */
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

  async next(longestMs: number, signal: AbortSignal): Promise<void> {
    const { promise: hinted, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    if (!this.#isHinted) {
      const slept = this.#clock.sleep(Math.min(this.#waitMs, longestMs), signal).catch(() => undefined);
      await Promise.race([slept, hinted]);
    }
    this.#wake = undefined;
    this.#waitMs = this.#isHinted ? FIRST_MS : Math.min(FACTOR * this.#waitMs, longestMs);
    this.#isHinted = false;
  }
}
