import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { sqliteAt, type DatabaseConfig } from './database.ts';
import {
  nested,
  ownFile,
  problemsOf,
  readLayers,
  settingsFile,
  type ConfigOptions,
  type Entries,
  type Layers,
  type SettingsFile,
} from './layers.ts';
import { keyPlace, readMerchantKey } from './settings-file.ts';
import { ConfigError, settingOf, type AccountConfig, type ConfigProblem, type Settings } from './settings.ts';
import { DEFAULT_ACCOUNT } from '../accounts/rules/name.ts';
import { OWN_SETTINGS } from '../base/places.ts';
import { suggestion } from '../base/text.ts';

export { ConfigError, type AccountConfig, type ConfigOptions };
export type { DatabaseConfig, SqliteDatabase } from './database.ts';

/** The frozen settings of core and extensions. Durations are in milliseconds, sizes in bytes, and paths absolute. */
export type Config = Readonly<Omit<Settings, 'database'>> & {
  readonly database: DatabaseConfig;
  /** The accounts in the order of the file; `default` alone if none is named. */
  readonly accounts: readonly AccountConfig[];
  /** The settings file as it was when these settings were read; null if there is none. */
  readonly file: SettingsFile | null;
};

export type WithExchange<C> = C & { readonly exchange: { readonly baseUrl: string; readonly apiKey: string } };

/** Only this function and runtime.cjs read the environment. */
export function processEnvironment(): NodeJS.ProcessEnv {
  return process.env;
}

/** Throws ConfigError. With `requireExchange`, an account without exchange or key is a problem. */
export function loadConfig(options: ConfigOptions & { readonly requireExchange: boolean }): Config {
  const path = ownFile(options);
  const file = path === null ? null : settingsFile(path);
  const layers = readLayers(options);
  const { settings: written, accounts } = read(layers, options.requireExchange);
  const settings = withPaths(written, layers.schema.files, options.cwd);
  const { url } = settings.database;
  // The extension that read a URL of another kind also has `server`.
  const database = url.kind === 'sqlite' ? sqliteAt(url.file, options.cwd) : layers.schema.server!(settings.database);
  const config = { ...settings, accounts, file, database };
  const problems = rateGroupProblems(accounts, layers.accounts);
  if (problems.length > 0) throw new ConfigError(problems);
  return freeze(config);
}

function withPaths(settings: Settings, files: readonly string[], cwd: string): Settings {
  const sections: Record<string, Readonly<Record<string, unknown>>> = { ...settings };
  for (const [section = '', name = ''] of files.map((path) => path.split('.'))) {
    const path = sections[section]?.[name];
    if (typeof path === 'string') sections[section] = { ...sections[section], [name]: resolve(cwd, path) };
  }
  return sections as Settings;
}

export type AccountSettings = Config & { readonly account: string };

/** Returns the settings of one account. Throws ConfigError if there is no such account. */
export function configOf(config: Config, name: string): AccountSettings {
  const account = config.accounts.find((one) => one.name === name);
  if (account === undefined) throw new ConfigError(unknownAccount(name, config.accounts));
  const { rateGroup: _group, name: _name, ...own } = account;
  return { ...config, ...own, account: name };
}

/** Groups the accounts that share a rate limit. One process owns a whole group. Any other account is a group alone. */
export function groupsOf({ accounts }: Pick<Config, 'accounts'>): readonly (readonly string[])[] {
  const groups = Map.groupBy(accounts, ({ name, rateGroup }) =>
    JSON.stringify(rateGroup === undefined ? { name } : { rateGroup }),
  );
  return [...groups.values()].map((group) => group.map(({ name }) => name));
}

export function groupOf({ accounts }: Pick<Config, 'accounts'>, account: string): readonly string[] {
  const rateGroup = accounts.find(({ name }) => name === account)?.rateGroup;
  if (rateGroup === undefined) return [account];
  return accounts.filter((one) => one.rateGroup === rateGroup).map(({ name }) => name);
}

type Exchanges = Pick<Config, 'accounts' | 'exchange'>;

export function exchangeByAccount({ accounts, exchange }: Exchanges): (name: string) => Config['exchange'] {
  const byName = new Map(accounts.map((account) => [account.name, account.exchange]));
  return (name) => byName.get(name) ?? exchange;
}

export function keyPlaceByAccount(config: Exchanges): (name: string) => string {
  const exchangeOf = exchangeByAccount(config);
  return (name) => keyPlace(exchangeOf(name));
}

/** Reads the key from its file if the settings lack the key. Throws ConfigError if there is no exchange or no key. */
export function requireExchange<C extends Pick<Config, 'exchange'>>(config: C): WithExchange<C> {
  const { apiKey = readMerchantKey(config.exchange.apiKeyFile) } = config.exchange;
  const exchange = { ...config.exchange, ...(apiKey !== undefined && { apiKey }) };
  const missing = REQUIRED.filter(([name]) => exchange[name] === undefined);
  if (missing.length > 0) throw new ConfigError(missing.map(notSet));
  return { ...config, exchange } as WithExchange<C>;
}

const REQUIRED = [
  ['baseUrl', `order-sync init asks for it; or put it into ${OWN_SETTINGS} or ORDER_SYNC_EXCHANGE_BASE_URL`],
  [
    'apiKey',
    'order-sync init asks for it; or name a file of mode 0600 with it in exchange.apiKeyFile or ORDER_SYNC_EXCHANGE_API_KEY_FILE',
  ],
] as const;

