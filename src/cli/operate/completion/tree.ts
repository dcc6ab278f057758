import type { Argument, Command, Option } from 'commander';

/** What may stand in a place: a file, one of some words, or any text. */
export type Values = 'file' | 'text' | readonly string[];

/** A word of the command line with its text in the help. */
export interface Word {
  readonly name: string;
  readonly text: string;
}

/** An option; `values` is undefined for one that takes none. */
export interface OptionWord extends Word {
  readonly values: Values | undefined;
}

/** What may follow the words of a command: further commands, options, or an argument. */
export interface Place {
  /** The words, such as `orders list`; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly OptionWord[];
  readonly argument: Values | undefined;
}

/** Every place of a command line whose commands are all loaded. */
export function placesOf(command: Command, path = '', inherited: readonly OptionWord[] = []): readonly Place[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command).filter((child) => child.name() !== 'help');
  const options = help.visibleOptions(command).map(optionWord);
  const place: Place = {
    path,
    commands: commands.map((child) => ({ name: child.name(), text: child.summary() || child.description() })),
    options: [...options, ...inherited],
    argument: command.registeredArguments.map(valuesOf).find((values) => values !== 'text'),
  };
  const passedOn = path === '' ? options.filter(({ name }) => name === '--config') : inherited;
  const within = (child: Command) => (path === '' ? child.name() : `${path} ${child.name()}`);
  return [place, ...commands.flatMap((child) => placesOf(child, within(child), passedOn))];
}

/** Options that take a value, by what it may be, with the places where it may be that; no places: in all of them. */
export function optionsWithValues(places: readonly Place[]): readonly (readonly [Values, readonly string[]])[] {
  const found = new Map<string, Map<string, string[]>>();
  for (const { path, options } of places) {
    for (const { name, values } of options) {
      if (values === undefined) continue;
      const byValues = found.get(name) ?? new Map<string, string[]>();
      found.set(name, byValues);
      byValues.set(JSON.stringify(values), [...(byValues.get(JSON.stringify(values)) ?? []), `${path} ${name}`]);
    }
  }
  const patterns = new Map<string, string[]>();
  for (const [name, byValues] of found) {
    for (const [values, keys] of byValues) {
      const own = byValues.size === 1 ? [`*' ${name}'`] : keys.map((key) => `'${key}'`);
      patterns.set(values, [...(patterns.get(values) ?? []), ...own]);
    }
  }
  return [...patterns].map(([values, own]) => [JSON.parse(values) as Values, own]);
}

function optionWord(option: Option): OptionWord {
  const takesValue = option.required || option.optional;
  const name = option.long ?? option.short ?? option.flags;
  return { name, text: option.description, values: takesValue ? valuesOf(option) : undefined };
}

function valuesOf(taker: Option | Argument): Values {
  if (taker.argChoices !== undefined) return taker.argChoices;
  return /\b(file|path|folder)\b/.test('flags' in taker ? taker.flags : taker.name()) ? 'file' : 'text';
}
