import { InvalidArgumentError, type Argument, type Command, type Option } from 'commander';
import { suggestion } from '../../domain/suggestion.ts';

/** Has an option or an argument with choices take them in any letter case, and name the one that was probably meant. */
export function takeNearChoices(taker: Option | Argument): void {
  const { argChoices: choices, parseArg: parse } = taker;
  if (choices === undefined || parse === undefined) return;
  taker.argParser((given: string, before: unknown) => {
    const name =
      choices.find((one) => one === given) ?? choices.find((one) => one.toLowerCase() === given.toLowerCase());
    if (name !== undefined) return parse(name, before);
    throw new InvalidArgumentError(didYouMean(given, choices) ?? `Allowed choices are ${choices.join(', ')}.`);
  });
}

/** A question that names what was probably meant; undefined where nothing is near. */
export function didYouMean(given: string, known: readonly string[]): string | undefined {
  const meant = suggestion(given, known);
  return meant === undefined ? undefined : `Did you mean ${meant}?`;
}

/** What Commander says of a name that `command` does not know, with the one that was probably meant. */
export function withSuggestion(command: Command, text: string): string {
  const [line = '', kind, given = ''] = /^error: unknown (command|option) '(.*)'/s.exec(text) ?? [];
  const meant = kind === 'command' ? nearCommand(command, given) : kind && suggestion(given, optionsOf(command));
  return meant === undefined || meant === '' ? text : `${line}; did you mean ${meant}?\n`;
}

/** A command beside the unknown one, or one of that name elsewhere: `recon` is `report reconciliation`. */
function nearCommand(command: Command, given: string): string | undefined {
  const words = wordsOf(command);
  const sibling = suggestion(given, namesOf(command));
  if (sibling !== undefined) return [...words, sibling].join(' ');
  const elsewhere = leavesOf(rootOf(command));
  const name = suggestion(
    given,
    elsewhere.map((path) => path.at(-1) ?? ''),
  );
  return elsewhere.find((path) => path.at(-1) === name)?.join(' ');
}

function namesOf({ commands }: Command): readonly string[] {
  return commands.map((child) => child.name());
}

function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent);
}

function wordsOf(command: Command): readonly string[] {
  return command.parent === null ? [] : [...wordsOf(command.parent), command.name()];
}

function leavesOf(command: Command): readonly (readonly string[])[] {
  return command.commands.length === 0 ? [wordsOf(command)] : command.commands.flatMap(leavesOf);
}

function optionsOf(command: Command): readonly string[] {
  const own = command.options.flatMap(({ long, short }) => [long, short]).filter((flag) => typeof flag === 'string');
  return [...own, '--help', ...(command.parent === null ? [] : optionsOf(command.parent))];
}
