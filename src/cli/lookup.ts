import type { Command } from 'commander';
import { pathId, queryId } from '../exchange/ids.ts';
import { answerTo } from './answer.ts';

/** `order-sync lookup` (§4.11) and `order-sync pre-order show` (§4.10): what the exchange answers now. */
export function registerLookup(program: Command): void {
  program
    .command('lookup')
    .description('the order record of an external order id (§4.11), as the exchange answers now')
    .argument('<externalOrderId>')
    .option('--json', 'the answer is JSON in any case')
    .addHelpText('after', '\nExample:\n  order-sync lookup shop-1001')
    .action(async (externalOrderId: string) => {
      const body = await answerTo(program, {
        method: 'GET',
        path: `/orders?externalOrderId=${queryId(externalOrderId)}`,
        alone: ({ exchange }) => exchange.showOrder(externalOrderId),
        absent: `no order with the external order id ${JSON.stringify(externalOrderId)}`,
      });
      process.stdout.write(`${body}\n`);
    });
  program
    .command('pre-order')
    .description('pre-orders at the exchange')
    .addHelpText('after', '\nExample:\n  order-sync pre-order show 4be1c7')
    .command('show')
    .description('the pre-order of an id (§4.10), as the exchange answers now')
    .argument('<preOrderId>')
    .option('--json', 'the answer is JSON in any case')
    .addHelpText('after', '\nExample:\n  order-sync pre-order show 4be1c7')
    .action(async (preOrderId: string) => {
      const body = await answerTo(program, {
        method: 'GET',
        path: `/pre-orders/${pathId(preOrderId)}`,
        alone: ({ exchange }) => exchange.showPreOrder(preOrderId),
        absent: `no pre-order with the id ${JSON.stringify(preOrderId)}`,
      });
      process.stdout.write(`${body}\n`);
    });
}
