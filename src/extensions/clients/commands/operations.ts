import { text } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import { EXCHANGE_OPERATIONS } from '../../api/addresses.ts';
import type { AskedOperation } from '../../api/operation.ts';
import { CLIENT_OPERATIONS } from '../addresses.ts';
import type { Config } from '../../../settings/config.ts';
import type { Tone } from '../../../cli/shared/terminal.ts';
import { ask, printAnswer, printWord } from '../../api/asking/ask.ts';
import { examples, REVEAL } from '../../commands/options.ts';
import { VERIFICATION_LEVELS, type VerificationLevel } from '../endpoints/schemas.ts';
import { readJson, withDigits } from '../../../exchange/json.ts';
import { clientsSettings } from '../settings.ts';
import { tableOf, textColumns } from '../../documents/terminal.ts';
import { addUrlOption } from '../../../cli/shared/options.ts';
import { screenOf, wordsOf } from '../../../cli/shared/help.ts';
import { print } from '../../commands/print.ts';
import { pasteable } from '../../../base/invocation.ts';

const { createLink, followLink, listCards, requestPhotos, validateEmail, verificationToken } = CLIENT_OPERATIONS;
const { lookUpOrder, showPreOrder } = EXCHANGE_OPERATIONS;
/** Without `--reveal`, tokens in the answers of these operations are hidden. */
const RECORDS: readonly AskedOperation[] = [showPreOrder, lookUpOrder];

/** Maps the words of a command to its operation, the input field for its argument, and an example. */
const COMMANDS: Readonly<Record<string, readonly [operation: AskedOperation, field: string, example: string]>> = {
  'client create': [createLink, 'email', 'ada@shop.example --reference customer-7'],
  'client validate': [validateEmail, 'email', 'ada@shop.example'],
  'client show': [CLIENT_OPERATIONS.showLink, 'linkId', '7f1c2a'],
  'client follow': [followLink, 'linkId', '7f1c2a --reference customer-7'],
  'customer show': [CLIENT_OPERATIONS.showCustomer, 'linkId', '7f1c2a'],
  'idv token': [verificationToken, 'linkId', '7f1c2a --level MAIN'],
  'sdk-token': [CLIENT_OPERATIONS.sdkToken, 'linkId', '7f1c2a'],
  'pre-order show': [showPreOrder, 'id', '4be1c7'],
  lookup: [lookUpOrder, 'externalOrderId', 'shop-1001'],
};

type AnswerOptions = Readonly<{ json?: boolean; reference?: string; level?: VerificationLevel; reveal?: boolean }>;
type PhotosOptions = Readonly<{ json?: boolean; level: VerificationLevel; actionId?: string; token?: string }>;

export function define(command: Command): void {
  const name = command.name();
  addUrlOption(command);
  if (name === 'cards') defineCards(command);
  else if (name === 'photos') definePhotos(command);
  else defineOperation(command);
}

/** Defines a command that asks for one operation and prints the answer. */
function defineOperation(command: Command): void {
  const words = wordsOf(command)
    .filter((word, index) => index > 0 && word !== 'exchange')
    .join(' ');
  const entry = COMMANDS[words];
  if (entry === undefined) throw new Error(`no operation belongs to the command ${words}`);
  const [operation, field, example] = entry;
  const isRecord = RECORDS.includes(operation);
  if (operation === createLink) {
    command
      .argument('<email>', 'goes to the exchange and is kept nowhere')
      .description('registers a client and makes a link, or links a registered client; the link is remembered');
  } else command.argument(`<${field === 'id' ? 'preOrderId' : field}>`);
  if (operation === createLink || operation === followLink)
    command.option('--reference <text>', 'your own name for the link; no e-mail address');
  if (operation === verificationToken) addLevelOption(command);
  if (isRecord) command.option(...REVEAL);
  command
    .option('--json', 'print JSON')
    .addHelpText(...examples(`exchange ${words} ${example}`))
    .action(async (given: string, { json, reference, level, reveal }: AnswerOptions) => {
      const input = { [field]: given, reference, level } as never;
      const answer = await ask(command, operation, input);
      if (operation === validateEmail) return printWord(answer.body, 'OK', json);
      // The module is loaded here, because only the operations of `RECORDS` need it.
      const hide =
        isRecord && reveal !== true ? (await import('../../documents/hidden-tokens.ts')).withoutTokens : undefined;
      const tones = { 'order.status': (status: string) => toneOfStatus(status, answer.config) };
      printAnswer(hide?.(answer.body) ?? answer.body, json, tones);
    });
}

