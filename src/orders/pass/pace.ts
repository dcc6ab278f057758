import { STUCK_AFTER_MS } from '../../findings/rules/age.ts';
import type { AgedOrder } from '../../store/orders/orders-with-records.ts';
import type { Pace, PacedOrder } from '../rules/lookup.ts';
import type { HeardAccount, OverdueLookups } from './process-events.ts';

export type PaceDeps = Pick<HeardAccount, 'account' | 'store' | 'clock'>;

export interface FollowPace extends Pace {
  /** Every order is due at each tick of `schedule.cron`; the next tick begins once all were looked up that were due. */
  readonly isEveryTick: boolean;
  /** An order whose look-up was due for longer waits for its turn, in milliseconds. */
  readonly overdueAfterMs: number;
  /** Learns before the first look-ups, unless it has learned already. */
  learnFirst(deps: PaceDeps, signal: AbortSignal): Promise<void>;
  learn(deps: PaceDeps, signal: AbortSignal): Promise<void>;
  beginLesson(deps: PaceDeps, signal: AbortSignal): Promise<Lesson>;
  explain(deps: PaceDeps, order: PacedOrder, forMs: number, signal: AbortSignal): Promise<ExplainedPace>;
}

/** When an order is looked up, in a sentence; and what was learned of orders like it, for programs. */
export interface ExplainedPace {
  readonly kind: 'every-tick' | 'learned';
  readonly text: string;
  readonly learned?: object;
}

export interface Lesson {
  /** An order that has not changed for longer is stuck; in milliseconds. */
  readonly stuckAfter: number;
  see(page: readonly AgedOrder[], now: Date): void;
  /** Returns the orders that wait for their turn; undefined if no order does. */
  end(): OverdueLookups | undefined;
}

/** The settings by which look-ups are spaced; an extension reads its own out of `follow`. */
export interface PaceSettings {
  readonly follow: object;
  readonly reconcile: { readonly freshFor: number };
  readonly exchange: { readonly rate: { readonly requests: number; readonly interval: number } };
  readonly schedule: { readonly cron: string };
}

/** Makes the paces of accounts that share a rate limit; `accounts` is their number, whether they look orders up or not. */
export type PaceMaker = (accounts: number) => (settings: PaceSettings) => FollowPace;

/** The pace of the core: of the orders that are due, the one that was looked up least recently goes first. */
export const EVERY_TICK: FollowPace = {
  isEveryTick: true,
  overdueAfterMs: Number.POSITIVE_INFINITY,
  gapMs: () => 1,
  learnFirst: async () => {},
  learn: async () => {},
  beginLesson: async () => ({ stuckAfter: STUCK_AFTER_MS, see: () => {}, end: () => undefined }),
  explain: async () => ({ kind: 'every-tick', text: 'It is looked up at each tick of schedule.cron (follow.pace).' }),
};
