import type { ServiceMaker } from '../../daemon.ts';
import { purgeDeadLetters, Webhooks } from './webhooks.ts';

/** Sends the events of the accounts that this process drives. */
export const webhooksService: ServiceMaker = {
  async start(deps) {
    deps.services.purges.deadLetters = purgeDeadLetters;
    const webhooks = new Webhooks({ ...deps, ...deps.config.webhooks });
    return { take: (lease) => webhooks.take(lease), work: webhooks.run() };
  },
};
