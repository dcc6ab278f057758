import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suggestion } from '../domain/suggestion.ts';
import { ACCOUNT_PATHS, GONE_SETTINGS, PATHS, type ConfigProblem } from './settings.ts';
import {
  collect,
  readSettingsFile,
  readValueFile,
  type AccountEntries,
  type Entries,
  type Entry,
  type FileSettings,
} from './settings-file.ts';

/** The places that settings come from. */
export interface ConfigOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Relative paths start here. */
  readonly cwd: string;
  /** `--config FILE`, instead of ORDER_SYNC_CONFIG and config/local.yaml; null: none of the three. */
  readonly file?: string | null | undefined;
}

/** What is read from the layers, and what is wrong in them. */
export interface Layers extends FileSettings {
  readonly problems: ConfigProblem[];
  /** False where a file could not be read: what it would have set is not known. */
  readonly isWhole: boolean;
}

const PREFIX = 'ORDER_SYNC_';
/** A variable of an account begins with it: ORDER_SYNC_ACCOUNTS_SHOP_1_EXCHANGE_TIMEOUT. */
const ACCOUNTS = 'ACCOUNTS_';
const FOLDER = fileURLToPath(new URL('../../config/', import.meta.url));

/** Reads config/default.yaml, the file over it and the environment over both. */
export function readLayers(options: ConfigOptions): Layers {
  const { env, cwd } = options;
  const problems: ConfigProblem[] = [];
  const entries: Entries = new Map();
  for (const [setting, entry] of readSettingsFile(resolve(FOLDER, 'default.yaml'), cwd, problems)?.entries ?? []) {
    entries.set(setting, { ...entry, source: 'default' });
  }
  const own = readOwnFile(options, problems);
  const accounts = own?.accounts ?? new Map<string, AccountEntries>();
  const variables = readVariables(env, cwd, accounts, problems);
  for (const [setting, entry] of [...(own?.entries ?? []), ...variables.entries]) entries.set(setting, entry);
  for (const [name, its] of variables.accounts) {
    for (const [setting, entry] of its) {
      // The key of an account is read when the account is started: one that is missing stops no other.
      const isLater = entry.file === undefined || setting === 'exchange.apiKey';
      const text = isLater ? entry.text : textOfFile(entry.file, entry, setting, problems);
      accounts.get(name)?.set(setting, isLater ? entry : { text, source: entry.source });
    }
  }
  for (const [setting, entry] of entries) {
    if (entry.file !== undefined)
      entries.set(setting, { ...entry, text: textOfFile(entry.file, entry, setting, problems) });
  }
  return { entries, accounts, problems, isWhole: own !== undefined };
}

/** The path of the file that goes over config/default.yaml, whether it is there or not; null where there is none. */
export function ownFile({ env, cwd, file }: ConfigOptions): string | null {
  const named = file === undefined ? env['ORDER_SYNC_CONFIG'] || undefined : file;
  if (named === undefined) return resolve(FOLDER, 'local.yaml');
  return named === null ? null : resolve(cwd, named);
}

/** A file that is named must be there. */
function readOwnFile(options: ConfigOptions, problems: ConfigProblem[]): FileSettings | undefined {
  const path = ownFile(options);
  const isUnnamed = options.file === undefined && !options.env['ORDER_SYNC_CONFIG'];
  if (path === null || (isUnnamed && statSync(path, { throwIfNoEntry: false }) === undefined)) {
    return { entries: new Map(), accounts: new Map() };
  }
  return readSettingsFile(path, options.cwd, problems);
}

function textOfFile(file: string, { source }: Entry, setting: string, problems: ConfigProblem[]): string {
  return collect(problems, { setting, source }, () => readValueFile(file, setting)) ?? '';
}

/** `exchange.baseUrl` is EXCHANGE_BASE_URL. */
function variableOf(path: string): string {
  return path.replace(/[A-Z]/g, '_$&').replaceAll('.', '_').toUpperCase();
}

