import type { Config } from '../settings/config.ts';
import { EVERY_TICK, type FollowPace } from './pass/pace.ts';

/** The settings of the passes, as an account has them. */
export function flowSettings(config: Config, pace: FollowPace = EVERY_TICK) {
  const { create, follow, reconcile, exchange, accounts } = config;
  const { outputPosition } = exchange;
  // While half of the orders wait for their answers, the others are claimed and recorded.
  const passes = { pace, isOnlyAccount: accounts.length === 1, concurrency: exchange.concurrency * 2 };
  return { ...create, ...follow, ...reconcile, outputPosition, ...passes };
}
