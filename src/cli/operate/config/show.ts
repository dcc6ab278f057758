import type { Command } from 'commander';
import { configSources, type ConfigSource } from '../../../config/config.ts';
import { fieldsText } from '../../../reports/formats/terminal/layout.ts';
import { CommandError, EXIT } from '../../shared/exit.ts';
import { didYouMean } from '../../shared/names.ts';
import { configOptions } from '../../shared/options.ts';
import { screenOf } from '../../shared/screen.ts';

/** People are shown so many settings: thousands of accounts may have some of their own. */
const MOST_SHOWN = 200;

/** `order-sync config show`. */
export function define(command: Command): void {
  command
    .description('shows every setting with its value and source; secrets are hidden')
    .argument('[setting]', 'only this one, or all below it, such as exchange or accounts.shop-1')
    .option('--json', 'one JSON array')
    .addHelpText(
      'after',
      '\nExamples:\n  order-sync config show exchange\n  order-sync config show --json | jq \'.[] | select(.source != "default")\'',
    )
    .action((wanted: string | undefined, { json }: { json?: boolean }) => {
      const all = configSources(configOptions(command));
      const sources = wanted === undefined ? all : below(wanted, all);
      if (json === true) {
        process.stdout.write(`${JSON.stringify(sources, null, 2)}\n`);
        return;
      }
      const shown = sources.slice(0, MOST_SHOWN);
      const fields = shown.map(({ setting, value, source }) => ({ label: setting, value: `${value}  (${source})` }));
      process.stdout.write(fieldsText(fields, screenOf()));
      const more = sources.length - shown.length;
      if (more > 0) process.stderr.write(`there are ${more} more; name a setting or an account, or give --json\n`);
    });
}

function below(wanted: string, all: readonly ConfigSource[]): readonly ConfigSource[] {
  const found = all.filter(({ setting }) => setting === wanted || setting.startsWith(`${wanted}.`));
  if (found.length > 0) return found;
  const names = all.map(({ setting }) => setting);
  const advice = didYouMean(wanted, names) ?? 'order-sync config show has them all';
  throw new CommandError(EXIT.usage, `there is no setting ${JSON.stringify(wanted)}: ${advice}`);
}
