import type { Command } from 'commander';
import { loadConfig } from '../../../config/config.ts';
import { configOptions } from '../../shared/options.ts';

/** `order-sync config check`. */
export function define(command: Command): void {
  command
    .description('reads all settings and says what is wrong with them (exit 78); connects to nothing')
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
