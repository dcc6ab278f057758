import { createHash } from 'node:crypto';
import { MOST_ROWS_READ_PER_REQUEST, readSettings, ROWS_READ_SETTING } from '../../../accounts/rules/fail-over.ts';
import type { AccountConfig, Config } from '../../../settings/config.ts';
import { readMerchantKey } from '../../../settings/settings-file.ts';
import { ConfigError } from '../../../settings/settings.ts';

/** Settings of an account by their paths, as text; a secret as a hash. */
export type SettingsText = Readonly<Record<string, string>>;

export function differences(kept: string, settings: SettingsText): readonly string[] {
  const others = readSettings(kept);
  const names = new Set([...Object.keys(others), ...Object.keys(settings)]);
  return [...names].filter((name) => others[name] !== settings[name]).toSorted();
}

/** Returns a function that reads, as text, the settings of an account that should be equal in all workers. */
export function settingsInForce(accounts: Config['accounts'], synchronousStandbys: number) {
  const byName = new Map(accounts.map((account) => [account.name, account]));
  return (name: string): SettingsText => {
    const account = byName.get(name);
    return account === undefined ? {} : settingsOf(account, synchronousStandbys);
  };
}

function settingsOf(account: AccountConfig, synchronousStandbys: number): SettingsText {
  const { name, rateGroup, exchange, create, follow, ...added } = account;
  const { rate } = exchange;
  const ofExtensions = Object.entries<object>(added).flatMap(([section, settings]) =>
    Object.entries(settings).map(([setting, value]): [string, unknown] => [`${section}.${setting}`, value]),
  );
  const values = {
    rateGroup,
    'exchange.baseUrl': exchange.baseUrl,
    'exchange.apiKey': hashOfKey(name, exchange),
    'exchange.rate': `${rate.requests} in ${rate.interval} ms`,
    'exchange.rate.mode': rate.mode,
    'exchange.concurrency': exchange.concurrency,
    'exchange.timeout': exchange.timeout,
    'exchange.absence': exchange.absence,
    'exchange.outputPosition': exchange.outputPosition,
    'create.onUnknown': create.onUnknown,
    'create.refusedBy': create.refusedBy,
    ...Object.fromEntries(ofExtensions),
    'follow.finalStatuses': follow.finalStatuses,
    'follow.succeededStatuses': follow.succeededStatuses,
    'follow.openStatuses': follow.openStatuses,
    'follow.disputedBy': follow.disputedBy,
    'database.synchronousStandbys': synchronousStandbys,
    [ROWS_READ_SETTING]: MOST_ROWS_READ_PER_REQUEST,
  };
  const known = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    known.map(([path, value]) => [path, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
}

/** Returns a hash, which shows only whether two keys are equal; undefined if no key can be read. */
function hashOfKey(account: string, { apiKey, apiKeyFile }: AccountConfig['exchange']): string | undefined {
  try {
    const key = apiKey ?? readMerchantKey(apiKeyFile);
    return key && createHash('sha256').update(`${account}\n${key}`).digest('hex').slice(0, 16);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return undefined;
  }
}
