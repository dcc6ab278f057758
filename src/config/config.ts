import { resolve } from 'node:path';
import {
  accountsOf,
  rateGroupProblems,
  readAccounts,
  unknownAccount,
  type AccountOf,
  type AccountValues,
} from './accounts.ts';
import { withoutPassword } from './database-url.ts';
import { databaseOf, type DatabaseConfig } from './database.ts';
import { readLayers, type ConfigOptions, type Layers } from './layers.ts';
import { readMerchantKey } from './merchant-key.ts';
import {
  ConfigError,
  PATHS,
  SECRETS,
  SETTINGS,
  type AccountPath,
  type AccountSection,
  type ConfigProblem,
  type Path,
  type Values,
} from './settings.ts';
import type { Entry } from './settings-file.ts';
import { isLoopback, type ListenAddress } from './values.ts';

export { ConfigError, type ListenAddress, type ConfigOptions };
export { sqlitePath, type DatabaseConfig, type SqliteDatabase } from './database.ts';

/** Values by paths as nested objects: that of `exchange.timeout` is the `timeout` of `exchange`. */
type Nested<V> = {
  readonly [
    P in keyof V as P extends `${infer Section}.${string}` ? Section : P
  ]: P extends `${infer Section}.${string}` ? Nested<Within<V, Section>> : V[P];
};
type Within<V, Section extends string> = {
  readonly [P in keyof V as P extends `${Section}.${infer Rest}` ? Rest : never]: V[P];
};

type GeneralConfig = Nested<Values> & {
  /** The file that holds the merchant key, where one is named. */
  readonly exchange: { readonly apiKeyFile?: string };
};

/** The settings in force, frozen: durations in milliseconds, sizes in bytes, paths absolute. */
export type Config = Omit<GeneralConfig, 'database'> & {
  readonly database: DatabaseConfig;
  /** The accounts that are driven, in the order of the file; `default` alone where none is named. */
  readonly accounts: readonly AccountConfig[];
};

/**
 * The settings of one account, each complete: its own, the general ones where it has none, the defaults. A key of its own that
 * stands in a file is not read yet: `requireExchange` reads it.
 */
export type AccountConfig = AccountOf<Pick<GeneralConfig, AccountSection>>;

/** Settings that name an exchange, with the key for it. */
export type WithExchange<C> = C & { readonly exchange: { readonly baseUrl: string; readonly apiKey: string } };

/** One setting for people: its value as written, and the place where it stands. */
export interface ConfigSource {
  readonly setting: string;
  readonly value: string;
  readonly source: string;
}

/** The environment of this process. Nothing else reads it. */
export function processEnvironment(): NodeJS.ProcessEnv {
  return process.env;
}

/**
 * Reads the settings of all layers. Throws ConfigError with all that is wrong in them; with `requireExchange` also when an
 * account has no exchange or no key.
 */
