import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { systemClock } from '../../../clock.ts';
import { EXIT } from '../../shared/exit.ts';
import { plainConfig } from '../../shared/options.ts';
import { endpointOf, outcomeText, senderTo } from './endpoint.ts';

/** `order-sync webhooks test`. */
export function define(command: Command): void {
  command
    .description('sends one message of the type webhook.test to an endpoint, whatever types it asks for')
    .argument('<name>', 'the endpoint')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync webhooks test https://shop.example/events')
    .action(async (name: string, options: { readonly json?: boolean }) => {
      const endpoint = endpointOf(plainConfig(command), name);
      using sender = await senderTo(endpoint);
      const timestamp = systemClock().now().toISOString();
      const message = { version: 1, id: `test_${randomUUID()}`, type: 'webhook.test', timestamp, data: {} };
      const outcome = await sender.send(message);
      const text = options.json === true ? JSON.stringify({ id: message.id, ...outcome }) : outcomeText(outcome);
      process.stdout.write(`${text}\n`);
      if (outcome.kind !== 'taken') process.exitCode = EXIT.look;
    });
}
