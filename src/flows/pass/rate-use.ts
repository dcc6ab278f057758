import type { Config } from '../../config/config.ts';
import { groupOf, groupsOf } from '../../config/rate-groups.ts';
import type { RateUse } from '../../reports/status/status.ts';
import { RECENT_SECONDS, type Activities } from './activity.ts';

/**
 * Adds up the requests of the last seconds, and what the rate limits allow in that time: of an account, with those that share
 * its limit, or of all accounts of the settings.
 */
export function rateUse(
  activities: Pick<Activities, 'find'>,
  config: Pick<Config, 'accounts' | 'exchange'>,
  account: string | undefined,
): RateUse {
  const groups = account === undefined ? groupsOf(config) : [groupOf(config, account)];
  const exchanges = new Map(config.accounts.map(({ name, exchange }) => [name, exchange]));
  let [spent, requests] = [0, 0];
  for (const group of groups) {
    const { rate } = exchanges.get(group[0] ?? '') ?? config.exchange;
    requests += (rate.requests * RECENT_SECONDS * 1_000) / rate.interval;
    for (const name of group) spent += activities.find(name)?.recentRequests ?? 0;
  }
  return { spent, requests: Math.floor(requests), intervalMs: RECENT_SECONDS * 1_000 };
}
