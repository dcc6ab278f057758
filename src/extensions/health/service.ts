import { programVersion } from '../../base/places.ts';
import type { ServiceMaker } from '../../daemon.ts';
import { Activities } from './activity.ts';
import { explainer, type Explainer } from './explainer.ts';
import { sendHeartbeats } from './ops/readiness.ts';
import { serveOps } from './ops/server.ts';
import type { StatusSources } from './status/read-status.ts';

declare module '../../daemon.ts' {
  interface Services {
    status?: () => StatusSources;
    explain?: Explainer;
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
