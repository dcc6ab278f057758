import type { Command } from 'commander';
import type { VerificationLevel } from '../../../exchange/schemas.ts';
import { ask, printAnswer } from '../../shared/exchange.ts';
import { levelOption } from './level.ts';

/** `order-sync idv token` (§4.4). */
export function define(command: Command): void {
  command
    .argument('<linkId>')
    .addOption(levelOption())
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync idv token 7f1c2a --level MAIN')
    .action(async (linkId: string, { level, json }: { level: VerificationLevel; json?: boolean }) => {
      printAnswer(await ask(command, 'verificationToken', { linkId, level }), json);
    });
}
