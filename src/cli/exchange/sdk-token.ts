import type { Command } from 'commander';
import { answerTo, linkPath, noLink, printAnswer } from '../answer.ts';

/** `order-sync sdk-token` (§4.8). */
export function registerSdkToken(program: Command): void {
  program
    .command('sdk-token')
    .description('a short-lived SDK token for a link (§4.8); it is a secret')
    .argument('<linkId>')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync sdk-token 7f1c2a')
    .action(async (linkId: string, options: { json?: boolean }) => {
      const body = await answerTo(program, {
        method: 'POST',
        path: `${linkPath(linkId)}/sdk-token`,
        alone: ({ exchange }) => exchange.sdkToken(linkId),
        absent: noLink(linkId),
      });
      printAnswer(body, options.json);
    });
}
