import type { Command } from 'commander';
import { configSources, loadConfig, processEnvironment, type ConfigOptions } from '../../config/config.ts';

/** Settings that are read and checked, and that nothing uses in this version. */
const WITHOUT_EFFECT: readonly string[] = ['ops.listen', 'webhooks.url', 'webhooks.secret'];

/** `config show` and `config check`. */
export function registerConfig(program: Command): void {
  const config = program
    .command('config')
    .description('settings, where they come from, and whether they are sound')
    .addHelpText('after', '\nExample:\n  order-sync config check');
  config
    .command('show')
    .description('every setting with its value and source; secrets are hidden')
    .option('--json', 'one JSON array')
    .addHelpText(
      'after',
      '\nExamples:\n  order-sync config show\n  order-sync config show --json | jq \'.[] | select(.source != "default")\'',
    )
    .action((options: { json?: boolean }, command: Command) => {
      const sources = configSources(optionsOf(command));
      process.stdout.write(options.json === true ? `${JSON.stringify(sources, null, 2)}\n` : asColumns(sources));
    });
  config
    .command('check')
    .description('reads all settings and says what is wrong with them (exit 78); connects to nothing')
    .option('--json', 'one JSON object')
    .addHelpText(
      'after',
      '\nExamples:\n  order-sync config check\n  order-sync --config /etc/order-sync.yaml config check',
    )
    .action((options: { json?: boolean }, command: Command) => {
      const { exchange, database } = loadConfig({ ...optionsOf(command), requireExchange: true });
      for (const { setting, source } of configSources(optionsOf(command))) {
        if (!WITHOUT_EFFECT.includes(setting) || source === 'default') continue;
        process.stderr.write(`${setting} has no effect in this version (from ${source})\n`);
      }
      const facts = { ok: true, exchange: exchange.baseUrl, database: database.path };
      const sentence = `The settings are sound: exchange ${facts.exchange}, database ${facts.database}.\n`;
      process.stdout.write(options.json === true ? `${JSON.stringify(facts)}\n` : sentence);
    });
}

function optionsOf(command: Command): ConfigOptions {
  const { config } = command.optsWithGlobals<{ config?: string }>();
  return { env: processEnvironment(), cwd: process.cwd(), file: config };
}

function asColumns(sources: ReturnType<typeof configSources>): string {
  const settingWidth = Math.max(...sources.map(({ setting }) => setting.length));
  const valueWidth = Math.max(...sources.map(({ value }) => value.length));
  return sources
    .map(({ setting, value, source }) => `${setting.padEnd(settingWidth)}  ${value.padEnd(valueWidth)}  ${source}\n`)
    .join('');
}
