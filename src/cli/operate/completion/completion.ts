import { Argument, type Command } from 'commander';
import { bashScript, zshScript } from './bash-and-zsh.ts';
import { ConfigError } from '../../../config/config.ts';
import { plainConfig } from '../../shared/options.ts';
import { fishScript } from './fish.ts';
import { placesOf, type Place } from './tree.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const satisfies Record<
  string,
  (places: readonly Place[]) => string
>;

/** The script names so many accounts. */
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
    .addArgument(new Argument('<shell>').choices(Object.keys(SCRIPTS)))
    .addHelpText('after', HELP)
    .action((shell: keyof typeof SCRIPTS) => {
      if (command.parent === null) return;
      offerAccounts(command.parent, accountNames(command));
      process.stdout.write(SCRIPTS[shell](placesOf(command.parent)));
    });
}

/** The names of the accounts in the settings, a bounded number; none where the settings are wrong, which other commands say. */
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
