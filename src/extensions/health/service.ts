import { programVersion } from '../../base/version.ts';
import type { AppParts } from '../../app.ts';
import type { ServiceDeps, ServiceMaker } from '../../daemon.ts';
import { EVERY_TICK, type FollowPace } from '../../orders/pass/pace.ts';
import { configOf } from '../../settings/config.ts';
import { explain, storyJson } from '../reports/story/read-story.ts';
import { Activities } from './activity.ts';
import { sendHeartbeats } from './ops/readiness.ts';
import { serveOps } from './ops/server.ts';
import type { StatusSources } from './status/read-status.ts';

declare module '../../daemon.ts' {
  interface Services {
    status?: () => StatusSources;
    explain?: ReturnType<typeof explainer>;
  }
}

export const healthService: ServiceMaker = {
  async start(deps) {
    const { accounts, clock, parts, services, stop } = deps;
    const activities = new Activities(clock);
    const heedDecision = (name: string) => accounts.heedDecision(name);
    const version = programVersion();
    const ops = await serveOps({ ...deps, ...parts, activities, heedDecision, version }, stop);
    const process = { pid: globalThis.process.pid, version, startedAt: clock.now().toISOString() };
    services.status = () => ({ ...deps, activities, ops, process });
    services.explain = explainer({ ...deps, ...parts, activities });
    return {
      listeners: [activities.listener],
      take: (lease) => void (activities.lease = lease),
      work: sendHeartbeats({ ...deps, activities }, stop),
      close: () => ops.close(),
    };
  },
};

type ExplainerDeps = Pick<ServiceDeps, 'config' | 'store' | 'clock'> &
  Pick<AppParts, 'makePaces'> & { readonly activities: Activities };

/** Returns a function that explains an order like `orders explain --json`. Keeps paces, which are slow to learn. */
export function explainer({ config, store, clock, activities, makePaces }: ExplainerDeps) {
  const paces = new Map<string, FollowPace>();
  return async (account: string, externalOrderId: string): Promise<object | undefined> => {
    const isConfigured = config.accounts.some(({ name }) => name === account);
    const settings = isConfigured ? configOf(config, account) : { ...config, account };
    const paceOf = () => {
      const pace = paces.get(account) ?? makePaces?.(1)(settings) ?? EVERY_TICK;
      paces.set(account, pace);
      return pace;
    };
    const asOf = clock.now();
    const deps = { store: store.forAccount(account), clock, settings, paceOf };
    const news = activities.find(account)?.newsOf(externalOrderId, asOf);
    const explained = await explain(deps, externalOrderId, asOf, news);
    return explained && storyJson(explained.story);
  };
}
