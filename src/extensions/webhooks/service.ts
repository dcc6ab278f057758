import type { ServiceMaker } from '../../daemon.ts';
import { webhooksSettings } from './settings.ts';
import { Webhooks } from './webhooks.ts';

/** Sends the events of the accounts that this process drives. */
export const webhooksService: ServiceMaker = {
  async start(deps) {
    const webhooks = new Webhooks({ ...deps, ...webhooksSettings.of(deps.config).webhooks });
    return { take: (lease) => webhooks.take(lease), work: webhooks.run() };
  },
};
