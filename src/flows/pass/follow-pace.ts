import type { Config } from '../../config/config.ts';
import { longestFreshMs } from '../../domain/orders/schedule.ts';
import {
  EVERY_TICK,
  LEAST_GAP_MS,
  LONGEST_GAP_MS,
  PaceLearner,
  spacedPace,
  type LearnedPace,
  type Pace,
  type PaceLimits,
} from '../../domain/orders/pace/pace.ts';
import type { PacedOrder } from '../../domain/orders/pace/status.ts';

/** Settings that decide how soon orders are looked up again. */
export type PaceSettings = Pick<Config['follow'], 'pace' | 'worth' | 'share' | 'steps'> & {
  readonly freshFor: number;
  readonly rate: Config['exchange']['rate'];
  /** The number of accounts that share the rate. */
  readonly accounts: number;
};

/** The pace of an account: by the settings, or, where they say so, by what was learned last. */
export class FollowPace implements Pace {
  readonly kind: PaceSettings['pace'];
  readonly limits: PaceLimits;
  readonly #fixed: Pace | undefined;
  #learned: LearnedPace;
  #isLearned = false;

  constructor({ pace, worth, share, steps, freshFor, rate, accounts }: PaceSettings) {
    this.kind = pace;
    const perMs = rate.requests / rate.interval / accounts;
    this.limits = {
      leastMs: LEAST_GAP_MS,
      mostMs: Math.min(LONGEST_GAP_MS, longestFreshMs(freshFor)),
      worthMs: worth,
      rate: perMs,
      budget: share * perMs,
    };
    if (pace !== 'learned') this.#fixed = pace === 'spaced' ? spacedPace(steps, this.limits) : EVERY_TICK;
    this.#learned = new PaceLearner().pace(this.limits);
  }

  gapMs(order: PacedOrder, sinceChangeMs: number): number {
    return (this.#fixed ?? this.#learned).gapMs(order, sinceChangeMs);
  }

  /** It learns, and has learned nothing yet. */
  get isNew(): boolean {
    return this.#fixed === undefined && !this.#isLearned;
  }

  /** What was learned last, whether it is in force or not. */
  get learned(): LearnedPace {
    return this.#learned;
  }

  /** Goes by what was learned from now on. */
  take(learner: PaceLearner): void {
    this.#learned = learner.pace(this.limits);
    this.#isLearned = true;
  }
}
