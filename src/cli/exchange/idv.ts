import { Option, type Command } from 'commander';
import { VERIFICATION_LEVELS, type VerificationLevel } from '../../exchange/schemas.ts';
import { ask, printAnswer } from '../shared/exchange.ts';
import { exchangeConfig } from '../shared/options.ts';

interface IdvOptions {
  readonly level: VerificationLevel;
  readonly actionId?: string;
  readonly json?: boolean;
}

/** `order-sync idv token` (§4.4). */
export function defineToken(command: Command): void {
  command
    .argument('<linkId>')
    .addOption(level())
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync idv token 7f1c2a --level MAIN')
    .action(async (linkId: string, options: IdvOptions) => {
      printAnswer(await ask(command, 'verificationToken', { linkId, level: options.level }), options.json);
    });
}

/** `order-sync idv photos` (§4.5). */
export function definePhotos(command: Command): void {
  command
    .argument('<linkId>')
    .addOption(level())
    .option('--action-id <id>', 'with the level LIVENESS only')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync idv photos 7f1c2a --level LIVENESS --action-id a-1')
    .action(async (linkId: string, { level: flow, actionId, json }: IdvOptions) => {
      if (actionId !== undefined && flow !== 'LIVENESS') {
        command.error('error: --action-id is taken with --level LIVENESS only');
      }
      const answer = await ask(command, 'requestPhotos', { linkId, level: flow, actionId });
      printAnswer(answer, json);
      if (answer.isAlone && exchangeConfig(command).photos.listen !== undefined) {
        process.stderr.write('no daemon runs here: the photos are received only while order-sync run does\n');
      }
    });
}

function level(): Option {
  return new Option('--level <level>', 'the verification flow').choices(VERIFICATION_LEVELS).makeOptionMandatory();
}
