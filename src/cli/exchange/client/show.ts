import type { Command } from 'commander';
import { ask, printAnswer } from '../../shared/exchange.ts';

/** `order-sync client show` (§4.3). */
export function define(command: Command): void {
  command
    .argument('<linkId>')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync client show 7f1c2a')
    .action(async (linkId: string, { json }: { json?: boolean }) => {
      printAnswer(await ask(command, 'showLink', { linkId }), json);
    });
}
