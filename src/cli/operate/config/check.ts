import type { Command } from 'commander';
import {
  ConfigError,
  loadConfig,
  type Config,
  type ConfigOptions,
  type ExchangeConfig,
} from '../../../config/config.ts';
import { longestCronGapMs } from '../../../config/cron-gap.ts';
import { durationText } from '../../../config/values.ts';
import { configOptions } from '../../shared/options.ts';

/** `order-sync config check`. */
export function define(command: Command): void {
  command
    .description('reads all settings and says everything that is wrong with them (exit 78); connects to nothing')
    .option('--json', 'one JSON object')
    .addHelpText(
      'after',
      '\nExamples:\n  order-sync config check\n  order-sync --config /etc/order-sync.yaml config check',
    )
    .action(({ json }: { json?: boolean }) => {
      checkSettings(configOptions(command), json === true);
    });
}

/** Says that the settings are right, and what does not fit together. Throws `ConfigError` with everything that is wrong. */
export function checkSettings(options: ConfigOptions, asJson: boolean): void {
  const config = rightSettings(options, asJson);
  const { exchange, database } = config;
  const warnings = warningsOf(config);
  const facts = {
    ok: true,
    exchange: exchange.baseUrl,
    database: database.address,
    ...(warnings.length > 0 && { warnings }),
  };
  const sentence = `The settings are right: exchange ${facts.exchange}, database ${facts.database}.\n`;
  process.stdout.write(asJson ? `${JSON.stringify(facts)}\n` : sentence);
  for (const warning of warnings) process.stderr.write(`${warning}\n`);
}

function rightSettings(options: ConfigOptions, asJson: boolean): ExchangeConfig {
  try {
    return loadConfig({ ...options, requireExchange: true });
  } catch (error) {
    if (asJson && error instanceof ConfigError) {
      process.stdout.write(`${JSON.stringify({ ok: false, problems: error.problems })}\n`);
    }
    throw error;
  }
}

/** Says which settings are right one by one and do not fit together. */
function warningsOf({ schedule, reconcile }: Config): readonly string[] {
  const gapMs = longestCronGapMs(schedule.cron);
  if (gapMs <= reconcile.freshFor) return [];
  const gap = Number.isFinite(gapMs) ? `up to ${durationText(gapMs)}` : 'years';
  return [
    `schedule.cron leaves ${gap} between two look-ups and reconcile.freshFor is ${durationText(reconcile.freshFor)}: orders will count as unchecked; look up more often or set a longer freshFor`,
  ];
}
