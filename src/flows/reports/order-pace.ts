import { instantMs } from '../../domain/instant.ts';
import { PaceLearner } from '../../domain/orders/pace/pace.ts';
import { isPaced, statusKey, statusName, type PacedOrder } from '../../domain/orders/pace/status.ts';
import { ageBy } from '../../domain/orders/pace/stay-times.ts';
import type { StoryPace } from '../../reports/story/pace.ts';
import type { FlowDeps } from '../pass/deps.ts';
import { readHistory } from '../pass/learn-pace.ts';
import type { FollowPace } from '../pass/follow-pace.ts';

/** What the pace of an account is read with: nothing is written. */
type PaceDeps = Pick<FlowDeps, 'account' | 'store' | 'clock'> & { readonly pace: FollowPace };

/** Gives what decides when an order is looked up as it is now; undefined where it is not looked up at a pace. */
export async function paceOfOrder(
  { pace, ...deps }: PaceDeps,
  order: PacedOrder & { readonly changedAt: string | null },
  signal: AbortSignal,
): Promise<StoryPace | undefined> {
  const { changedAt: since } = order;
  const sinceMs = instantMs(since);
  if (!isPaced(order.state) || since === null || sinceMs === undefined) return undefined;
  const of = { status: statusName(order), since };
  if (pace.kind === 'every-tick') return { kind: pace.kind, ...of };
  const { stays: ended, from } = await readHistory(deps, signal);
  const learned = new PaceLearner(ended, from).pace(pace.limits);
  const key = statusKey(order);
  const stays = learned.statuses.find((one) => one.key === key)?.stays ?? 0;
  return { kind: pace.kind, ...of, stays, halfMs: ageBy(0.5, learned.hazardsOf(key)) };
}
