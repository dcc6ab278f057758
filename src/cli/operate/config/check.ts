import type { Command } from 'commander';
import { loadConfig, type Config } from '../../../config/config.ts';
import { longestCronGapMs } from '../../../config/cron-gap.ts';
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
      const config = loadConfig({ ...configOptions(command), requireExchange: true });
      const { exchange, database } = config;
      const warnings = warningsOf(config);
      const facts = {
        ok: true,
        exchange: exchange.baseUrl,
        database: database.path,
        ...(warnings.length > 0 && { warnings }),
      };
      const sentence = `The settings are right: exchange ${facts.exchange}, database ${facts.database}.\n`;
      process.stdout.write(json === true ? `${JSON.stringify(facts)}\n` : sentence);
      for (const warning of warnings) process.stderr.write(`${warning}\n`);
    });
}

/** Says which settings are right one by one and do not fit together. */
function warningsOf({ schedule, reconcile }: Config): readonly string[] {
  const gapMs = longestCronGapMs(schedule.cron);
  if (gapMs <= reconcile.freshFor) return [];
  const [gap, fresh] = [gapMs, reconcile.freshFor].map((ms) => `${Math.round(ms / 360_000) / 10} h`);
  return [
    `schedule.cron leaves up to ${gap} between two look-ups and reconcile.freshFor is ${fresh}: orders will count as unchecked; look up more often or set a longer freshFor`,
  ];
}
