import type { Logger } from 'pino';
import { CLOCKS_APART_MS, type Clock } from '../../clock.ts';

/** UTC that lags behind by more than this was set back; due times are off by no more in any case. */
const SET_BACK_MS = 500;

interface ClockWatchDeps {
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'databaseAheadMs'>;
  readonly log: Logger;
}

/**
 * Watches whether the clock was set back. What was planned under the clock before would be waited for until that time
 * comes again, so it becomes due now, as it does at a start. It also logs when the clocks of machine and database differ.
 */
export class ClockWatch {
  readonly #deps: ClockWatchDeps;
  readonly #onSetBack: () => Promise<void> | void;
  #aheadMs: number;
  #isApart = false;

  constructor(deps: ClockWatchDeps, onSetBack: () => Promise<void> | void) {
    this.#deps = deps;
    this.#onSetBack = onSetBack;
    this.#aheadMs = aheadOfMonotonic(deps.clock);
  }

  /** Has due times corrected where the clock was set back since the last look. Where it rejects, the next look does it again. */
  async correct(): Promise<void> {
    const { clock, log } = this.#deps;
    const aheadMs = aheadOfMonotonic(clock);
    if (aheadMs < this.#aheadMs - SET_BACK_MS) {
      log.warn({ byMs: Math.round(this.#aheadMs - aheadMs) }, 'the clock was set back, so what waits is due now');
      await this.#onSetBack();
    }
    this.#aheadMs = aheadMs;
    this.#tellApart();
  }

  #tellApart(): void {
    const { clock, log } = this.#deps;
    const { databaseAheadMs = 0 } = clock;
    const isApart = Math.abs(databaseAheadMs) >= CLOCKS_APART_MS;
    const facts = { databaseAheadMs: Math.round(databaseAheadMs) };
    if (isApart && !this.#isApart)
      log.warn(facts, 'the clock of this machine is not that of the database, which counts; check its time service');
    if (!isApart && this.#isApart) log.info(facts, 'the clock of this machine is that of the database again');
    this.#isApart = isApart;
  }
}

/** How far UTC is ahead of the monotonic clock, in ms: this changes only where UTC is set. */
function aheadOfMonotonic(clock: Pick<Clock, 'now' | 'monotonic'>): number {
  return clock.now().getTime() - clock.monotonic();
}
