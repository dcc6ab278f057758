import type { Command } from 'commander';
import { pathId } from '../../exchange/ids.ts';
import { answerTo } from '../answer.ts';

/** `order-sync pre-order show` (§4.10): the pre-order as the exchange answers now. */
export function registerPreOrder(program: Command): void {
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
