import type { Command } from 'commander';
import { ask, printAnswer } from '../../shared/exchange.ts';

/** `order-sync client validate` (§4.2). The e-mail address is printed, stored and logged nowhere. */
export function define(command: Command): void {
  command
    .argument('<email>')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync client validate ada@shop.example')
    .action(async (email: string, { json }: { json?: boolean }) => {
      printAnswer(await ask(command, 'validateEmail', { email }), json);
    });
}