function notSet([name, advice]: (typeof REQUIRED)[number]): ConfigProblem & { readonly setting: string } {
  const setting = `exchange.${name}` as const;
  return { setting, problem: `${setting} is not set: ${advice}` };
}

export function read(layers: Layers, isExchangeRequired: boolean): { settings: Settings; accounts: AccountConfig[] } {
  const { data: settings, error } = layers.schema.general.type.safeParse(nested(layers.entries));
  const found = (error?.issues ?? []).flatMap((issue) => problemsOf(issue, issue.path, layers));
  const problems = [...layers.problems];
  // A setting that could not be read has a problem already, so its missing value adds none.
  problems.push(...found.filter(({ setting }) => !problems.some((said) => said.setting === setting)));
  if (isExchangeRequired && layers.isWhole) problems.push(...missingExchange(layers, problems));
  const accounts = accountsOf(layers, settings, problems);
  if (settings === undefined || problems.length > 0) throw new ConfigError(problems);
  return { settings, accounts };
}

/** Returns a problem for each required setting that all accounts lack, else one for each account that lacks it. */
function missingExchange(layers: Layers, problems: readonly ConfigProblem[]): ConfigProblem[] {
  const { entries } = layers;
  const accounts = [...accountsIn(layers)];
  return REQUIRED.flatMap((required) => {
    const { setting } = notSet(required);
    const lacking = accounts.filter(([, own]) => {
      const { value = '', file = '' } = own.get(setting) ?? entries.get(setting) ?? {};
      return value === '' && file === '';
    });
    if (problems.some((said) => said.setting === setting || said.problem.includes(setting))) return [];
    if (lacking.length === accounts.length) return [notSet(required)];
    return lacking.map(([name]) => {
      const path = settingOf(setting, name);
      return { setting: path, problem: `${path} is not set, nor ${setting} for all accounts` };
    });
  });
}

function accountsIn({ accounts }: Pick<Layers, 'accounts'>): Layers['accounts'] {
  return accounts.size === 0 ? new Map([[DEFAULT_ACCOUNT, new Map()]]) : accounts;
}

/** Freezes a value and its parts. The parts of a frozen value are frozen already. */
function freeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) {
    if (typeof part === 'object' && part !== null && !Object.isFrozen(part)) freeze(part);
  }
  return Object.freeze(value);
}

const MOST_NAMES = 5;
type Part = Exclude<keyof AccountConfig, 'name'>;

/** Lays each account's settings over the general settings. Adds new problems. Reads settings of equal text once. */
function accountsOf(layers: Layers, settings: Settings | undefined, problems: ConfigProblem[]): AccountConfig[] {
  const { schema, entries } = layers;
  const general = { rateGroup: undefined, ...settings };
  const names = Object.keys(schema.account.type.shape) as Part[];
  const textOf = ({ setting, problem }: ConfigProblem) => `${setting} ${problem}`;
  const said = new Set(problems.map(textOf));
  const shared = new Map<string, ReturnType<(typeof schema.account.type.shape)[Part]['safeParse']>>();
  const valueOf = (name: string, own: Entries, part: Part) => {
    const written = partOf(own, part);
    if (written.size === 0) return general[part];
    const key = JSON.stringify([...written].map(([path, { value, file }]) => [path, value, file]));
    const all = () => nested(new Map([...partOf(entries, part), ...written]));
    const result = shared.get(key) ?? schema.account.type.shape[part].safeParse(all()[part]);
    shared.set(key, result);
    const issues = result.error?.issues ?? [];
    const found = issues.flatMap((issue) => problemsOf(issue, [part, ...issue.path], layers, { name, own }));
    problems.push(...found.filter((problem) => !said.has(textOf(problem))));
    return result.data;
  };
  return [...accountsIn(layers)].map(([name, own]) => {
    const parts = Object.fromEntries(names.map((part) => [part, valueOf(name, own, part)]));
    return { ...(parts as AccountConfig), name };
  });
}

function partOf(entries: Entries, part: Part): Entries {
  return new Map([...entries].filter(([path]) => path === part || path.startsWith(`${part}.`)));
}

function rateGroupProblems(accounts: readonly AccountConfig[], entries: Layers['accounts']): ConfigProblem[] {
  const groups = Map.groupBy(accounts, ({ rateGroup }) => rateGroup);
  groups.delete(undefined);
  return [...groups].flatMap(([group, [first, ...others]]) =>
    others.flatMap(({ name, exchange }) => {
      if (isDeepStrictEqual(exchange.rate, first?.exchange.rate)) return [];
      const setting = `accounts.${name}.exchange.rate`;
      const source = entries.get(name)?.get('rateGroup')?.source;
      const problem = `${setting} differs from the rate of ${first?.name}, but both accounts are in the rateGroup ${group}: set one rate for the whole group`;
      return [{ setting, problem, ...(source !== undefined && { source }) }];
    }),
  );
}

function unknownAccount(name: string, accounts: readonly { readonly name: string }[]): string {
  const names = accounts.map((account) => account.name);
  const meant = suggestion(name, names);
  const some = `${names.slice(0, MOST_NAMES).join(', ')}${names.length > MOST_NAMES ? ', …' : ''}`;
  const advice = meant === undefined ? `the settings have ${some}` : `did you mean ${meant}?`;
  return `the account ${JSON.stringify(name)} is not in the settings; ${advice}`;
}
