import { styleText } from 'node:util';
import { Help, InvalidArgumentError, type Argument, type Command, type Option } from 'commander';
import { systemClock } from '../../base/clock.ts';
import { suggestion } from '../../base/text.ts';
import type { Screen } from './terminal.ts';

/** Breaks paragraphs wider than the screen. Indented lines, such as examples, stay whole, because people copy them. */
export function fitted(text: string, width: number): string {
  const help = new Help();
  help.minWidthToWrap = 1;
  return text.replaceAll(/^\S.*(?:\n\S.*)*/gm, (paragraph) =>
    paragraph.split('\n').every((line) => line.length <= width)
      ? paragraph
      : help.boxWrap(paragraph.replaceAll('\n', ' '), width),
  );
}

/** Makes an option or argument take its choices in any letter case, and suggest the probable choice in an error. */
export function takeNearChoices(taker: Option | Argument): void {
  const { argChoices: choices, parseArg: parse } = taker;
  if (choices === undefined || parse === undefined) return;
  taker.argParser((given: string, before: unknown) => {
    const name =
      choices.find((one) => one === given) ?? choices.find((one) => one.toLowerCase() === given.toLowerCase());
    if (name !== undefined) return parse(name, before);
    // Printed commands have the taker's name in capitals in place of a choice.
    const isPlaceholder = given === taker.name().toUpperCase();
    const help = isPlaceholder ? `Write a ${taker.name()} in place of ${given}; --help lists them.` : undefined;
    throw new InvalidArgumentError(help ?? didYouMean(given, choices) ?? `Allowed choices are ${choices.join(', ')}.`);
  });
}

export function didYouMean(given: string, known: readonly string[]): string | undefined {
  const meant = suggestion(given, known);
  return meant === undefined ? undefined : `Did you mean ${meant}?`;
}

export function withSuggestion(command: Command, text: string): string {
  const [line = '', kind, given = ''] = /^error: unknown (command|option) '(.*)'/s.exec(text) ?? [];
  const meant = kind === 'command' ? nearCommand(command, given) : kind && suggestion(given, optionsOf(command));
  if (meant !== undefined && meant !== '') return `${line}; did you mean ${meant}?\n`;
  // If a placeholder was pasted, only the advice to replace it stays.
  return text.replace(/^error: .* is invalid.*\. W(?=rite .* in place of )/s, 'error: w');
}

/** Finds a command of a similar name, beside the unknown command or elsewhere: `recon` is `report reconciliation`. */
function nearCommand(command: Command, given: string): string | undefined {
  let root = command;
  while (root.parent !== null) root = root.parent;
  const places = [command.commands, below(root)];
  const found = places.flatMap((commands) => {
    const meant = suggestion(
      given,
      commands.map((one) => one.name()),
    );
    return commands.find((one) => one.name() === meant) ?? [];
  });
  return found[0] && wordsOf(found[0]).slice(1).join(' ');
}

function below({ commands }: Command): readonly Command[] {
  return commands.flatMap((child) => [child, ...below(child)]);
}

export function wordsOf(command: Command): readonly string[] {
  return command.parent === null ? [command.name()] : [...wordsOf(command.parent), command.name()];
}

function optionsOf(command: Command): readonly string[] {
  const own = command.options.flatMap(({ long, short }) => [long, short]).filter((flag) => typeof flag === 'string');
  return [...own, '--help', ...(command.parent === null ? [] : optionsOf(command.parent))];
}

/** Returns the screen of a stream, of infinite width without a terminal. NO_COLOR and FORCE_COLOR decide on colour. */
export function screenOf(stream: NodeJS.WriteStream = process.stdout): Screen {
  const width = stream.isTTY && stream.columns > 0 ? stream.columns : Infinity;
  const hasColour = styleText('bold', ' ', { stream }) !== ' ';
  return width === Infinity ? { width, hasColour } : { width, hasColour, now: systemClock().now() };
}
