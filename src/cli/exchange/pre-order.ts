import type { Command } from 'commander';
import { ask, printAnswer } from '../shared/exchange.ts';

/** `order-sync pre-order show` (§4.10): the pre-order as the exchange answers now. */
export function define(command: Command): void {
  command
    .argument('<preOrderId>')
    .option('--json', 'the answer is JSON in any case')
    .addHelpText('after', '\nExample:\n  order-sync pre-order show 4be1c7')
    .action(async (id: string) => printAnswer(await ask(command, 'showPreOrder', { id }), true));
}
