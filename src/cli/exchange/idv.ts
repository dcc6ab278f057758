import { Option, type Command } from 'commander';
import { VERIFICATION_LEVELS, type VerificationLevel } from '../../exchange/schemas.ts';
import { requestPhotos } from '../../flows/clients/photos.ts';
import { answerTo, linkPath, noLink, printAnswer } from '../answer.ts';

interface IdvOptions {
  readonly level: VerificationLevel;
  readonly actionId?: string;
  readonly json?: boolean;
}

const NO_RECEIVER = 'no daemon runs here: the photos are taken only while order-sync run does\n';

/** `order-sync idv`: tokens for verification flows (§4.4) and the delivery of verification photos (§4.5). */
export function registerIdv(program: Command): void {
  const idv = program
    .command('idv')
    .description('identity verification of clients')
    .addHelpText('after', '\nExample:\n  order-sync idv token 7f1c2a --level MAIN');
  idv
    .command('token')
    .description('a token for a verification flow (§4.4); it is a secret')
    .argument('<linkId>')
    .addOption(level())
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync idv token 7f1c2a --level MAIN')
    .action(async (linkId: string, options: IdvOptions) => {
      const body = await answerTo(program, {
        method: 'GET',
        path: `${linkPath(linkId)}/idv/${options.level}`,
        alone: ({ exchange }) => exchange.verificationToken(linkId, options.level),
        absent: noLink(linkId),
      });
      printAnswer(body, options.json);
    });
  idv
    .command('photos')
    .description(
      'asks for the delivery of verification photos (§4.5); the daemon takes them where photos.listen is set',
    )
    .argument('<linkId>')
    .addOption(level())
    .option('--action-id <id>', 'with the level LIVENESS only')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync idv photos 7f1c2a --level LIVENESS --action-id a-1')
    .action(async (linkId: string, options: IdvOptions, command: Command) => {
      const { level: flow, actionId } = options;
      if (actionId !== undefined && flow !== 'LIVENESS') {
        command.error('error: --action-id is taken with --level LIVENESS only');
      }
      const body = await answerTo(program, {
        method: 'POST',
        path: `${linkPath(linkId)}/idv/photos`,
        body: { level: flow, actionId },
        alone: async (app) => {
          const answer = await requestPhotos(app, { linkId, level: flow, actionId });
          if (answer.kind === 'ok' && app.photos.listen !== undefined) process.stderr.write(NO_RECEIVER);
          return answer;
        },
        absent: noLink(linkId),
      });
      printAnswer(body, options.json);
    });
}

function level(): Option {
  return new Option('--level <level>', 'the verification flow').choices(VERIFICATION_LEVELS).makeOptionMandatory();
}
