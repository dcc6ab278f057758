import type { Command } from 'commander';
import { ask, printAnswer } from '../../shared/exchange.ts';

/** `order-sync client follow` (§4.3). */
export function define(command: Command): void {
  command
    .argument('<linkId>')
    .option('--reference <text>', 'your own name for the link; no e-mail address')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync client follow 7f1c2a --reference customer-7')
    .action(async (linkId: string, { reference, json }: { reference?: string; json?: boolean }) => {
      printAnswer(await ask(command, 'followLink', { linkId, reference }), json);
    });
}
