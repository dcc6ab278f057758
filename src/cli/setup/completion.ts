import { Argument, type Command, type Option } from 'commander';
import { ConfigError } from '../../config/config.ts';
import { plainConfig } from '../shared/options.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** Accounts that the script names. */
const MOST_ACCOUNTS = 500;

const HELP = `
The shell completes commands, options and their values where the program is
called order-sync; of the accounts those that the settings have now.

Examples:
  source <(order-sync completion bash)     # in ~/.bashrc
  source <(order-sync completion zsh)      # in ~/.zshrc, after compinit
  order-sync completion fish > ~/.config/fish/completions/order-sync.fish`;

/** `order-sync completion`: needs the program with all its commands loaded. */
export function define(command: Command): void {
  command
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .addHelpText('after', HELP)
    .action((shell: (typeof SHELLS)[number]) => {
      if (command.parent === null) return;
      offerAccounts(command.parent, accountNames(command));
      const places = placesOf(command.parent);
      process.stdout.write(shell === 'fish' ? fishScript(places) : script(shell === 'bash' ? BASH : ZSH, places));
    });
}

/** The names of the accounts in the settings, a bounded number; none if the settings are wrong, which other commands say. */
function accountNames(command: Command): readonly string[] {
  try {
    return plainConfig(command)
      .accounts.slice(0, MOST_ACCOUNTS)
      .map(({ name }) => name);
  } catch (error) {
    if (error instanceof ConfigError) return [];
    throw error;
  }
}

function offerAccounts(command: Command, names: readonly string[]): void {
  for (const option of command.options) {
    if (option.long === '--account' && names.length > 0) option.argChoices = [...names];
  }
  for (const child of command.commands) offerAccounts(child, names);
}

/** What may stand in a place: a file, one of some words, or any text. */
type Values = 'file' | 'text' | readonly string[];

interface Word {
  readonly name: string;
  readonly text: string;
}

/** An option; `values` is undefined for one that takes none. */
interface OptionWord extends Word {
  readonly values: Values | undefined;
}

