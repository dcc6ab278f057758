import { Argument, type Command } from 'commander';
import { bashScript, zshScript } from './bash-and-zsh.ts';
import { fishScript } from './fish.ts';
import { placesOf, type Place } from './tree.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const satisfies Record<
  string,
  (places: readonly Place[]) => string
>;

const HELP = `
The shell completes commands, options and their values where the program is
called order-sync.

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
      if (command.parent !== null) process.stdout.write(SCRIPTS[shell](placesOf(command.parent)));
    });
}
