import { text } from 'node:stream/consumers';
import { Option, type Command } from 'commander';
import { VERIFICATION_LEVELS, type VerificationLevel } from '../../exchange/schemas.ts';
import { ask, printAnswer, printWord } from '../shared/exchange.ts';

interface VerificationOptions {
  readonly level: VerificationLevel;
  readonly actionId?: string;
  readonly token?: string;
  readonly json?: boolean;
}

/** `order-sync idv token` (§4.4) and `idv photos` (§4.5). */
export function define(command: Command): void {
  command
    .argument('<linkId>')
    .addOption(
      new Option('--level <level>', 'the verification flow').choices(VERIFICATION_LEVELS).makeOptionMandatory(),
    );
  if (command.name() === 'photos') definePhotos(command);
  else {
    command
      .option('--json', 'print JSON')
      .addHelpText('after', '\nExample:\n  order-sync idv token 7f1c2a --level MAIN')
      .action(async (linkId: string, { level, json }: VerificationOptions) => {
        printAnswer(await ask(command, 'verificationToken', { linkId, level }), json);
      });
  }
}

function definePhotos(command: Command): void {
  command
    .description(
      'asks for the delivery of verification photos and prints the id of the request, which the photos bear; the daemon receives them where photos.listen is set',
    )
    .option('--action-id <id>', 'with the level LIVENESS only')
    .option(
      '--token <text>',
      'your own token that comes back with the delivery, of at least 16 characters where photos.listen is set; - reads it from standard input, as others see the command line',
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  order-sync idv photos 7f1c2a --level LIVENESS --action-id a-1\n  order-sync idv photos 7f1c2a --level MAIN --token - < token-file',
    )
    .action(async (linkId: string, { level, actionId, token: given, json }: VerificationOptions) => {
      if (actionId !== undefined && level !== 'LIVENESS') {
        command.error('error: --action-id is taken with --level LIVENESS only');
      }
      const token = given === '-' ? (await text(process.stdin)).trim() : given;
      const answer = await ask(command, 'requestPhotos', { linkId, level, actionId, token });
      if (answer.aloneWith?.photos.listen !== undefined) {
        process.stderr.write('no daemon runs here: the photos are received only while order-sync run does\n');
      }
      printWord(answer, 'ok', json);
    });
}