function toneOfStatus(status: string, { follow }: Config): Tone {
  if (follow.succeededStatuses.includes(status)) return 'good';
  if (follow.openStatuses.includes(status)) return 'info';
  return follow.finalStatuses.includes(status) && follow.succeededStatuses.length > 0 ? 'warning' : 'neutral';
}

function addLevelOption(command: Command): Command {
  const option = new Option('--level <level>', 'the verification flow').choices(VERIFICATION_LEVELS);
  return command.addOption(option.makeOptionMandatory());
}

function definePhotos(command: Command): void {
  addLevelOption(command.argument('<linkId>'))
    .description(
      'asks for the delivery of verification photos and prints the id of the request, which exchange photos list shows with each photo; the daemon receives the photos if photos.listen is set',
    )
    .option('--action-id <id>', 'with the level LIVENESS only')
    .option(
      '--token <text>',
      'your own token that comes back with the delivery, of at least 16 characters if photos.listen is set; write - to have it read from standard input, because other users can see the command line',
    )
    .option('--json', 'print JSON')
    .addHelpText(
      ...examples(
        'exchange idv photos 7f1c2a --level LIVENESS --action-id a-1',
        'exchange idv photos 7f1c2a --level MAIN --token - < token-file',
      ),
    )
    .action(async (linkId: string, { level, actionId, token: given, json }: PhotosOptions) => {
      if (actionId !== undefined && level !== 'LIVENESS') {
        command.error('error: --action-id needs --level LIVENESS');
      }
      const token = given === '-' ? (await text(process.stdin)).trim() : given;
      const answer = await ask(command, requestPhotos, { linkId, level, actionId, token });
      if (answer.isAlone && clientsSettings.of(answer.config).photos.listen !== undefined) {
        process.stderr.write(
          pasteable('no daemon runs here, and only a daemon receives the photos; start one with order-sync run\n'),
        );
      }
      printWord(answer.body, 'ok', json);
    });
}

/** The fields of a card (§2.5) that are shown without `--reveal`; the number is masked. Other fields may be secrets. */
const SHOWN = ['id', 'bank', 'country', 'number', 'type'] as const;
const REVEALED = [...SHOWN, 'token'] as const;
/** A card number with fewer digits is hidden completely, because its last four digits would be most of the number. */
const SHORTEST_NUMBER = 8;

function defineCards(command: Command): void {
  command
    .argument('<linkId>')
    .option('--reveal', 'show card numbers and tokens in full')
    .option('--json', 'print JSON')
    .addHelpText(...examples('exchange customer cards 7f1c2a'))
    .action(async (linkId: string, { reveal, json }: { reveal?: boolean; json?: boolean }) => {
      const { body } = await ask(command, listCards, { linkId });
      if (reveal === true && json === true) return printAnswer(body, true);
      const names = reveal === true ? REVEALED : SHOWN;
      const cards = rows(body, names).map((card) =>
        reveal === true ? card : { ...card, number: maskNumber(card['number'] ?? null) },
      );
      const table = () => tableOf(textColumns(...names), cards, screenOf());
      print(json, cards, () => (cards.length === 0 ? 'no card is saved\n' : table()), 2);
    });
}

/** Picks fields of each card. JSON numbers become text. The exchange client has checked that `body` is a list. */
function rows(body: string, names: readonly (typeof REVEALED)[number][]): Record<string, string | null>[] {
  const cards = readJson(body) as Record<string, unknown>[];
  const field = (value: unknown) => (withDigits(value) as string | null | undefined) ?? null;
  return cards.map((card) => Object.fromEntries(names.map((name) => [name, field(card[name])])));
}

function maskNumber(number: string | null): string | null {
  if (number === null) return null;
  const digits = number.replaceAll(/\D/g, '');
  return digits.length < SHORTEST_NUMBER ? '****' : `****${digits.slice(-4)}`;
}