/** `shop-1` is SHOP_1, and so is `Shop.1`. */
function variableOfAccount(name: string): string {
  return name.replaceAll(/[.-]/g, '_').toUpperCase();
}

/** The names of the variables of settings, those that name a file with the value too, with the settings. */
function variablesOf<P extends string>(paths: readonly P[]): ReadonlyMap<string, P> {
  return new Map(paths.flatMap((path) => ['', '_FILE'].map((suffix) => [variableOf(path) + suffix, path] as const)));
}

const GENERAL = variablesOf(PATHS);
const OF_ACCOUNT = variablesOf([...ACCOUNT_PATHS, 'rateGroup' as const]);

/** Reads the variables of settings, and of the settings of `accounts`. */
function readVariables(
  env: NodeJS.ProcessEnv,
  cwd: string,
  accounts: FileSettings['accounts'],
  problems: ConfigProblem[],
): FileSettings {
  const found: FileSettings = { entries: new Map(), accounts: new Map() };
  for (const [source, text = ''] of Object.entries(env)) {
    if (!source.startsWith(PREFIX) || source === 'ORDER_SYNC_CONFIG') continue;
    const name = source.slice(PREFIX.length);
    const meant = name.startsWith(ACCOUNTS) ? accountVariable(name, found, accounts) : generalVariable(name, found);
    if (typeof meant === 'string') {
      problems.push({ source, problem: meant });
      continue;
    }
    const { entries, path, setting } = meant;
    const other = entries.get(path)?.source;
    if (other !== undefined) {
      problems.push({ setting, source, problem: `${other} is set as well: unset one of them` });
      continue;
    }
    const isFile = name.endsWith(`${variableOf(path)}_FILE`);
    entries.set(path, isFile ? { text: '', source, file: resolve(cwd, text) } : { text, source });
  }
  return found;
}

/** Where the value of a variable goes. */
interface Meant {
  readonly entries: Map<string, Entry>;
  readonly path: string;
  readonly setting: string;
}

function generalVariable(name: string, { entries }: FileSettings): Meant | string {
  const path = GENERAL.get(name);
  return path === undefined ? unknownVariable(name, [...GENERAL.keys()]) : { entries, path, setting: path };
}

/** The meaning of ACCOUNTS_SHOP_1_EXCHANGE_TIMEOUT, or what is wrong with it. */
function accountVariable(name: string, found: FileSettings, accounts: FileSettings['accounts']): Meant | string {
  const [variable, path] = [...OF_ACCOUNT].find(([one]) => name.endsWith(`_${one}`)) ?? [];
  if (variable === undefined || path === undefined) return unknownVariable(name, []);
  const named = name.slice(ACCOUNTS.length, -variable.length - 1);
  const [account, ...others] = [...accounts.keys()].filter((one) => variableOfAccount(one) === named);
  if (account === undefined) {
    const meant = suggestion(named, [...accounts.keys()].map(variableOfAccount));
    const advice = meant === undefined ? '' : `; did you mean ${PREFIX}${ACCOUNTS}${meant}_${variable}?`;
    return `is of an account that does not stand in the file of settings${advice}`;
  }
  if (others.length > 0) {
    return `may mean the account ${account} as well as ${others.join(' and ')}: set it in the file, or rename one of them`;
  }
  const entries = found.accounts.get(account) ?? new Map();
  found.accounts.set(account, entries);
  return { entries, path, setting: `accounts.${account}.${path}` };
}

function unknownVariable(name: string, known: readonly string[]): string {
  const gone = [...GONE_SETTINGS].find(([path]) => name.replace(/_FILE$/, '').endsWith(variableOf(path)));
  if (gone !== undefined) return gone[1];
  const meant = suggestion(name, known);
  const advice = meant === undefined ? 'config/default.yaml has them all' : `did you mean ${PREFIX}${meant}?`;
  return `is not a variable of a setting; ${advice}`;
}
