import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suggestion } from '../domain/text.ts';
import { laidOver, Layer, type Entries } from './layer.ts';
import { ACCOUNT_PATHS, GONE_SETTINGS, PATHS, SECRETS, type ConfigProblem } from './settings.ts';
import { collect, readSettingsFile, readValueFile } from './settings-file.ts';

/** The places that settings come from. */
export interface ConfigOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Relative paths start here. */
  readonly cwd: string;
  /** `--config FILE`, instead of ORDER_SYNC_CONFIG and config/local.yaml; null: none of the three. */
  readonly file?: string | null | undefined;
}

/** The settings of all layers laid over each other, and what is wrong in them. */
export interface Layers {
  readonly entries: Entries;
  readonly accounts: ReadonlyMap<string, Entries>;
  readonly problems: readonly ConfigProblem[];
  /** False if a file could not be read: what it would have set is not known. */
  readonly isWhole: boolean;
}

const PREFIX = 'ORDER_SYNC_';
/** A variable of an account begins with it: ORDER_SYNC_ACCOUNTS_SHOP_1_EXCHANGE_TIMEOUT. */
const ACCOUNTS = 'ACCOUNTS_';
const FOLDER = fileURLToPath(new URL('../../config/', import.meta.url));

/** Reads config/default.yaml, the file over it and the environment over both. */
export function readLayers(options: ConfigOptions): Layers {
  const { cwd } = options;
  const problems: ConfigProblem[] = [];
  const defaults = readSettingsFile(resolve(FOLDER, 'default.yaml'), cwd, problems)?.entries ?? [];
  const own = readOwnFile(options, problems);
  const accounts = own?.accounts ?? new Map<string, Entries>();
  const variables = readVariables(options, [...accounts.keys()], problems);
  const under: Entries = new Map([...defaults].map(([path, entry]) => [path, { ...entry, source: 'default' }]));
  const entries = laidOver(laidOver(under, own?.entries ?? new Map()), variables.entries);
  for (const secret of SECRETS) {
    // The keys of accounts are read when these are started: one that is missing stops no other account.
    const { value, source = '' } = entries.get(`${secret}File`) ?? {};
    if (typeof value !== 'string') continue;
    const found = collect(problems, { setting: secret, source }, () => readValueFile(value, secret));
    if (found !== undefined) entries.set(secret, { value: found, source });
  }
  for (const [name, over] of variables.accounts) accounts.set(name, laidOver(accounts.get(name) ?? new Map(), over));
  return { entries, accounts, problems, isWhole: own !== undefined };
}

/** The path of the file that goes over config/default.yaml, whether it is there or not; null where there is none. */
export function ownFile({ env, cwd, file }: ConfigOptions): string | null {
  const named = file === undefined ? env['ORDER_SYNC_CONFIG'] || undefined : file;
  if (named === undefined) return resolve(FOLDER, 'local.yaml');
  return named === null ? null : resolve(cwd, named);
}

/** A file that is named must be there. */
function readOwnFile(options: ConfigOptions, problems: ConfigProblem[]): Layer | undefined {
  const path = ownFile(options);
  const isUnnamed = options.file === undefined && !options.env['ORDER_SYNC_CONFIG'];
  if (path === null || (isUnnamed && statSync(path, { throwIfNoEntry: false }) === undefined)) {
    return new Layer(options.cwd, problems);
  }
  return readSettingsFile(path, options.cwd, problems);
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
function variablesOf(paths: readonly string[]): ReadonlyMap<string, string> {
  return new Map(paths.flatMap((path) => ['', '_FILE'].map((suffix) => [variableOf(path) + suffix, path] as const)));
}

const GENERAL = variablesOf(PATHS);
const OF_ACCOUNT = variablesOf(ACCOUNT_PATHS);

/** The setting that a variable sets, of all accounts or of one. */
interface Meant {
  readonly path: string;
  readonly account?: string;
}

/** Reads the variables of settings, and of the settings of `accounts`. */
function readVariables({ env, cwd }: ConfigOptions, accounts: readonly string[], problems: ConfigProblem[]): Layer {
  const layer = new Layer(cwd, problems);
  for (const [source, text = ''] of Object.entries(env)) {
    if (!source.startsWith(PREFIX) || source === 'ORDER_SYNC_CONFIG') continue;
    const name = source.slice(PREFIX.length);
    const meant = name.startsWith(ACCOUNTS) ? accountVariable(name, accounts) : generalVariable(name);
    if (typeof meant === 'string') {
      problems.push({ source, problem: meant });
      continue;
    }
    const { path, account } = meant;
    const isFile = name.endsWith(`${variableOf(path)}_FILE`);
    if (isFile && SECRETS.includes(path)) {
      layer.put(`${path}File`, { value: text, source }, account);
    } else {
      const known = { setting: layer.settingOf(path, account), source };
      const value = isFile ? collect(problems, known, () => readValueFile(resolve(cwd, text), path)) : text;
      if (value !== undefined) layer.put(path, { value, source }, account);
    }
  }
  return layer;
}

function generalVariable(name: string): Meant | string {
  const path = GENERAL.get(name);
  return path === undefined ? unknownVariable(name, [...GENERAL.keys()]) : { path };
}

/** The meaning of ACCOUNTS_SHOP_1_EXCHANGE_TIMEOUT, or what is wrong with it. */
function accountVariable(name: string, accounts: readonly string[]): Meant | string {
  const [variable, path] = [...OF_ACCOUNT].find(([ending]) => name.endsWith(`_${ending}`)) ?? [];
  if (variable === undefined || path === undefined) return unknownVariable(name, []);
  const named = name.slice(ACCOUNTS.length, -variable.length - 1);
  const [account, ...others] = accounts.filter((known) => variableOfAccount(known) === named);
  if (account === undefined) {
    const meant = suggestion(named, accounts.map(variableOfAccount));
    const advice = meant === undefined ? '' : `; did you mean ${PREFIX}${ACCOUNTS}${meant}_${variable}?`;
    return `is of an account that does not stand in the file of settings${advice}`;
  }
  if (others.length > 0) {
    return `may mean the account ${account} as well as ${others.join(' and ')}: set it in the file, or rename one of them`;
  }
  return { path, account };
}

function unknownVariable(name: string, known: readonly string[]): string {
  const gone = [...GONE_SETTINGS].find(([path]) => name.replace(/_FILE$/, '').endsWith(variableOf(path)));
  if (gone !== undefined) return gone[1];
  const meant = suggestion(name, known);
  const advice = meant === undefined ? 'config/default.yaml has them all' : `did you mean ${PREFIX}${meant}?`;
  return `is not a variable of a setting; ${advice}`;
}
