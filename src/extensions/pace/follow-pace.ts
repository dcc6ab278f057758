import type { Config } from '../../settings/config.ts';
import { shortestCronGapMs } from '../../settings/cron.ts';
import { longestFreshMs } from '../../orders/rules/schedule.ts';
import {
  EVERY_TICK,
  LEAST_GAP_MS,
  LONGEST_GAP_MS,
  PaceLearner,
  type LearnedPace,
  type Pace,
  type PaceLimits,
} from './pace.ts';
import type { PacedOrder } from './status.ts';

export interface Learned {
  readonly changes: number;
  readonly lastId: number;
  readonly learner: PaceLearner;
  /** An order that has not changed for longer is stuck; in milliseconds. */
  readonly stuckAfter: number;
}

/** How long a plan counts: later the account may be driven no more. */
const PLANNED_FOR_MS = 60 * 60_000;

/** How late look-ups that are due at a tick may be, if the rate allows them. */
const LATE_MS = 60_000;

/** The look-ups that accounts plan which share a rate. */
export class SharedDemand {
  readonly accounts: number;
  readonly #planned = new Map<FollowPace, { readonly demand: number; readonly at: number }>();

  /** `accounts` is their number, whether they look orders up or not. */
  constructor(accounts: number) {
    this.accounts = accounts;
  }

  /** Look-ups a millisecond that one account may plan of `all`: the rest of the others, and an equal part in any case. */
  leftFor(account: FollowPace, all: number, now: number): number {
    let left = all;
    for (const [other, { demand, at }] of this.#planned) {
      if (other !== account && now - at < PLANNED_FOR_MS) left -= demand;
    }
    return Math.max(all / this.accounts, left);
  }

  plan(account: FollowPace, demand: number, now: number): void {
    this.#planned.set(account, { demand, at: now });
  }
}

type PaceSettings = Pick<Config['follow'], 'pace' | 'worth' | 'share'> & {
  readonly freshFor: number;
  readonly rate: Config['exchange']['rate'];
  /** The shortest time between two ticks of `schedule.cron`, in milliseconds. */
  readonly tickMs: number;
};

export class FollowPace implements Pace {
  readonly kind: PaceSettings['pace'];
  /** The limits of an account that has its rate for itself. */
  readonly limits: PaceLimits;
  history: Learned | undefined;
  readonly #shared: SharedDemand | undefined;
  #learned: LearnedPace;
  #isLearned = false;

  constructor({ pace, worth, share, freshFor, rate, tickMs }: PaceSettings, shared?: SharedDemand) {
    this.kind = pace;
    this.#shared = shared;
    const perMs = rate.requests / rate.interval;
    this.limits = {
      leastMs: LEAST_GAP_MS,
      tickMs,
      mostMs: Math.min(LONGEST_GAP_MS, longestFreshMs(freshFor)),
      worthMs: worth,
      rate: perMs,
      budget: share * perMs,
    };
    this.#learned = new PaceLearner().pace(this.limits);
  }

  gapMs(order: PacedOrder, sinceChangeMs: number): number {
    return (this.kind === 'every-tick' ? EVERY_TICK : this.#learned).gapMs(order, sinceChangeMs);
  }

  get isNew(): boolean {
    return this.kind === 'learned' && !this.#isLearned;
  }

  /** The pace that was learned last, whether it is in force or not. */
  get learned(): LearnedPace {
    return this.#learned;
  }

  /** An order whose look-up was due for longer waits for its turn, in milliseconds. With `every-tick` each is due all the time. */
  get overdueAfterMs(): number {
    return this.kind === 'every-tick' ? Number.POSITIVE_INFINITY : LATE_MS + (this.limits.tickMs ?? 0);
  }

  /** `now` is on the monotonic clock. */
  take(learner: PaceLearner, now: number): void {
    const left = (all: number) => this.#shared?.leftFor(this, all, now) ?? all;
    const limits = { ...this.limits, rate: left(this.limits.rate), budget: left(this.limits.budget) };
    this.#learned = learner.pace(limits);
    this.#shared?.plan(this, this.#learned.demand, now);
    this.#isLearned = true;
  }
}

/** The pace has learned nothing yet; `shared` is of the accounts that share the rate. */
export function flowSettings(config: Config, shared?: SharedDemand) {
  const { create, follow, reconcile, exchange, schedule, accounts, links } = config;
  const { rate, outputPosition } = exchange;
  const tickMs = shortestCronGapMs(schedule.cron);
  const pace = new FollowPace({ ...follow, freshFor: reconcile.freshFor, rate, tickMs }, shared);
  // While half of the orders wait for their answers, the others are claimed and recorded.
  const passes = { pace, links, isOnlyAccount: accounts.length === 1, concurrency: exchange.concurrency * 2 };
  return { ...create, ...follow, ...reconcile, outputPosition, ...passes };
}
