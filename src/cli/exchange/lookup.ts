import type { Command } from 'commander';
import { queryId } from '../../exchange/ids.ts';
import { answerTo } from '../answer.ts';

/** `order-sync lookup` (§4.11): the order record as the exchange answers now. */
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
}
