import type { Command } from 'commander';
import { ask, printAnswer } from '../shared/exchange.ts';

/** `order-sync sdk-token` (§4.8). */
export function define(command: Command): void {
  command
    .argument('<linkId>')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync sdk-token 7f1c2a')
    .action(async (linkId: string, { json }: { json?: boolean }) => {
      printAnswer(await ask(command, 'sdkToken', { linkId }), json);
    });
}
