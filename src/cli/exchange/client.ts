import type { Command } from 'commander';
import { ask, printAnswer } from '../shared/exchange.ts';

const REFERENCE = ['--reference <text>', 'your own name for the link; no e-mail address'] as const;

/** `order-sync client create` (§4.1). The e-mail address is printed, stored and logged nowhere. */
export function defineCreate(command: Command): void {
  command
    .argument('<email>', 'goes to the exchange and is kept nowhere')
    .option(...REFERENCE)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync client create ada@shop.example --reference customer-7')
    .action(async (email: string, { reference, json }: { reference?: string; json?: boolean }) => {
      printAnswer(await ask(command, 'createLink', { email, reference }), json);
    });
}

/** `order-sync client validate` (§4.2). The e-mail address is printed, stored and logged nowhere. */
export function defineValidate(command: Command): void {
  command
    .argument('<email>')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync client validate ada@shop.example')
    .action(async (email: string, { json }: { json?: boolean }) => {
      printAnswer(await ask(command, 'validateEmail', { email }), json);
    });
}

/** `order-sync client show` (§4.3). */
export function defineShow(command: Command): void {
  command
    .argument('<linkId>')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync client show 7f1c2a')
    .action(async (linkId: string, { json }: { json?: boolean }) => {
      printAnswer(await ask(command, 'showLink', { linkId }), json);
    });
}

/** `order-sync client follow` (§4.3). */
export function defineFollow(command: Command): void {
  command
    .argument('<linkId>')
    .option(...REFERENCE)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync client follow 7f1c2a --reference customer-7')
    .action(async (linkId: string, { reference, json }: { reference?: string; json?: boolean }) => {
      printAnswer(await ask(command, 'followLink', { linkId, reference }), json);
    });
}
