import { Command } from 'commander';
import { OWN_SETTINGS } from '../base/places.ts';
import { programVersion } from '../base/version.ts';
import { printableLines } from '../base/words.ts';
import type { Extension } from './extension.ts';
import { joined, MORE, OLD, type Commands, type Entries } from './commands.ts';
import { addAccountOption } from './shared/account.ts';
import { setExtensions } from './shared/extensions.ts';
import { fitted, takeNearChoices, withSuggestion, screenOf } from './shared/help.ts';
import { pasteable } from '../base/invocation.ts';

const DESCRIPTION = "keeps a merchant's order table and a crypto/fiat exchange in step";

const migrations = () => import('./migrations.ts');

const COMMANDS: Commands = {
  'Every day:': {
    run: ['runs the daemon: sends pending orders, follows them to the end', () => import('./run.ts')],
    sync: ['makes one pass: sends each due order, looks up each followed order', () => import('./sync.ts'), 'one'],
  },
  [MORE]: {
    db: {
      text: 'the database',
      example: 'order-sync db status',
      commands: {
        migrate: ['makes the database, or brings it up to date', migrations],
        status: ['says which migrations the database has', migrations],
      },
    },
  },
};

/** The help wraps its texts in a column beside the names, unless that column would have fewer characters than this. */
const NARROWEST_TEXT = 20;

/** Loads only the commands that `args` call. Parsing throws `CommanderError` and does not end the process. */
export async function createProgram(
  args: readonly string[] = [],
  extensions: readonly Extension[] = [],
): Promise<Command> {
  // The words that name a command: no options, and not the file of `--config`.
  const words = args.filter((arg, index) => !arg.startsWith('-') && args[index - 1] !== '--config');
  const isCompletion = words[0] === 'completion';
  const hidden = isCompletion || args.includes('--all') ? [OLD] : [OLD, MORE];
  const program = new Command('order-sync')
    .description([DESCRIPTION, ...extensions.flatMap(({ welcome = [] }) => welcome)].join('\n\n'))
    .version(programVersion())
    .option('--config <file>', `settings to read instead of ${OWN_SETTINGS}`)
    .addHelpText('after', '\nExample:\n  order-sync sync --json\n\nAll commands: order-sync help --all')
    .showHelpAfterError('(--help says how it is used, with an example)')
    // The help lists names only, because the arguments of a command are not known before the command is loaded.
    .configureHelp({
      subcommandTerm: (command) => command.name(),
      visibleCommands: ({ commands }) => commands.filter((command) => !hidden.includes(command.helpGroup())),
      minWidthToWrap: NARROWEST_TEXT,
    })
    .showSuggestionAfterError(false)
    .exitOverride();
  setExtensions(program, extensions);
  sayForPeople(program);
  const lines = isCompletion ? [words, words.slice(2)] : [words];
  for (const [heading, entries] of joined([COMMANDS, ...extensions.map(({ commands = {} }) => commands)])) {
    program.commandsGroup(heading);
    await addCommands(program, entries, lines, heading === OLD);
  }
  return program.helpCommand(true);
}

async function addCommands(
  parent: Command,
  entries: Entries,
  lines: readonly (readonly string[])[],
  isOfClients = false,
): Promise<void> {
  // In `help sync` and `orders help list`, the command that is called is the word after `help`.
  const called = lines.map((words) => (words[0] === 'help' ? words.slice(1) : words));
  for (const [name, entry] of Object.entries(entries)) {
    const command = parent.command(name);
    const isPrivate = isOfClients || ('commands' in entry && entry.isOfClients === true);
    sayForPeople(command, isPrivate);
    const more = called.filter(([word]) => word === name).map(([, ...words]) => words);
    if ('commands' in entry) {
      command.description(entry.text ?? '');
      if (entry.example !== undefined) command.addHelpText('after', `\nExample:\n  ${entry.example}`);
      await addCommands(command, entry.commands, more, isPrivate);
      continue;
    }
    const [text, load, scope] = entry;
    command
      .summary(text)
      .description(text)
      .action(() => {
        // Reached only if Commander reads the command line differently from `words`. Then the command must fail.
        throw new Error(`the command ${name} was not loaded`);
      });
    if (more.length === 0) continue;
    const { define } = await load();
    (typeof define === 'function' ? define : define[name])?.(command);
    for (const [index, defined] of [command, ...command.commands].entries()) {
      if (scope !== undefined) addAccountOption(defined, index === 0 ? scope : 'one');
      const { options, registeredArguments } = defined;
      for (const taker of [...options, ...registeredArguments]) {
        takeNearChoices(taker);
        // The help shows a default text as a person types it: without quotes.
        if (typeof taker.defaultValue === 'string') taker.defaultValueDescription ??= taker.defaultValue;
      }
    }
  }
}

/** Fits the help to the terminal, adds suggestions to errors, and hides e-mail addresses in errors if `isPrivate`. */
function sayForPeople(command: Command, isPrivate = false): void {
  command.configureOutput({
    writeOut: (text) => void process.stdout.write(fitted(text, screenOf().width)),
    outputError(text, write) {
      const line = printableLines(pasteable(withSuggestion(command, text)));
      write(isPrivate ? line.replaceAll(/[^\s'"]+@[^\s'"]+/g, '<EMAIL>') : line);
    },
  });
}