export function loadConfig(options: ConfigOptions & { readonly requireExchange: boolean }): Config {
  const layers = readLayers(options);
  const { values, accounts } = valuesOf(layers, options.requireExchange);
  const config = toConfig(values, accounts, options.cwd, layers.entries);
  const problems = [
    ...config.accounts.flatMap((account) => contradictions(account.follow, (path) => placeOf(layers, account, path))),
    ...rateGroupProblems(config.accounts, layers.accounts),
    ...(options.requireExchange && accounts.size > 0 ? missingExchange(config) : []),
  ];
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** The settings as one account has them, its own in the place of the general ones. */
export type AccountSettings = Config & { readonly account: string };

/** The settings as an account has them. Throws ConfigError where there is no such account. */
export function configOf(config: Config, name: string): AccountSettings {
  const account = config.accounts.find((one) => one.name === name);
  if (account === undefined) throw new ConfigError(unknownAccount(name, config.accounts));
  const { exchange, create, guard, follow } = account;
  return { ...config, exchange, create, guard, follow, account: name };
}

/** Tells how the exchange of an account is asked and read; the general settings hold for an account that they do not name. */
export function exchangeByAccount({ accounts, exchange }: Config): (name: string) => Config['exchange'] {
  const byName = new Map(accounts.map((account) => [account.name, account.exchange]));
  return (name) => byName.get(name) ?? exchange;
}

/**
 * The settings of an account, with which its exchange can be asked; reads the file of the key where that is not done yet.
 * Throws ConfigError when they name no exchange or have no key.
 */
export function requireExchange<C extends Pick<Config, 'exchange'>>(config: C): WithExchange<C> {
  const { apiKey = keyIn(config.exchange.apiKeyFile) } = config.exchange;
  const exchange = { ...config.exchange, ...(apiKey !== undefined && { apiKey }) };
  const missing = REQUIRED.filter(([name]) => exchange[name] === undefined);
  if (missing.length > 0) throw new ConfigError(missing.map(notSet));
  return { ...config, exchange } as WithExchange<C>;
}

function keyIn(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  return readMerchantKey(file);
}

/** Every setting with its value and source, secrets hidden. Throws ConfigError when one of them is wrong. */
export function configSources(options: ConfigOptions): ConfigSource[] {
  const layers = readLayers(options);
  valuesOf(layers, false);
  const { entries, accounts } = layers;
  return [
    ...PATHS.map((path) => sourceOf(path, path, entries.get(path)!)),
    ...[...accounts].flatMap(([name, own]) =>
      [...own].map(([path, entry]) => sourceOf(`accounts.${name}.${path}`, path, entry)),
    ),
  ];
}

function sourceOf(setting: string, path: Path | 'rateGroup', { text, source, file }: Entry): ConfigSource {
  const value = typeof text === 'string' ? withoutPassword(text) : `[${text.join(', ')}]`;
  const isSet = (value !== '' && value !== '[]') || file !== undefined;
  const isHidden = isSet && path !== 'rateGroup' && SECRETS.includes(path);
  return { setting, value: isHidden ? '(set, hidden)' : value || '(not set)', source };
}

/** Settings that are right one by one and contradict each other. */
function contradictions(
  follow: Partial<Config['follow']>,
  place: (path: AccountPath) => Pick<ConfigProblem, 'setting' | 'source'>,
): readonly ConfigProblem[] {
  const open = follow.openStatuses ?? [];
  return (['finalStatuses', 'succeededStatuses'] as const).flatMap((name) => {
    const both = follow[name]?.find((status) => open.includes(status));
    if (both === undefined) return [];
    const at = place(`follow.${name}`);
    return [{ ...at, problem: `${both} stands in both ${at.setting} and follow.openStatuses` }];
  });
}

/** The path and the place of a setting of an account: its own, or else the general one. */
function placeOf({ entries, accounts }: Layers, { name }: AccountConfig, path: AccountPath) {
  const own = accounts.get(name)?.get(path);
  if (own !== undefined) return { setting: `accounts.${name}.${path}`, source: own.source };
  return { setting: path, source: entries.get(path)?.source ?? 'default' };
}

/** What accounts lack that ask an exchange; said of the general settings where it is said of all. */
function missingExchange({ accounts }: Config): ConfigProblem[] {
  return REQUIRED.flatMap((required) => {
    const [name] = required;
    const lacking = accounts.filter(
      ({ exchange }) => exchange[name] === undefined && (name !== 'apiKey' || exchange.apiKeyFile === undefined),
    );
    if (lacking.length === accounts.length) return [notSet(required)];
    return lacking.map((account) => {
      const setting = `accounts.${account.name}.exchange.${name}`;
      return { setting, problem: `${setting} is not set, nor exchange.${name} for all accounts` };
    });
  });
}

/** What a command that talks to the exchange cannot do without, with how it is set. */
const REQUIRED = [
  ['baseUrl', 'order-sync init asks for it; or put it into config/local.yaml or ORDER_SYNC_EXCHANGE_BASE_URL'],
  [
    'apiKey',
    'order-sync init asks for it; or name a file of mode 0600 with it in exchange.apiKeyFile or ORDER_SYNC_EXCHANGE_API_KEY_FILE',
  ],
] as const;

function notSet([name, advice]: (typeof REQUIRED)[number]): ConfigProblem & { readonly setting: Path } {
  const setting = `exchange.${name}` as const;
  return { setting, problem: `${setting} is not set: ${advice}` };
}

/** The values of all settings, and those that accounts have of their own. Throws ConfigError with everything that is wrong. */
function valuesOf({ entries, accounts, problems, isWhole }: Layers, isExchangeRequired: boolean) {
  const all = [...problems];
  const values: { -readonly [P in Path]?: Values[P] } = {};
  for (const [setting, { text, source }] of entries) {
    // Said already.
    if (all.some((one) => one.setting === setting)) continue;
    try {
      Object.assign(values, { [setting]: SETTINGS[setting](text) });
    } catch (error) {
      all.push({ setting, source, problem: `${setting} ${(error as Error).message}` });
    }
  }
  for (const missing of isExchangeRequired && accounts.size === 0 ? REQUIRED.map(notSet) : []) {
    const { setting } = missing;
    const isSaid = !isWhole || all.some((one) => one.setting === setting || one.problem.includes(setting));
    if (values[setting] === undefined && !isSaid) all.push(missing);
  }
  if (values['database.url']?.kind === 'sqlite' && (values['workers.instances'] ?? 1) > 1) {
    const setting = 'workers.instances';
    const problem = `${setting} is above 1, and one process drives all accounts of a SQLite file: leave it at 1, or use PostgreSQL`;
    all.push({ setting, source: entries.get(setting)?.source ?? 'default', problem });
  }
  const { 'ops.listen': listen, 'ops.token': token } = values;
  if (listen !== undefined && !isLoopback(listen.host) && token === undefined) {
    const setting = 'ops.listen';
    const problem = `${setting} is not an address of this machine alone: set ops.token, or listen on 127.0.0.1`;
    all.push({ setting, source: entries.get(setting)?.source ?? 'default', problem });
  }
  if (values['ops.actions'] === 'on' && token === undefined) {
    const setting = 'ops.actions';
    const problem = `${setting} is on, and every user of this machine could decide about orders: set ops.token too, in a file (ORDER_SYNC_OPS_TOKEN_FILE)`;
    all.push({ setting, source: entries.get(setting)?.source ?? 'default', problem });
  }
  const own = readAccounts(accounts, all);
  if (all.length > 0) throw new ConfigError(all);
  return { values: values as Values, accounts: own };
}

function toConfig(values: Values, own: AccountValues, cwd: string, entries: Layers['entries']): Config {
  const config: Record<string, Record<string, unknown>> = {};
  for (const path of PATHS) {
    const names = path.split('.');
    const last = names.pop()!;
    let section: Record<string, unknown> = config;
    for (const name of names) section = (section[name] ??= {}) as Record<string, unknown>;
    section[last] = values[path];
  }
  const apiKeyFile = entries.get('exchange.apiKey')?.file;
  if (apiKeyFile !== undefined) config['exchange'] = { ...config['exchange'], apiKeyFile };
  config['photos'] = { ...config['photos'], folder: resolve(cwd, values['photos.folder']) };
  const socket = values['control.socket'];
  config['control'] = { socket: socket === undefined ? undefined : resolve(cwd, socket) };
  const database = databaseOf(values, cwd, entries.get('database.password')?.file);
  const general = { ...config, database } as unknown as Omit<Config, 'accounts'>;
  return freeze({ ...general, accounts: accountsOf(own, general) });
}

/** Freezes a value with all that is in it. What is frozen is so with all that is in it. */
function freeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) {
    if (typeof part === 'object' && part !== null && !Object.isFrozen(part)) freeze(part);
  }
  return Object.freeze(value);
}
