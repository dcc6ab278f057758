import type { Command } from 'commander';
import { configSources } from '../../../config/config.ts';
import { inColumns } from '../../shared/columns.ts';
import { configOptions } from '../../shared/options.ts';

/** `order-sync config show`. */
export function define(command: Command): void {
  command
    .description('shows every setting with its value and source; secrets are hidden')
    .option('--json', 'one JSON array')
    .addHelpText(
      'after',
      '\nExamples:\n  order-sync config show\n  order-sync config show --json | jq \'.[] | select(.source != "default")\'',
    )
    .action(({ json }: { json?: boolean }) => {
      const sources = configSources(configOptions(command));
      const table = inColumns(sources.map(({ setting, value, source }) => [setting, value, source]));
      process.stdout.write(json === true ? `${JSON.stringify(sources, null, 2)}\n` : table);
    });
}
