import { after } from '../../base/instant.ts';
import { EVERY_TICK } from '../../orders/pass/pace.ts';
import type { ExplainedPace, FollowPace, Lesson, PaceDeps, PaceSettings } from '../../orders/pass/pace.ts';
import type { OverdueLookups } from '../../orders/pass/process-events.ts';
import { LEAST_GAP_MS, type PacedOrder } from '../../orders/rules/lookup.ts';
import { longestLookupGapMs } from '../../orders/rules/schedule.ts';
import { isPaced, PACED_STATES } from '../../orders/rules/states.ts';
import { isAnythingAwaited } from '../../store/orders/due-times.ts';
import { orderAges } from '../../store/orders/orders-with-records.ts';
import { explainLearned } from './explain.ts';
import { learnHistory, type Learned } from './learn-pace.ts';
import { LONGEST_GAP_MS, PaceLearner, type LearnedPace, type PaceLimits } from './pace.ts';
import { shortestCronGapMs } from './cron-gap.ts';
import { paceSettings } from './settings.ts';
import { withOverdue } from './status.ts';

/** How long an account's plan counts, in ms. Later, another process may own the account and plan its look-ups. */
const PLANNED_FOR_MS = 60 * 60_000;

const LATE_MS = 60_000;

/** For each account of one rate limit: the planned look-ups per ms, and when they were planned, in monotonic ms. */
type Planned = Map<LearningPace, { readonly demand: number; readonly at: number }>;

export class LearningPace implements FollowPace {
  readonly isEveryTick: boolean;
  readonly overdueAfterMs: number;
  readonly limits: PaceLimits;
  history: Learned | undefined;
  learned: LearnedPace;
  isNew: boolean;
  readonly #accounts: number;
  readonly #planned: Planned;

  /** `accounts` is the number of accounts that share the rate limit. They write their plans into `planned`. */
  constructor(config: PaceSettings, accounts: number, planned: Planned) {
    const { reconcile, exchange, schedule } = config;
    const { follow } = paceSettings.of(config);
    const tickMs = shortestCronGapMs(schedule.cron);
    const perMs = exchange.rate.requests / exchange.rate.interval;
    this.isEveryTick = follow.pace === 'every-tick';
    this.isNew = !this.isEveryTick;
    this.overdueAfterMs = this.isEveryTick ? EVERY_TICK.overdueAfterMs : LATE_MS + tickMs;
    this.#accounts = accounts;
    this.#planned = planned;
    this.limits = {
      leastMs: LEAST_GAP_MS,
      tickMs,
      mostMs: Math.min(LONGEST_GAP_MS, longestLookupGapMs(reconcile.freshFor)),
      worthMs: follow.worth,
      rate: perMs,
      budget: follow.share * perMs,
    };
    this.learned = new PaceLearner().pace(this.limits);
  }

  gapMs(order: PacedOrder, sinceChangeMs: number): number {
    return (this.isEveryTick ? EVERY_TICK : this.learned).gapMs(order, sinceChangeMs);
  }

  /** Learns if nothing was learned yet and an order waits. Without waiting orders, the history is not needed. */
  async learnFirst(deps: PaceDeps, signal: AbortSignal): Promise<void> {
    if (this.isNew && (await isAnythingAwaited(deps.store.db, deps.account))) await this.learn(deps, signal);
  }

  async learn(deps: PaceDeps, signal: AbortSignal): Promise<void> {
    const lesson = await this.beginLesson(deps, signal);
    for await (const page of orderAges(deps, PACED_STATES, signal)) lesson.see(page, deps.clock.now());
    lesson.end();
  }

  /** Returns a lesson that reads pages of orders, because the number and ages of orders decide the price of look-ups. */
  async beginLesson(deps: PaceDeps, signal: AbortSignal): Promise<Lesson> {
    const history = await learnHistory(deps, this.history, signal);
    if (!signal.aborted) this.history = history;
    const learner = history.learner.again();
    let overdue: OverdueLookups | undefined;
    return {
      stuckAfter: history.stuckAfter,
      see: (page, now) => {
        for (const order of page) if (isPaced(order.state)) learner.addOrder(order, now);
        overdue = withOverdue(overdue, page, after(now, -this.overdueAfterMs));
      },
      end: () => {
        if (!signal.aborted) this.take(learner, deps.clock.monotonic());
        return overdue;
      },
    };
  }

  async explain(deps: PaceDeps, order: PacedOrder, forMs: number, signal: AbortSignal): Promise<ExplainedPace> {
    if (this.isEveryTick) return await EVERY_TICK.explain(deps, order, forMs, signal);
    this.history = await learnHistory(deps, this.history, signal);
    return explainLearned(this.history.learner.again().pace(this.limits), order, forMs);
  }

  /** Plans with the rate that other accounts leave, or an equal part if that is more. `now` is in monotonic ms. */
  take(learner: PaceLearner, now: number): void {
    let others = 0;
    for (const [other, { demand, at }] of this.#planned)
      if (other !== this && now - at < PLANNED_FOR_MS) others += demand;
    const left = (all: number) => Math.max(all / this.#accounts, all - others);
    const { rate, budget } = this.limits;
    this.learned = learner.pace({ ...this.limits, rate: left(rate), budget: left(budget) });
    this.#planned.set(this, { demand: this.learned.demand, at: now });
    this.isNew = false;
  }
}

export function learningPaces(accounts: number) {
  const planned: Planned = new Map();
  return (settings: PaceSettings) => new LearningPace(settings, accounts, planned);
}
