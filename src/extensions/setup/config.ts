import type { Command } from 'commander';
import { ConfigError, loadConfig, requireExchange, type Config, type ConfigOptions } from '../../settings/config.ts';
import { CommandError, EXIT } from '../../cli/shared/exit.ts';
import { examples } from '../commands/options.ts';
import { didYouMean, screenOf } from '../../cli/shared/help.ts';
import { configOptions } from '../../cli/shared/options.ts';
import { printLong } from '../commands/print.ts';
import { durationText } from '../../settings/values.ts';
import { DEFAULT_ACCOUNT } from '../../accounts/rules/name.ts';
import { longestCronGapMs } from './cron-gap.ts';
import { settingsSchema } from './schema.ts';
import { fieldsText } from '../../cli/shared/terminal.ts';
import { type ConfigSource, configSources } from './sources.ts';
import { counted } from '../documents/words.ts';

export const define = { show: defineShow, check: defineCheck, schema: defineSchema };

/** The most settings shown as text, because thousands of accounts may have settings of their own. */
const MOST_SHOWN = 200;

function defineShow(command: Command): void {
  command
    .description('shows every setting with its value and source; secrets are hidden')
    .argument('[setting]', 'only this setting, or all settings below it, such as exchange or accounts.shop-1')
    .option('--json', 'one JSON array')
    .addHelpText(...examples('config show exchange', 'config show --json | jq \'.[] | select(.source != "default")\''))
    .action(async (wanted: string | undefined, { json }: { json?: boolean }) => {
      const all = configSources(await configOptions(command));
      const sources = wanted === undefined ? all : below(wanted, all);
      const shown = sources.slice(0, MOST_SHOWN);
      const fields = shown.map(({ setting, value, source }) => ({ label: setting, value: `${value}  (${source})` }));
      await printLong(json, sources, () => fieldsText(fields, screenOf()));
      const more = sources.length - shown.length;
      if (json !== true && more > 0)
        process.stderr.write(`there are ${more} more settings; name some, such as accounts.shop-1, or use --json\n`);
    });
}

function below(wanted: string, all: readonly ConfigSource[]): readonly ConfigSource[] {
  const found = all.filter(({ setting }) => setting === wanted || setting.startsWith(`${wanted}.`));
  if (found.length > 0) return found;
  const names = all.map(({ setting }) => setting);
  const advice = didYouMean(wanted, names) ?? 'order-sync config show lists all settings';
  throw new CommandError(EXIT.usage, `there is no setting ${JSON.stringify(wanted)}: ${advice}`);
}

const MOST_NAMES = 3;

function defineCheck(command: Command): void {
  command
    .description('reads all settings and says what is wrong with them (exit 78); connects to nothing')
    .option('--json', 'one JSON object')
    .addHelpText(...examples('config check', '--config /etc/order-sync.yaml config check'))
    .action(async ({ json }: { json?: boolean }) => {
      checkSettings(await configOptions(command), json === true);
      if (json !== true) process.stdout.write('A daemon reads its settings when it starts. If one runs, restart it.\n');
    });
}

/** Prints that the settings are right, and warnings on stderr. Throws `ConfigError` if a setting is wrong. */
export function checkSettings(options: ConfigOptions, asJson: boolean): void {
  const { config, warnings } = rightSettings(options, asJson);
  const { exchange, database, accounts } = config;
  const [first, ...others] = accounts.map(({ name }) => name);
  const isOne = others.length === 0 && first === DEFAULT_ACCOUNT;
  const baseUrl = isOne ? accounts[0]?.exchange.baseUrl : exchange.baseUrl;
  const facts = {
    ok: true,
    ...(baseUrl !== undefined && { exchange: baseUrl }),
    database: database.address,
    ...(!isOne && { accounts: [first, ...others] }),
    ...(warnings.length > 0 && { warnings }),
  };
  const place = isOne ? `exchange ${baseUrl}` : counted(accounts.length, 'account');
  const sentence = `The settings are right: ${place}, database ${database.address}.\n`;
  process.stdout.write(asJson ? `${JSON.stringify(facts)}\n` : sentence);
  for (const warning of warnings) process.stderr.write(`${warning}\n`);
}

export function rightSettings(options: ConfigOptions, asJson: boolean) {
  try {
    const config = loadConfig({ ...options, requireExchange: true });
    return { config, warnings: [...warningsOf(config), ...sharedKeys(withKeys(config))] };
  } catch (error) {
    if (asJson && error instanceof ConfigError)
      process.stdout.write(`${JSON.stringify({ ok: false, problems: error.problems })}\n`);
    throw error;
  }
}

/** Reads the key of each account. Throws `ConfigError` with all unreadable keys, because each stops its account. */
function withKeys({ accounts }: Config) {
  const problems: ConfigError['problems'][number][] = [];
  const complete = accounts.flatMap((account) => {
    try {
      return [requireExchange(account)];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const setting = `accounts.${account.name}.exchange.apiKey`;
      problems.push(...error.problems.map(({ problem }) => ({ setting, problem: `${setting}: ${problem}` })));
      return [];
    }
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return complete;
}

/** Returns warnings about accounts that share a key but no rate group, because the exchange may limit by key. */
function sharedKeys(accounts: ReturnType<typeof withKeys>): readonly string[] {
  const byKey = Map.groupBy(accounts, ({ exchange }) => exchange.apiKey);
  return [...byKey.values()].flatMap((all) => {
    const limits = new Set(all.map(({ name, rateGroup }) => (rateGroup === undefined ? `one ${name}` : rateGroup)));
    if (limits.size === 1) return [];
    const more = all.length > MOST_NAMES ? ` and ${all.length - MOST_NAMES} more` : '';
    const names = all.slice(0, MOST_NAMES).map(({ name }) => name);
    const advice = 'give them one rateGroup if the exchange limits the key';
    return [`the accounts ${names.join(', ')}${more} share a key, but not a rate limit: ${advice}`];
  });
}

function warningsOf({ schedule, reconcile, database }: Config): readonly string[] {
  const gapMs = longestCronGapMs(schedule.cron);
  const gap = Number.isFinite(gapMs) ? `up to ${durationText(gapMs)}` : 'years';
  const password = `database.url contains a password: move the password to a file of mode 0600, and name the file in database.passwordFile or ORDER_SYNC_DATABASE_PASSWORD_FILE`;
  const cron = `schedule.cron leaves ${gap} between two look-ups and reconcile.freshFor is ${durationText(reconcile.freshFor)}: orders will count as unchecked; look up more often or set a longer freshFor`;
  return [
    ...(database.kind === 'postgres' && database.isPasswordInUrl ? [password] : []),
    ...(gapMs > reconcile.freshFor ? [cron] : []),
  ];
}

function defineSchema(command: Command): void {
  command
    .description('prints the JSON Schema of a settings file, for editors; config/schema.json contains it')
    .option('--json', 'changes nothing: the schema is always JSON')
    .addHelpText(...examples('config schema > /etc/order-sync/schema.json'))
    .action(async () => {
      process.stdout.write(`${JSON.stringify(settingsSchema(await configOptions(command)), null, 2)}\n`);
    });
}
