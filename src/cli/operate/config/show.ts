import type { Command } from 'commander';
import { configSources } from '../../../config/config.ts';
import { fieldsText } from '../../../reports/formats/terminal/fields.ts';
import { configOptions } from '../../shared/options.ts';
import { screenOf } from '../../shared/screen.ts';

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
      const fields = sources.map(({ setting, value, source }) => ({ label: setting, value: `${value}  (${source})` }));
      process.stdout.write(json === true ? `${JSON.stringify(sources, null, 2)}\n` : fieldsText(fields, screenOf()));
    });
}
