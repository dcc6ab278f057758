import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { CommandError, EXIT } from '../../shared/exit.ts';
import { plainConfig } from '../../shared/options.ts';
import { endpointOf } from './endpoint.ts';

interface VerifyOptions {
  readonly id: string;
  readonly timestamp: string;
  readonly signature: string;
}

/** `order-sync webhooks verify`: for those who write a receiver. */
export function define(command: Command): void {
  command
    .description(
      'says whether a message that was received is signed with a secret of an endpoint, and not older than 5 minutes',
    )
    .argument('<name>', 'the endpoint')
    .argument('<file>', 'the body as it was received, byte for byte; - is standard input')
    .requiredOption('--id <text>', 'the header webhook-id')
    .requiredOption('--timestamp <seconds>', 'the header webhook-timestamp')
    .requiredOption('--signature <text>', 'the header webhook-signature')
    .addHelpText(
      'after',
      "\nExample:\n  order-sync webhooks verify https://shop.example/events body.json \\\n    --id evt_1 --timestamp 1767225600 --signature 'v1,…'",
    )
    .action(async (name: string, file: string, { id, timestamp, signature }: VerifyOptions) => {
      const { secrets } = endpointOf(plainConfig(command), name);
      const body = readFileSync(file === '-' ? 0 : file);
      const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
      const { Webhook } = await import('standardwebhooks');
      const reasons = secrets.map((secret) =>
        reasonAgainst(() => new Webhook(secret).verify(body, headers, { jsonParse: false })),
      );
      if (!reasons.includes(undefined)) throw new CommandError(EXIT.data, `the message is not verified: ${reasons[0]}`);
      process.stdout.write('the message is verified\n');
    });
}

/** What is wrong with the signature; undefined where it is right. */
function reasonAgainst(verify: () => unknown): string | undefined {
  try {
    verify();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
