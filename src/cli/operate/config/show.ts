import type { Command } from 'commander';
import { configSources } from '../../../config/config.ts';
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
      process.stdout.write(json === true ? `${JSON.stringify(sources, null, 2)}\n` : asColumns(sources));
    });
}

function asColumns(sources: ReturnType<typeof configSources>): string {
  const settingWidth = Math.max(...sources.map(({ setting }) => setting.length));
  const valueWidth = Math.max(...sources.map(({ value }) => value.length));
  return sources
    .map(({ setting, value, source }) => `${setting.padEnd(settingWidth)}  ${value.padEnd(valueWidth)}  ${source}\n`)
    .join('');
}
