import type { Command } from 'commander';
import type { AskedOperation, InputOf } from '../../http/control/operations/index.ts';
import { ask, printAnswer } from '../shared/exchange.ts';

/** An operation, the field of its input that the argument of the command gives, and an example of the argument. */
type Entry = { [Id in AskedOperation]: readonly [Id, keyof InputOf<Id> & string, string] }[AskedOperation];

/** The commands by the words that call them. An e-mail address is printed, stored and logged nowhere. */
const COMMANDS: Readonly<Record<string, Entry>> = {
  'client create': ['createLink', 'email', 'ada@shop.example --reference customer-7'],
  'client validate': ['validateEmail', 'email', 'ada@shop.example'],
  'client show': ['showLink', 'linkId', '7f1c2a'],
  'client follow': ['followLink', 'linkId', '7f1c2a --reference customer-7'],
  'customer show': ['showCustomer', 'linkId', '7f1c2a'],
  'sdk-token': ['sdkToken', 'linkId', '7f1c2a'],
  'pre-order show': ['showPreOrder', 'id', '4be1c7'],
  lookup: ['lookUpOrder', 'externalOrderId', 'shop-1001'],
};

/** Commands that have one operation done and print its answer: §4.1 to §4.3, §4.6, §4.8, §4.10 and §4.11. */
export function define(command: Command): void {
  const words = command.parent?.parent ? `${command.parent.name()} ${command.name()}` : command.name();
  const entry = COMMANDS[words];
  if (entry === undefined) throw new Error(`no operation belongs to the command ${words}`);
  const [operation, argument, example] = entry;
  const isRecord = operation === 'showPreOrder' || operation === 'lookUpOrder';
  command.argument(
    `<${argument === 'id' ? 'preOrderId' : argument}>`,
    operation === 'createLink' ? 'goes to the exchange and is kept nowhere' : '',
  );
  if (operation === 'createLink') {
    command.description('registers a client and makes a link, or links a registered client; the link is remembered');
  }
  if (operation === 'createLink' || operation === 'followLink') {
    command.option('--reference <text>', 'your own name for the link; no e-mail address');
  }
  command
    .option('--json', isRecord ? 'the answer is JSON in any case' : 'print JSON')
    .addHelpText('after', `\nExample:\n  order-sync ${words} ${example}`)
    .action(async (given: string, { json, reference }: { json?: boolean; reference?: string }) => {
      const input = { [argument]: given, reference } as never;
      printAnswer(await ask(command, operation, input), isRecord || json === true);
    });
}