interface Place {
  /** The words, such as `orders list`; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly OptionWord[];
  readonly argument: Values | undefined;
}

/** Every place of a command line whose commands are all loaded. */
function placesOf(command: Command, path = '', inherited: readonly OptionWord[] = []): readonly Place[] {
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
function optionsWithValues(places: readonly Place[]): readonly (readonly [Values, readonly string[]])[] {
  const takers = places.flatMap(({ path, options }) =>
    options.flatMap(({ name, values }) =>
      values === undefined ? [] : [{ name, values: JSON.stringify(values), place: `'${path} ${name}'` }],
    ),
  );
  const patterns = [...Map.groupBy(takers, ({ name }) => name)].flatMap(([name, all]) => {
    const byValues = [...Map.groupBy(all, ({ values }) => values)];
    return byValues.map(([values, own]) => ({
      values,
      patterns: byValues.length === 1 ? [`*' ${name}'`] : own.map(({ place }) => place),
    }));
  });
  return [...Map.groupBy(patterns, ({ values }) => values)].map(([values, all]) => [
    JSON.parse(values) as Values,
    all.flatMap((one) => one.patterns),
  ]);
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

/** The parts of the script that differ between bash and zsh. */
interface Dialect {
  readonly head: string;
  words(words: readonly Word[]): string;
  values(values: readonly string[]): string;
  readonly files: string;
  readonly texts: string;
  readonly tail: string;
}

const BASH: Dialect = {
  head: `# Completion of order-sync for bash: source <(order-sync completion bash)
_order_sync() {
  local word=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} place='' one
  local commands='' options='' argument=''
  local -i index
  COMPREPLY=()
  # Bash splits --option=value at the equals sign.
  if [[ $word == = ]]; then word=''; elif [[ $previous == = ]]; then previous=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    one=\${COMP_WORDS[index]}`,
  words: (words) => `'${words.map(({ name }) => name).join(' ')}'`,
  values: (values) => `_order_sync_offer '${values.join(' ')}'; return`,
  // Readline names files where nothing else is offered.
  files: 'return',
  texts: '_order_sync_offer; return',
  tail: `  if [[ $word == -* ]]; then _order_sync_offer "$options"
  elif [[ $argument != file ]]; then _order_sync_offer "$commands"
  fi
}
_order_sync_offer() {
  compopt +o default 2>/dev/null
  COMPREPLY=($(compgen -W "$1" -- "$word"))
}
complete -o default -F _order_sync order-sync
`,
};

const ZSH: Dialect = {
  head: `#compdef order-sync
# Completion of order-sync for zsh: source <(order-sync completion zsh)
_order_sync() {
  local word=\${words[CURRENT]} previous=\${words[CURRENT-1]} place='' one argument=''
  local -a commands options
  local -i index
  if [[ $word == --*=* ]]; then previous=\${word%%=*}; compset -P '--*='; fi
  for ((index = 2; index < CURRENT; index++)); do
    one=\${words[index]}`,
  words: (words) => `(${words.map(({ name, text }) => quoted(`${name}:${text}`)).join(' ')})`,
  values: (values) => `compadd -- ${values.join(' ')}; return`,
  files: '_files; return',
  texts: 'return',
  tail: `  if [[ $word == -* ]]; then _describe -o option options
  elif [[ $argument == file ]]; then _files
  elif ((\${#commands})); then _describe command commands
  fi
}
if [[ \${funcstack[1]} == _order_sync ]]; then _order_sync "$@"; else compdef _order_sync order-sync; fi
`,
};

function script(shell: Dialect, places: readonly Place[]): string {
  const paths = places.map(({ path }) => path).filter(Boolean);
  const options = optionsWithValues(places);
  const takers = new Set(options.flatMap(([, keys]) => keys.map((key) => key.replaceAll(/.* |'/g, ''))));
  const lines = [
    shell.head,
    '    case "$one" in',
    `      ${[...takers].join('|')}) ((index += 1)); continue ;;`,
    '    esac',
    '    one="${place:+$place }$one"',
    '    case "$one" in',
    `      ${paths.map(quoted).join('|')}) place=$one ;;`,
    '    esac',
    '  done',
    '  case "$place $previous" in',
    ...options.map(([values, keys]) => `    ${keys.join('|')}) ${offer(shell, values)} ;;`),
    '  esac',
    '  case "$place" in',
    ...places.map((place) => `    ${quoted(place.path)}) ${atPlace(shell, place)} ;;`),
    '  esac',
    shell.tail,
  ];
  return lines.join('\n');
}

function offer(shell: Dialect, values: Values): string {
  if (values === 'file') return shell.files;
  return values === 'text' ? shell.texts : shell.values(values);
}

function atPlace(shell: Dialect, { commands, options, argument }: Place): string {
  const choices = Array.isArray(argument) ? argument.map((name: string) => ({ name, text: '' })) : [];
  const offered = [...commands, ...choices];
  return [
    `options=${shell.words(options)}`,
    ...(offered.length > 0 ? [`commands=${shell.words(offered)}`] : []),
    ...(argument === 'file' ? ['argument=file'] : []),
  ].join(' ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The script for fish: a line an option and a command, each for the place where it may stand. */
function fishScript(places: readonly Place[]): string {
  const takers = new Set(
    places.flatMap(({ options }) => options.filter(({ values }) => values !== undefined).map(({ name }) => name)),
  );
  const paths = places.map(({ path }) => path).filter(Boolean);
  return [
    FISH_HEAD,
    `            case ${[...takers].join(' ')}`,
    '                set skip 1',
    `            case '*'`,
    '                set -l path (string trim "$place $one")',
    `                contains -- $path ${paths.map(quotedForFish).join(' ')}; and set place $path`,
    FISH_TAIL,
    ...places.flatMap(linesOf),
    '',
  ].join('\n');
}

const FISH_HEAD = `# Completion of order-sync for fish: order-sync completion fish | source
function __order_sync_at
    set -l place ''
    set -l skip 0
    for one in (commandline -opc)[2..]
        if test $skip = 1
            set skip 0
            continue
        end
        switch $one`;
const FISH_TAIL = `        end
    end
    test "$place" = "$argv[1]"
end
complete -c order-sync -f`;

function linesOf({ path, commands, options, argument }: Place): readonly string[] {
  const at = `complete -c order-sync -n ${quotedForFish(`__order_sync_at ${quotedForFish(path)}`)}`;
  return [
    ...commands.map(({ name, text }) => `${at} -a ${quotedForFish(name)} -d ${quotedForFish(text)}`),
    ...options.map(({ name, text, values }) => `${at} -l ${name.slice(2)}${valued(values)} -d ${quotedForFish(text)}`),
    ...(argument === 'file' ? [`${at} -F`] : []),
    ...(Array.isArray(argument) ? [`${at} -a ${quotedForFish(argument.join(' '))}`] : []),
  ];
}

function valued(values: Values | undefined): string {
  if (values === undefined) return '';
  if (values === 'file') return ' -r -F';
  return values === 'text' ? ' -x' : ` -x -a ${quotedForFish(values.join(' '))}`;
}

function quotedForFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
