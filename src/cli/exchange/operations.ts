import type { Command } from 'commander';
import type { AskedOperation, InputOf } from '../../http/control/operations/index.ts';
import type { Config } from '../../config/config.ts';
import { withoutTokens } from '../../exchange/hidden.ts';
import type { Tone } from '../../reports/formats/document.ts';
import { ask, printAnswer, printWord } from '../shared/exchange.ts';
import { REVEAL } from '../shared/tokens.ts';

/** One command: the operation that it asks for, and what its help and its options have beside the rest. */
type Entry = {
  [Id in AskedOperation]: {
    readonly operation: Id;
    /** The field of the input that the argument gives. */
    readonly field: keyof InputOf<Id> & string;
    /** The name of the argument in the help; that of the field unless given. */
    readonly argument?: string;
    readonly argumentText?: string;
    readonly description?: string;
    readonly example: string;
    /** Takes `--reference`. */
    readonly hasReference?: true;
    /** The tokens of the answer are hidden unless `--reveal`. */
    readonly isRecord?: true;
  };
}[AskedOperation];

/** The commands by the words that call them. An e-mail address is printed, stored and logged nowhere. */
const COMMANDS: Readonly<Record<string, Entry>> = {
  'client create': {
    operation: 'createLink',
    field: 'email',
    argumentText: 'goes to the exchange and is kept nowhere',
    description: 'registers a client and makes a link, or links a registered client; the link is remembered',
    example: 'ada@shop.example --reference customer-7',
    hasReference: true,
  },
  'client validate': { operation: 'validateEmail', field: 'email', example: 'ada@shop.example' },
  'client show': { operation: 'showLink', field: 'linkId', example: '7f1c2a' },
  'client follow': {
    operation: 'followLink',
    field: 'linkId',
    example: '7f1c2a --reference customer-7',
    hasReference: true,
  },
  'customer show': { operation: 'showCustomer', field: 'linkId', example: '7f1c2a' },
  'sdk-token': { operation: 'sdkToken', field: 'linkId', example: '7f1c2a' },
  'pre-order show': {
    operation: 'showPreOrder',
    field: 'id',
    argument: 'preOrderId',
    example: '4be1c7',
    isRecord: true,
  },
  lookup: { operation: 'lookUpOrder', field: 'externalOrderId', example: 'shop-1001', isRecord: true },
};

interface AnswerOptions {
  readonly json?: boolean;
  readonly reference?: string;
  readonly reveal?: boolean;
}

/** Commands that have one operation done and print its answer: §4.1 to §4.3, §4.6, §4.8, §4.10 and §4.11. */
export function define(command: Command): void {
  const words = command.parent?.parent ? `${command.parent.name()} ${command.name()}` : command.name();
  const entry = COMMANDS[words];
  if (entry === undefined) throw new Error(`no operation belongs to the command ${words}`);
  const { operation, field, argument = field, argumentText = '', description, example, hasReference, isRecord } = entry;
  command.argument(`<${argument}>`, argumentText);
  if (description !== undefined) command.description(description);
  if (hasReference) command.option('--reference <text>', 'your own name for the link; no e-mail address');
  if (isRecord) command.option(...REVEAL);
  command
    .option('--json', 'print JSON')
    .addHelpText('after', `\nExample:\n  order-sync ${words} ${example}`)
    .action(async (given: string, { json, reference, reveal }: AnswerOptions) => {
      const input = { [field]: given, reference } as never;
      const answer = await ask(command, operation, input);
      if (operation === 'validateEmail') return printWord(answer, 'OK', json);
      const isHidden = isRecord === true && reveal !== true;
      const body = isHidden ? withoutTokens(answer.body) : answer.body;
      printAnswer({ body }, json, { 'order.status': (status) => toneOfStatus(status, answer.config) });
    });
}

/** What is known of an order status, by the settings. */
function toneOfStatus(status: string, { follow }: Config): Tone {
  if (follow.succeededStatuses.includes(status)) return 'good';
  if (follow.openStatuses.includes(status)) return 'info';
  return follow.finalStatuses.includes(status) && follow.succeededStatuses.length > 0 ? 'warning' : 'neutral';
}
