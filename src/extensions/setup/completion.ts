import { Argument, type Command, type Option } from 'commander';
import { ConfigError, loadConfig } from '../../settings/config.ts';
import { configOptions } from '../../cli/shared/options.ts';

/** Each script calls this program. Commander removes the first `--` for the program, the second for `completion`. */
const SCRIPTS = {
  bash: `# Completion of order-sync for bash: source <(order-sync completion bash)
_order_sync() {
  local IFS=$'\\n'
  COMPREPLY=($(order-sync completion bash -- -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  # Readline names files if nothing else is offered.
  if [[ \${COMPREPLY[0]} == :files ]]; then COMPREPLY=(); else compopt +o default 2>/dev/null; fi
}
complete -o default -F _order_sync order-sync
`,
  zsh: `#compdef order-sync
# Completion of order-sync for zsh: source <(order-sync completion zsh)
_order_sync() {
  local -a offered
  offered=("\${(@f)$(order-sync completion zsh -- -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ \${words[CURRENT]} == --*=* ]]; then compset -P '--*='; fi
  if [[ \${offered[1]} == :files ]]; then _files
  elif [[ -n \${offered[1]} ]]; then _describe value offered
  fi
}
if [[ \${funcstack[1]} == _order_sync ]]; then _order_sync "$@"; else compdef _order_sync order-sync; fi
`,
  fish: `# Completion of order-sync for fish: order-sync completion fish | source
function __order_sync_offered
    set -l typed (commandline -ct)
    set -l offered (order-sync completion fish -- -- (commandline -opc)[2..] "$typed" 2>/dev/null)
    if test "$offered" = :files
        __fish_complete_path "$typed"
    else
        printf '%s\\n' $offered
    end
end
complete -c order-sync -f -a '(__order_sync_offered)'
`,
} as const;
type Shell = keyof typeof SCRIPTS;

/** The separator between a name and its text. Bash shows no text. */
const TEXT_AFTER: Readonly<Record<Shell, string | undefined>> = { bash: undefined, zsh: ':', fish: '\t' };

const MOST_ACCOUNTS = 500;

const HELP = `
The shell completes commands, options and their values if the program is called
order-sync. The names of accounts come from the settings. The script calls this
command with the words that were typed, and the command prints the values that
the last word may have.

Examples:
  source <(order-sync completion bash)     # in ~/.bashrc
  source <(order-sync completion zsh)      # in ~/.zshrc, after compinit
  order-sync completion fish > ~/.config/fish/completions/order-sync.fish`;

type Offer = readonly [name: string, text?: string];

const FILES: readonly Offer[] = [[':files']];

export function define(command: Command): void {
  command
    .addArgument(new Argument('<shell>').choices(Object.keys(SCRIPTS)))
    .argument('[words...]', 'the words after the name of the program; the script passes them')
    .addHelpText('after', HELP)
    .action(async (shell: Shell, words: readonly string[]) => {
      if (words.length === 0) return void process.stdout.write(SCRIPTS[shell]);
      const [before, typed, option] = split(words);
      const offers = await offersAt(command, before, typed);
      const fitting = offers.filter(([name]) => name.startsWith(typed) || offers === FILES);
      const lines = fitting.map(([name, text = '']) => {
        const whole = shell === 'fish' && offers !== FILES ? option + name : name;
        return TEXT_AFTER[shell] === undefined || text === '' ? whole : whole + TEXT_AFTER[shell] + text;
      });
      process.stdout.write(lines.map((line) => `${line}\n`).join(''));
    });
}

/** Splits off the last word, and `--option=` at its beginning. Bash itself splits a word at the equals sign. */
function split(words: readonly string[]): readonly [before: readonly string[], typed: string, option: string] {
  const [before, typed = ''] = [words.slice(0, -1).filter((word) => word !== '='), words.at(-1)];
  const [, option, value] = /^(--[^=]+)=(.*)$/s.exec(typed) ?? [];
  if (option !== undefined && value !== undefined) return [[...before, option], value, `${option}=`];
  return [before, typed === '=' ? '' : typed, ''];
}

async function offersAt(completion: Command, before: readonly string[], typed: string): Promise<readonly Offer[]> {
  let command = completion.parent ?? completion;
  let taker: Option | undefined;
  for (const word of before) {
    // The word after an option that takes a value is the value.
    if (taker !== undefined) taker = undefined;
    else if (word.startsWith('-'))
      taker = optionsAt(command).find((option) => option.long === word && (option.required || option.optional));
    else command = command.commands.find((child) => child.name() === word) ?? command;
  }
  if (taker?.long === '--account') return await accountNames(completion, before);
  if (taker !== undefined) return valuesOf(taker);
  if (typed.startsWith('-'))
    return optionsAt(command).map(({ long, flags, description }) => [long ?? flags, description]);
  const values = command.registeredArguments.map(valuesOf).find((offers) => offers.length > 0) ?? [];
  if (values === FILES) return FILES;
  const commands = command.createHelp().visibleCommands(command);
  const offers = commands.map((child): Offer => [child.name(), child.summary() || child.description()]);
  return [...offers.filter(([name]) => name !== 'help'), ...values];
}

function optionsAt(command: Command): readonly Option[] {
  const own = command.createHelp().visibleOptions(command);
  let program = command;
  while (program.parent !== null) program = program.parent;
  return program === command ? own : [...own, ...program.options.filter(({ long }) => long === '--config')];
}

function valuesOf(taker: Option | Argument): readonly Offer[] {
  if (taker.argChoices !== undefined) return taker.argChoices.map((choice) => [choice]);
  return /\b(file|path|folder)\b/.test('flags' in taker ? taker.flags : taker.name()) ? FILES : [];
}

/** Returns the accounts of the settings; none if the settings are wrong. `--config` in `words` may name their file. */
async function accountNames(command: Command, words: readonly string[]): Promise<readonly Offer[]> {
  const { file, ...options } = await configOptions(command);
  const at = words.indexOf('--config');
  try {
    const { accounts } = loadConfig({ ...options, file: at < 0 ? file : words[at + 1], requireExchange: false });
    return accounts.slice(0, MOST_ACCOUNTS).map(({ name }) => [name]);
  } catch (error) {
    if (error instanceof ConfigError) return [];
    throw error;
  }
}
