import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { readEntries, type ConfigOptions, type Entries } from './layers.ts';
import { ConfigError, MAY_BE_UNSET, PATHS, SECRETS, SETTINGS, type LOG_LEVELS, type Values } from './settings.ts';
import type { ListenAddress } from './values.ts';

export { ConfigError, type ListenAddress, type ConfigOptions };

/** The settings in force. Frozen. */
export interface Config {
  readonly exchange: {
    /** Without a slash at its end. */
    readonly baseUrl: string | undefined;
    readonly apiKey: string | undefined;
    readonly rate: { readonly requests: number; /** ms */ readonly interval: number };
    readonly concurrency: number;
    /** ms */
    readonly timeout: number;
    readonly maxResponseBytes: number;
  };
  /** `path` is the absolute path of the SQLite file, the same one by whatever symbolic links it is named. */
  readonly database: { readonly url: string; readonly path: string };
  readonly schedule: { readonly cron: string };
  readonly create: {
    readonly onUnknown: 'hold' | 'resend';
    /** ms since the request */ readonly verifyAfter: readonly number[];
  };
  readonly follow: {
    readonly finalStatuses: readonly string[];
    readonly openStatuses: readonly string[];
    /** ms since the order became final */
    readonly recheckFinalAfter: readonly number[];
  };
  readonly reconcile: {
    /** Decimal text. */
    readonly tolerance: string;
    /** ms */
    readonly orderMissingAfter: number;
    /** ms */
    readonly freshFor: number;
    /** Undefined: off. */
    readonly cron: string | undefined;
  };
  /** Cron undefined: off. */
  readonly links: { readonly cron: string | undefined; readonly finalStatuses: readonly string[] };
  /** Undefined: off. */
  readonly ops: { readonly listen: ListenAddress | undefined };
  readonly photos: {
    /** Undefined: off. */
    readonly listen: ListenAddress | undefined;
    /** Absolute. */
    readonly folder: string;
    /** ms */
    readonly tokenLifetime: number;
    readonly maxFileBytes: number;
    readonly maxFiles: number;
    readonly maxTotalBytes: number;
    /** ms */
    readonly timeout: number;
    readonly concurrency: number;
  };
  readonly webhooks: { readonly url: string | undefined; readonly secret: string | undefined };
  readonly log: { readonly level: (typeof LOG_LEVELS)[number] };
}

/** A Config that names an exchange. */
export type ExchangeConfig = Config & { readonly exchange: { readonly baseUrl: string; readonly apiKey: string } };

/** One setting for people: its value as written and where it stands. */
export interface ConfigSource {
  readonly setting: string;
  readonly value: string;
  readonly source: string;
}

/** The environment of this process; nothing else reads it. */
export function processEnvironment(): NodeJS.ProcessEnv {
  return process.env;
}

/** Reads the settings of all layers. Throws ConfigError; with `requireExchange` also when no exchange is named. */
export function loadConfig(options: ConfigOptions & { readonly requireExchange: true }): ExchangeConfig;
export function loadConfig(options: ConfigOptions & { readonly requireExchange: boolean }): Config;
export function loadConfig(options: ConfigOptions & { readonly requireExchange: boolean }): Config {
  const values = parseEntries(readEntries(options));
  if (options.requireExchange) {
    if (values['exchange.baseUrl'] === undefined) {
      throw new ConfigError(
        'exchange.baseUrl is not set: put it into config/local.yaml or ORDER_SYNC_EXCHANGE_BASE_URL',
      );
    }
    if (values['exchange.apiKey'] === undefined) {
      throw new ConfigError(
        'exchange.apiKey is not set: name a file of mode 0600 with it in ORDER_SYNC_EXCHANGE_API_KEY_FILE',
      );
    }
  }
  return toConfig(values, options.cwd);
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
    const isUnset = text === '' && MAY_BE_UNSET.includes(path);
    const result = SETTINGS[path].safeParse(isUnset ? undefined : text);
    if (!result.success) throw new ConfigError(`${path} ${result.error.issues[0]?.message} (from ${source})`);
    values[path] = result.data;
  }
  return values as Values;
}

function toConfig(values: Values, cwd: string): Config {
  const url = values['database.url'];
  const [, file] = /^sqlite:(?!\/\/)(.+)$/.exec(url) ?? [];
  if (file === undefined) throw new ConfigError('database.url must be sqlite:PATH, such as sqlite:data/order-sync.db');
  const both = values['follow.finalStatuses'].find((status) => values['follow.openStatuses'].includes(status));
  if (both !== undefined) throw new ConfigError(`${both} stands in both follow.finalStatuses and follow.openStatuses`);
  const config: Record<string, Record<string, unknown>> = {};
  for (const path of PATHS) {
    const names = path.split('.');
    const last = names.pop()!;
    let section: Record<string, unknown> = config;
    for (const name of names) section = (section[name] ??= {}) as Record<string, unknown>;
    section[last] = values[path];
  }
  config['database'] = { url, path: realPath(resolve(cwd, file)) };
  config['photos'] = { ...config['photos'], folder: resolve(cwd, values['photos.folder']) };
  return freeze(config) as unknown as Config;
}

/** Where a path leads; of one that does not exist yet, where its folder leads. */
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
