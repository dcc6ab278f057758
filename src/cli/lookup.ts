import type { Command } from 'commander';
import type { App } from '../app.ts';
import type { ReadAnswer } from '../exchange/client.ts';
import { EXIT } from './exit.ts';
import { exchangeConfig } from './options.ts';
import { throughOwner } from './owner.ts';

/** `order-sync lookup` (§4.11) and `order-sync pre-order show` (§4.10): what the exchange answers now. */
export function registerLookup(program: Command): void {
  program
    .command('lookup')
    .description('the order record of an external order id (§4.11), as the exchange answers now')
    .argument('<externalOrderId>')
    .option('--json', 'the answer is JSON in any case')
    .addHelpText('after', '\nExample:\n  order-sync lookup shop-1001')
    .action(async (externalOrderId: string) => {
      const path = `/orders?externalOrderId=${encodeURIComponent(externalOrderId)}`;
      await show(program, path, `no order with the external order id ${JSON.stringify(externalOrderId)}`, (app) =>
        app.exchange.showOrder(externalOrderId),
      );
    });
  program
    .command('pre-order')
    .description('pre-orders at the exchange')
    .command('show')
    .description('the pre-order of an id (§4.10), as the exchange answers now')
    .argument('<preOrderId>')
    .option('--json', 'the answer is JSON in any case')
    .addHelpText('after', '\nExample:\n  order-sync pre-order show 4be1c7')
    .action(async (preOrderId: string) => {
      const path = `/pre-orders/${encodeURIComponent(preOrderId)}`;
      await show(program, path, `no pre-order with the id ${JSON.stringify(preOrderId)}`, (app) =>
        app.exchange.showPreOrder(preOrderId),
      );
    });
}

async function show(
  program: Command,
  path: string,
  absent: string,
  alone: (app: App) => Promise<ReadAnswer>,
): Promise<void> {
  const config = exchangeConfig(program);
  const answer = await throughOwner(config, async (call) => await first(call('GET', path)), alone);
  if (answer.kind === 'found') {
    process.stdout.write(`${answer.body}\n`);
    return;
  }
  const [message, code] = explain(answer, absent);
  process.stderr.write(`${message}\n`);
  process.exitCode = code;
}

async function first(lines: AsyncGenerator<unknown>): Promise<ReadAnswer> {
  for await (const line of lines) return line as ReadAnswer;
  throw new Error('the daemon stopped before it answered; try again');
}

function explain(answer: Exclude<ReadAnswer, { kind: 'found' }>, absent: string): [string, number] {
  switch (answer.kind) {
    case 'refused':
      if (answer.httpStatus === 404) return [`${absent} at the exchange`, EXIT.look];
      return [`the exchange refused: HTTP ${answer.httpStatus} ${answer.error.message}`, EXIT.look];
    case 'key-refused':
      return ['the exchange refuses the key (401); check exchange.apiKey', EXIT.keyRefused];
    case 'rate-limited':
      return ['the exchange limits the rate (429); try again later', EXIT.unavailable];
    case 'not-sent':
    case 'unknown':
      return [`the exchange did not answer: ${answer.why}; try again`, EXIT.unavailable];
    default:
      return ['the id cannot be used; check it', EXIT.usage];
  }
}
