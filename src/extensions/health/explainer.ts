import type { Clock } from '../../base/clock.ts';
import { EVERY_TICK, type FollowPace, type PaceMaker } from '../../orders/pass/pace.ts';
import { configOf, type Config } from '../../settings/config.ts';
import type { Store } from '../../store/port.ts';
import { explain, storyJson } from '../reports/story/read-story.ts';
import type { Activities } from './activity.ts';

interface ExplainerDeps {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly activities: Pick<Activities, 'find'>;
  readonly makePaces?: PaceMaker | undefined;
}

export type Explainer = (account: string, externalOrderId: string) => Promise<object | undefined>;

/** Tells the story of an order as `orders explain --json` does. Keeps each pace, because learning takes long. */
export function explainer({ config, store, clock, activities, makePaces }: ExplainerDeps): Explainer {
  const paces = new Map<string, FollowPace>();
  return async (account, externalOrderId) => {
    const isConfigured = config.accounts.some(({ name }) => name === account);
    const settings = isConfigured ? configOf(config, account) : { ...config, account };
    const paceOf = () => {
      const pace = paces.get(account) ?? makePaces?.(1)(settings) ?? EVERY_TICK;
      paces.set(account, pace);
      return pace;
    };
    const asOf = clock.now();
    const deps = { store: store.forAccount(account), clock, settings, paceOf };
    const told = await explain(deps, externalOrderId, asOf, activities.find(account)?.newsOf(externalOrderId, asOf));
    return told && storyJson(told.story);
  };
}
