import type { Command } from 'commander';
import { ask, printAnswer } from '../../shared/exchange.ts';

/** `order-sync client create` (§4.1). The e-mail address is printed, stored and logged nowhere. */
export function define(command: Command): void {
  command
    .description('registers a client and makes a link, or links a registered client; the link is remembered')
    .argument('<email>', 'goes to the exchange and is kept nowhere')
    .option('--reference <text>', 'your own name for the link; no e-mail address')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync client create ada@shop.example --reference customer-7')
    .action(async (email: string, { reference, json }: { reference?: string; json?: boolean }) => {
      printAnswer(await ask(command, 'createLink', { email, reference }), json);
    });
}
