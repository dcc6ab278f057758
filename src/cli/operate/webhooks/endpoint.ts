import type { Config } from '../../../config/config.ts';
import { programVersion } from '../../../config/version.ts';
import type { WebhookEndpoint } from '../../../config/webhooks.ts';
import { systemClock } from '../../../clock.ts';
import { suggestion } from '../../../domain/suggestion.ts';
import type { DeliveryOutcome } from '../../../domain/events/delivery.ts';
import type { WebhookSender } from '../../../flows/webhooks/sender.ts';
import { CommandError, EXIT } from '../../shared/exit.ts';

/** The endpoint of the settings with this name. Throws `CommandError` where there is none. */
export function endpointOf({ webhooks }: Pick<Config, 'webhooks'>, name: string): WebhookEndpoint {
  const names = webhooks.endpoints.map((one) => one.name);
  const found = webhooks.endpoints.find((one) => one.name === name);
  if (found !== undefined) return found;
  const meant = suggestion(name, names);
  const advice = meant === undefined ? 'order-sync webhooks list shows them' : `did you mean ${meant}?`;
  throw new CommandError(EXIT.absent, `webhooks.endpoints names no endpoint ${name}; ${advice}`);
}

/** Opens the way to an endpoint; what sends is loaded only then. */
export async function senderTo(endpoint: WebhookEndpoint): Promise<WebhookSender> {
  const { webhookSender } = await import('../../../flows/webhooks/sender.ts');
  return webhookSender({ endpoint, clock: systemClock(), version: programVersion() });
}

/** What became of a message, in words. */
export function outcomeText(outcome: DeliveryOutcome): string {
  if (outcome.kind === 'taken') return 'taken';
  return outcome.kind === 'refused' ? `refused with ${outcome.status}` : `not taken: ${outcome.cause}`;
}
