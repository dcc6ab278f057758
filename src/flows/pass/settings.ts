import type { Config } from '../../config/config.ts';
import { shortestCronGapMs } from '../../config/cron.ts';
import { FollowPace, type SharedDemand } from './follow-pace.ts';

type FlowConfig = Pick<Config, 'create' | 'follow' | 'reconcile' | 'exchange' | 'schedule' | 'accounts'>;

/** The settings of the flows of an account, with a pace that has learned nothing yet; `shared` is of the accounts that share the rate. */
export function flowSettings(
  { create, follow, reconcile, exchange, schedule, accounts }: FlowConfig,
  shared?: SharedDemand,
) {
  const { rate, outputPosition } = exchange;
  const tickMs = shortestCronGapMs(schedule.cron);
  const pace = new FollowPace({ ...follow, freshFor: reconcile.freshFor, rate, tickMs }, shared);
  return { ...create, ...follow, ...reconcile, outputPosition, pace, isOnlyAccount: accounts.length === 1 };
}
