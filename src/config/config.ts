import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { readEntries, type ConfigOptions, type Entries } from './layers.ts';
import { ConfigError, PATHS, SECRETS, SETTINGS, type Values } from './settings.ts';
import type { ListenAddress } from './values.ts';

export { ConfigError, type ListenAddress, type ConfigOptions };

/** Values by paths as nested objects: that of `exchange.timeout` is the `timeout` of `exchange`. */
type Nested<V> = {
  readonly [
    P in keyof V as P extends `${infer Section}.${string}` ? Section : P
  ]: P extends `${infer Section}.${string}` ? Nested<Within<V, Section>> : V[P];
};
type Within<V, Section extends string> = {
  readonly [P in keyof V as P extends `${Section}.${infer Rest}` ? Rest : never]: V[P];
};

/**
 * The settings in force, frozen: durations in milliseconds, sizes in bytes, the photos' folder absolute. The path of the
 * database is the absolute path of the SQLite file, the same one by whatever symbolic links it is named.
 */
export type Config = Omit<Nested<Values>, 'database'> & {
  readonly database: { readonly url: string; readonly path: string };
  /** The file that holds the merchant key, where a variable names one. */
  readonly exchange: { readonly apiKeyFile?: string };
};

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

/** Reads the settings of all layers. Throws ConfigError; with `requireExchange` also when no exchange is named. */
export function loadConfig(options: ConfigOptions & { readonly requireExchange: true }): ExchangeConfig;
export function loadConfig(options: ConfigOptions & { readonly requireExchange: boolean }): Config;
export function loadConfig(options: ConfigOptions & { readonly requireExchange: boolean }): Config {
  const entries = readEntries(options);
  const values = parseEntries(entries);
  if (options.requireExchange && values['exchange.baseUrl'] === undefined) {
    throw new ConfigError('exchange.baseUrl is not set: put it into config/local.yaml or ORDER_SYNC_EXCHANGE_BASE_URL');
  }
  if (options.requireExchange && values['exchange.apiKey'] === undefined) {
    const advice = 'name a file of mode 0600 with it in ORDER_SYNC_EXCHANGE_API_KEY_FILE';
    throw new ConfigError(`exchange.apiKey is not set: ${advice}`);
  }
  return toConfig(values, options.cwd, entries.get('exchange.apiKey')?.file);
}

/** Every setting with its value and source, secrets hidden. Throws ConfigError when one of them is wrong. */
export function configSources(options: ConfigOptions): ConfigSource[] {
  const entries = readEntries(options);
  parseEntries(entries);
  return PATHS.map((setting) => {
    const { text, source } = entries.get(setting)!;
    const value = typeof text === 'string' ? text : `[${text.join(', ')}]`;
    const isHidden = SECRETS.includes(setting) && value !== '';
    return { setting, value: isHidden ? '(set, hidden)' : value === '' ? '(not set)' : value, source };
  });
}

function parseEntries(entries: Entries): Values {
  const values: Record<string, unknown> = {};
  for (const [path, { text, source }] of entries) {
    try {
      values[path] = SETTINGS[path](text);
    } catch (error) {
      throw new ConfigError(`${path} ${(error as Error).message} (from ${source})`);
    }
  }
  return values as Values;
}

function toConfig(values: Values, cwd: string, apiKeyFile: string | undefined): Config {
  const url = values['database.url'];
  const [, file] = /^sqlite:(?!\/\/)(.+)$/.exec(url) ?? [];
  if (file === undefined) throw new ConfigError('database.url must be sqlite:PATH, such as sqlite:data/order-sync.db');
  const open = values['follow.openStatuses'];
  for (const setting of ['follow.finalStatuses', 'follow.succeededStatuses'] as const) {
    const both = values[setting].find((status) => open.includes(status));
    if (both !== undefined) throw new ConfigError(`${both} stands in both ${setting} and follow.openStatuses`);
  }
  const config: Record<string, Record<string, unknown>> = {};
  for (const path of PATHS) {
    const names = path.split('.');
    const last = names.pop()!;
    let section: Record<string, unknown> = config;
    for (const name of names) section = (section[name] ??= {}) as Record<string, unknown>;
    section[last] = values[path];
  }
  config['database'] = { url, path: realPath(resolve(cwd, file)) };
  if (apiKeyFile !== undefined) config['exchange'] = { ...config['exchange'], apiKeyFile };
  config['photos'] = { ...config['photos'], folder: resolve(cwd, values['photos.folder']) };
  return freeze(config) as unknown as Config;
}

/** The path without symbolic links; of a file that does not exist yet, its folder's without them. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(realPath(folder), basename(path));
  }
}

function freeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) freeze(part);
  return Object.freeze(value);
}
