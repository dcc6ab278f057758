import type { Command } from 'commander';
import type { VerificationLevel } from '../../../exchange/schemas.ts';
import { ask, printAnswer } from '../../shared/exchange.ts';
import { exchangeConfig } from '../../shared/options.ts';
import { levelOption } from './level.ts';

interface PhotosOptions {
  readonly level: VerificationLevel;
  readonly actionId?: string;
  readonly json?: boolean;
}

/** `order-sync idv photos` (§4.5). */
export function define(command: Command): void {
  command
    .description('asks for the delivery of verification photos; the daemon receives them where photos.listen is set')
    .argument('<linkId>')
    .addOption(levelOption())
    .option('--action-id <id>', 'with the level LIVENESS only')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync idv photos 7f1c2a --level LIVENESS --action-id a-1')
    .action(async (linkId: string, { level, actionId, json }: PhotosOptions) => {
      if (actionId !== undefined && level !== 'LIVENESS') {
        command.error('error: --action-id is taken with --level LIVENESS only');
      }
      const answer = await ask(command, 'requestPhotos', { linkId, level, actionId });
      printAnswer(answer, json);
      if (answer.isAlone && exchangeConfig(command).photos.listen !== undefined) {
        process.stderr.write('no daemon runs here: the photos are received only while order-sync run does\n');
      }
    });
}
