import type { Command } from 'commander';
import type { App } from '../app.ts';
import type { ReadAnswer } from '../exchange/client.ts';
import { UnusableIdError } from '../exchange/ids.ts';
import { printable } from '../reports/format.ts';
import { CommandError, EXIT } from './exit.ts';
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
  const answer = await throughOwner(config, async (call) => await answerOf(call('GET', path)), alone);
  if (answer.kind !== 'found') throw trouble(answer, absent);
  process.stdout.write(`${answer.body}\n`);
}

/** The daemon's answer is one line: what the exchange said, or why the daemon did not ask. */
async function answerOf(lines: AsyncGenerator<unknown>): Promise<ReadAnswer> {
  for await (const line of lines) {
    const answer = line as ReadAnswer | { kind: 'unusable-id'; message: string } | { kind?: never; message: string };
    if (answer.kind === 'unusable-id') throw new UnusableIdError(answer.message);
    if (answer.kind !== undefined) return answer;
    throw new CommandError(EXIT.unavailable, `the daemon did not ask the exchange: ${answer.message}; see its log`);
  }
  throw new CommandError(EXIT.unavailable, 'the daemon stopped before it answered; try again');
}

function trouble(answer: Exclude<ReadAnswer, { kind: 'found' }>, absent: string): CommandError {
  switch (answer.kind) {
    case 'refused': {
      const said = `HTTP ${answer.httpStatus} ${printable(answer.error.message)}`;
      const message = answer.httpStatus === 404 ? `${absent} at the exchange (${said})` : `the exchange refused: ${said}`;
      return new CommandError(EXIT.look, message);
    }
    case 'key-refused':
      return new CommandError(EXIT.keyRefused, 'the exchange refuses the key (401); check exchange.apiKey');
    case 'rate-limited':
      return new CommandError(EXIT.unavailable, 'the exchange limits the rate (429); try again later');
    case 'not-sent':
    case 'unknown':
      return new CommandError(EXIT.unavailable, `the exchange did not answer: ${answer.why}; try again`);
  }
}
