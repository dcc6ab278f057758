import { resolve } from 'node:path';
import { withoutPassword } from './database-url.ts';
import { databaseOf, type DatabaseConfig } from './database.ts';
import { readLayers, type ConfigOptions, type Layers } from './layers.ts';
import { ConfigError, PATHS, SECRETS, SETTINGS, type ConfigProblem, type Path, type Values } from './settings.ts';
import type { ListenAddress } from './values.ts';

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

/** The settings in force, frozen: durations in milliseconds, sizes in bytes, paths absolute. */
export type Config = Omit<Nested<Values>, 'database'> & {
  readonly database: DatabaseConfig;
  /** The file that holds the merchant key, where one is named. */
  readonly exchange: { readonly apiKeyFile?: string };
  /** The accounts that are driven, by name; `default` alone where none is named. */
  readonly accounts: readonly AccountConfig[];
};

/** The settings of one account, each complete: its own, the general ones where it has none, the defaults. */
export interface AccountConfig extends Pick<Config, 'exchange' | 'create' | 'follow'> {
  readonly name: string;
  /** Accounts of one group share the limits of their rate; undefined for one with its own. */
  readonly rateGroup: string | undefined;
}

/** The account of a row that names none. */
export const DEFAULT_ACCOUNT = 'default';

/** A Config that names an exchange. */
export type ExchangeConfig = Config & { readonly exchange: { readonly baseUrl: string; readonly apiKey: string } };

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

/** Reads the settings of all layers. Throws ConfigError with all that is wrong in them; with `requireExchange` also when no exchange is named. */
export function loadConfig(options: ConfigOptions & { readonly requireExchange: true }): ExchangeConfig;
export function loadConfig(options: ConfigOptions & { readonly requireExchange: boolean }): Config;
export function loadConfig(options: ConfigOptions & { readonly requireExchange: boolean }): Config {
  const layers = readLayers(options);
  const values = valuesOf(layers, options.requireExchange);
  return toConfig(values, options.cwd, layers.entries.get('exchange.apiKey')?.file);
}

/** The settings, with which the exchange can be asked. Throws ConfigError when they name no exchange or have no key. */
export function requireExchange(config: Config): ExchangeConfig {
  const missing = REQUIRED.filter(([name]) => config.exchange[name] === undefined);
  if (missing.length > 0) throw new ConfigError(missing.map(notSet));
  return config as ExchangeConfig;
}

/** Every setting with its value and source, secrets hidden. Throws ConfigError when one of them is wrong. */
export function configSources(options: ConfigOptions): ConfigSource[] {
  const layers = readLayers(options);
  valuesOf(layers, false);
  const { entries } = layers;
  return PATHS.map((setting) => {
    const { text, source } = entries.get(setting)!;
    const value = typeof text === 'string' ? withoutPassword(text) : `[${text.join(', ')}]`;
    const isHidden = SECRETS.includes(setting) && value !== '';
    return { setting, value: isHidden ? '(set, hidden)' : value === '' ? '(not set)' : value, source };
  });
}

/** Settings that are right one by one and contradict each other. */
function contradictions(values: Partial<Values>, entries: Layers['entries']): readonly ConfigProblem[] {
  const open = values['follow.openStatuses'] ?? [];
  return (['follow.finalStatuses', 'follow.succeededStatuses'] as const).flatMap((setting) => {
    const both = values[setting]?.find((status) => open.includes(status));
    const source = entries.get(setting)?.source ?? 'default';
    return both === undefined
      ? []
      : [{ setting, source, problem: `${both} stands in both ${setting} and follow.openStatuses` }];
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

/** The values of all settings. Throws ConfigError with everything that is wrong. */
function valuesOf({ entries, problems, isWhole }: Layers, isExchangeRequired: boolean): Values {
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
  for (const missing of isExchangeRequired ? REQUIRED.map(notSet) : []) {
    const { setting } = missing;
    const isSaid = !isWhole || all.some((one) => one.setting === setting || one.problem.includes(setting));
    if (values[setting] === undefined && !isSaid) all.push(missing);
  }
  all.push(...contradictions(values, entries));
  if (all.length > 0) throw new ConfigError(all);
  return values as Values;
}

function toConfig(values: Values, cwd: string, apiKeyFile: string | undefined): Config {
  const config: Record<string, Record<string, unknown>> = {};
  for (const path of PATHS) {
    const names = path.split('.');
    const last = names.pop()!;
    let section: Record<string, unknown> = config;
    for (const name of names) section = (section[name] ??= {}) as Record<string, unknown>;
    section[last] = values[path];
  }
  if (apiKeyFile !== undefined) config['exchange'] = { ...config['exchange'], apiKeyFile };
  config['photos'] = { ...config['photos'], folder: resolve(cwd, values['photos.folder']) };
  const { exchange, create, follow } = config;
  const accounts = [{ name: DEFAULT_ACCOUNT, rateGroup: undefined, exchange, create, follow }];
  return freeze({ ...config, database: databaseOf(values, cwd), accounts }) as unknown as Config;
}

function freeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) freeze(part);
  return Object.freeze(value);
}
