import type { Command } from 'commander';
import { configSources, loadConfig } from '../../config/config.ts';
import { configOptions } from '../shared/options.ts';

/** `order-sync config show`. */
export function defineShow(command: Command): void {
  command
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

/** `order-sync config check`. */
export function defineCheck(command: Command): void {
  command
    .option('--json', 'one JSON object')
    .addHelpText(
      'after',
      '\nExamples:\n  order-sync config check\n  order-sync --config /etc/order-sync.yaml config check',
    )
    .action(({ json }: { json?: boolean }) => {
      const { exchange, database } = loadConfig({ ...configOptions(command), requireExchange: true });
      const facts = { ok: true, exchange: exchange.baseUrl, database: database.path };
      const sentence = `The settings are right: exchange ${facts.exchange}, database ${facts.database}.\n`;
      process.stdout.write(json === true ? `${JSON.stringify(facts)}\n` : sentence);
    });
}

function asColumns(sources: ReturnType<typeof configSources>): string {
  const settingWidth = Math.max(...sources.map(({ setting }) => setting.length));
  const valueWidth = Math.max(...sources.map(({ value }) => value.length));
  return sources
    .map(({ setting, value, source }) => `${setting.padEnd(settingWidth)}  ${value.padEnd(valueWidth)}  ${source}\n`)
    .join('');
}
