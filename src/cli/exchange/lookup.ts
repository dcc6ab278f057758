import type { Command } from 'commander';
import { ask, printAnswer } from '../shared/exchange.ts';

/** `order-sync lookup` (§4.11): the order record as the exchange answers now. */
export function define(command: Command): void {
  command
    .argument('<externalOrderId>')
    .option('--json', 'the answer is JSON in any case')
    .addHelpText('after', '\nExample:\n  order-sync lookup shop-1001')
    .action(async (externalOrderId: string) =>
      printAnswer(await ask(command, 'lookUpOrder', { externalOrderId }), true),
    );
}
