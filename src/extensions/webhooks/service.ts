import type { ServiceMaker } from '../../daemon.ts';
import { webhooksSettings } from './settings.ts';
import { deleteSomeDeadLetters, Webhooks } from './webhooks.ts';

export const webhooksService: ServiceMaker = {
  async start(deps) {
    const { retention, webhooks: settings } = webhooksSettings.of(deps.config);
    deps.services.purges.push({ name: 'deadLetters', ageMs: retention.deadLetters, deleteSome: deleteSomeDeadLetters });
    const webhooks = new Webhooks({ ...deps, ...settings });
    return { take: (lease) => webhooks.take(lease), work: webhooks.run() };
  },
};
