import { STUCK_AFTER_MS } from '../../findings/rules/age.ts';
import type { Config } from '../../settings/config.ts';
import type { AgedOrder } from '../../store/orders/orders-with-records.ts';
import type { Pace, PacedOrder } from '../rules/lookup.ts';
import type { HeardAccount, OverdueLookups } from './process-events.ts';

export type PaceDeps = Pick<HeardAccount, 'account' | 'store' | 'clock'>;

export interface FollowPace extends Pace {
  /** True if each cron tick makes all orders of `PACED_STATES` due. A tick ends when all of them were looked up. */
  readonly isEveryTick: boolean;
  /** A look-up is overdue if it has been due for longer than this. */
  readonly overdueAfterMs: number;
  /** Learns how soon orders change, unless this pace has learned already. Call before the first look-ups. */
  learnFirst(deps: PaceDeps, signal: AbortSignal): Promise<void>;
  learn(deps: PaceDeps, signal: AbortSignal): Promise<void>;
  beginLesson(deps: PaceDeps, signal: AbortSignal): Promise<Lesson>;
  explain(deps: PaceDeps, order: PacedOrder, forMs: number, signal: AbortSignal): Promise<ExplainedPace>;
}

/** `text` says to people when an order is looked up. `learned` has the facts behind `text`, for programs. */
export interface ExplainedPace {
  readonly kind: 'every-tick' | 'learned';
  readonly text: string;
  readonly learned?: object;
}

export interface Lesson {
  /** An open order is stuck if it has not changed for longer than this, in milliseconds. */
  readonly stuckAfter: number;
  see(page: readonly AgedOrder[], now: Date): void;
  /** Returns the overdue look-ups of all pages; undefined if none is overdue. */
  end(): OverdueLookups | undefined;
}

/** The settings on which the times of look-ups depend. An extension reads its own settings from `follow`. */
export type PaceSettings = Pick<Config, 'follow' | 'reconcile' | 'exchange' | 'schedule'>;

/** Makes the paces of accounts that share a rate limit. `accounts` is the number of all these accounts. */
export type PaceMaker = (accounts: number) => (settings: PaceSettings) => FollowPace;

/** The pace of the core. The order that was looked up least recently goes first. */
export const EVERY_TICK: FollowPace = {
  isEveryTick: true,
  overdueAfterMs: Number.POSITIVE_INFINITY,
  gapMs: () => 1,
  learnFirst: async () => {},
  learn: async () => {},
  beginLesson: async () => ({ stuckAfter: STUCK_AFTER_MS, see: () => {}, end: () => undefined }),
  explain: async () => ({ kind: 'every-tick', text: 'It is looked up at each tick of schedule.cron (follow.pace).' }),
};
