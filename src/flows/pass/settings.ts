import type { Config } from '../../config/config.ts';
import { FollowPace } from './follow-pace.ts';

type FlowConfig = Pick<Config, 'create' | 'follow' | 'reconcile' | 'exchange'>;

/** The settings of the flows of an account, with a pace that has learned nothing yet; `accounts` share the rate. */
export function flowSettings({ create, follow, reconcile, exchange }: FlowConfig, accounts = 1) {
  const { rate, outputPosition } = exchange;
  const pace = new FollowPace({ ...follow, freshFor: reconcile.freshFor, rate, accounts });
  return { ...create, ...follow, ...reconcile, outputPosition, pace };
}
