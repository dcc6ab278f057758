import type { Config } from '../../config/config.ts';
import { FollowPace, type SharedDemand } from './follow-pace.ts';

type FlowConfig = Pick<Config, 'create' | 'follow' | 'reconcile' | 'exchange'>;

/** The settings of the flows of an account, with a pace that has learned nothing yet; `shared` is of the accounts that share the rate. */
export function flowSettings({ create, follow, reconcile, exchange }: FlowConfig, shared?: SharedDemand) {
  const { rate, outputPosition } = exchange;
  const pace = new FollowPace({ ...follow, freshFor: reconcile.freshFor, rate }, shared);
  return { ...create, ...follow, ...reconcile, outputPosition, pace };
}
