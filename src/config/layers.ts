import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { z } from 'zod';
import { ACCOUNT_PATHS, GONE_SETTINGS, PATHS, SECRETS, settingOf, type ConfigProblem } from './settings.ts';
import { collect, readSettingsFile, readValueFile, type WrittenSetting } from './settings-file.ts';
import { suggestion } from '../domain/text.ts';

export type Entry = Pick<WrittenSetting, 'value' | 'source'>;

export type Entries = Map<string, Entry>;

interface Layer {
  readonly entries: Entries;
  readonly accounts: Map<string, Entries>;
}

export interface ConfigOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Relative paths start here. */
  readonly cwd: string;
  /** `--config FILE`, instead of ORDER_SYNC_CONFIG and config/local.yaml; null: none of the three. */
  readonly file?: string | null | undefined;
}

export interface Layers extends Layer {
  readonly problems: readonly ConfigProblem[];
  /** False if a file could not be read: what it would have set is not known. */
  readonly isWhole: boolean;
}

const PREFIX = 'ORDER_SYNC_';
/** A variable of an account begins with it: ORDER_SYNC_ACCOUNTS_SHOP_1_EXCHANGE_TIMEOUT. */
const ACCOUNTS = 'ACCOUNTS_';
const FOLDER = fileURLToPath(new URL('../../config/', import.meta.url));

export function readLayers(options: ConfigOptions): Layers {
  const { cwd } = options;
  const problems: ConfigProblem[] = [];
  const defaults = readLayer(resolve(FOLDER, 'default.yaml'), cwd, problems)?.entries ?? [];
  const own = readOwnFile(options, problems);
  const accounts = own?.accounts ?? new Map<string, Entries>();
  const variables = layerOf(readVariables(options, [...accounts.keys()], problems), cwd, problems);
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

/** The path of the file that goes over config/default.yaml, whether it is there or not; null if there is none. */
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
    return { entries: new Map(), accounts: new Map() };
  }
  return readLayer(path, options.cwd, problems);
}

function readLayer(path: string, cwd: string, problems: ConfigProblem[]): Layer | undefined {
  const file = readSettingsFile(path, cwd, problems);
  return file && layerOf(file.settings, cwd, problems, file.accounts);
}

/** An empty value, and an empty name of a file, leave a setting as it is set beside it. */
function layerOf(
  written: readonly WrittenSetting[],
  cwd: string,
  problems: ConfigProblem[],
  names: readonly string[] = [],
): Layer {
  const entries: Entries = new Map();
  const accounts = new Map(names.map((name): [string, Entries] => [name, new Map()]));
  for (const { path, account, value, source } of written) {
    const setting = settingOf(path, account);
    const { known, near } = account === undefined ? NAMES.general : NAMES.account;
    if (!known.has(path)) {
      const meant = suggestion(path, near);
      const advice =
        meant === undefined ? 'config/default.yaml has them all' : `did you mean ${settingOf(meant, account)}?`;
      const problem = `${setting} ${GONE_SETTINGS.get(path) ?? `is not a setting; ${advice}`}`;
      problems.push({ setting, source, problem });
      continue;
    }
    const layer = account === undefined ? entries : (accounts.get(account) ?? new Map<string, Entry>());
    if (account !== undefined) accounts.set(account, layer);
    const partner = partnerOf(path);
    const beside = [path, partner].map((name) => layer.get(name)).find((entry) => entry && entry.value !== '');
    const isFile = SECRETS.includes(partner) && typeof value === 'string';
    if (beside !== undefined && value !== '') {
      const problem = `${setting} is set by ${beside.source} as well: leave one of them out`;
      problems.push({ setting, source, problem });
    } else if (beside === undefined && !(isFile && value === '')) {
      layer.delete(partner);
      layer.set(path, { source, value: isFile ? resolve(cwd, value) : value });
    }
  }
  return { entries, accounts };
}

const NAMES = { general: namesOf(PATHS, ['accounts']), account: namesOf(ACCOUNT_PATHS) };

function namesOf(paths: readonly string[], more: readonly string[] = []) {
  const sections = paths.flatMap((path) => path.split('.').map((_, at, parts) => parts.slice(0, at).join('.')));
  const files = SECRETS.filter((secret) => paths.includes(secret)).map((secret) => `${secret}File`);
  return { known: new Set([...paths, ...files]), near: [...new Set([...paths, ...sections, ...more])].filter(Boolean) };
}

/** `exchange.baseUrl` is EXCHANGE_BASE_URL. */
function variableOf(path: string): string {
  return path.replace(/[A-Z]/g, '_$&').replaceAll('.', '_').toUpperCase();
}

/** `shop-1` is SHOP_1, and so is `Shop.1`. */
function variableOfAccount(name: string): string {
  return name.replaceAll(/[.-]/g, '_').toUpperCase();
}

function variablesOf(paths: readonly string[]): ReadonlyMap<string, string> {
  return new Map(paths.flatMap((path) => ['', '_FILE'].map((suffix) => [variableOf(path) + suffix, path] as const)));
}

const GENERAL = variablesOf(PATHS);
const OF_ACCOUNT = variablesOf(ACCOUNT_PATHS);

type Meant = Pick<WrittenSetting, 'path' | 'account'> | string;

function readVariables(
  { env, cwd }: ConfigOptions,
  accounts: readonly string[],
  problems: ConfigProblem[],
): readonly WrittenSetting[] {
  return Object.entries(env).flatMap(([source, text = '']) => {
    if (!source.startsWith(PREFIX) || source === 'ORDER_SYNC_CONFIG') return [];
    const name = source.slice(PREFIX.length);
    const meant = name.startsWith(ACCOUNTS) ? accountVariable(name, accounts) : generalVariable(name);
    if (typeof meant === 'string') {
      problems.push({ source, problem: meant });
      return [];
    }
    const { path, account } = meant;
    const isFile = name.endsWith(`${variableOf(path)}_FILE`);
    if (isFile && SECRETS.includes(path)) return [{ path: `${path}File`, account, value: text, source }];
    const known = { setting: settingOf(path, account), source };
    const value = isFile ? collect(problems, known, () => readValueFile(resolve(cwd, text), path)) : text;
    return value === undefined ? [] : [{ path, account, value, source }];
  });
}

function generalVariable(name: string): Meant {
  const path = GENERAL.get(name);
  return path === undefined ? unknownVariable(name, [...GENERAL.keys()]) : { path };
}

/** The meaning of ACCOUNTS_SHOP_1_EXCHANGE_TIMEOUT. */
function accountVariable(name: string, accounts: readonly string[]): Meant {
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

/** Lays settings over others. A secret replaces the file that is named for it, and a file the secret. */
export function laidOver(under: Entries, over: Entries): Entries {
  const entries = new Map(under);
  for (const [path, entry] of over) {
    entries.delete(partnerOf(path));
    entries.set(path, entry);
  }
  return entries;
}

/** Of a secret the setting that names its file, and the other way round; no setting for any other. */
function partnerOf(path: string): string {
  const secret = path.replace(/File$/, '');
  if (!SECRETS.includes(secret)) return '';
  return secret === path ? `${path}File` : secret;
}

/** Settings by sections: that of `exchange.timeout` is the `timeout` of `exchange`. */
export function nested(entries: ReadonlyMap<string, { readonly value: unknown }>): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  for (const [path, { value }] of entries) {
    const names = path.split('.');
    const last = names.pop()!;
    let section = root;
    for (const name of names) section = (section[name] ??= {}) as Record<string, unknown>;
    section[last] = value;
  }
  return root;
}

export function problemsOf(
  issue: z.core.$ZodIssue,
  path: readonly PropertyKey[],
  entries: Entries,
  account?: { readonly name: string; readonly own: Entries },
): ConfigProblem[] {
  const pathTo = (count: number) => path.slice(0, count).join('.');
  const isWritten = (_: unknown, at: number) => entries.has(pathTo(at + 1)) || account?.own.has(pathTo(at + 1));
  const count = path.findIndex(isWritten) + 1 || path.length;
  const own = account?.own.get(pathTo(count)) ?? account?.own.get(partnerOf(pathTo(count)));
  const setting = own === undefined ? pathTo(count) : `accounts.${account?.name}.${pathTo(count)}`;
  const source = (own ?? entries.get(pathTo(count)))?.source ?? 'default';
  const inside = path.slice(count).map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`));
  const place = setting + inside.join('');
  if (issue.code !== 'unrecognized_keys') return [{ setting, source, problem: `${place} ${issue.message}` }];
  const isHidden = SECRETS.includes(pathTo(count));
  return issue.keys.map((key) => {
    const known = isHidden ? `${place} has an unknown field` : `${place} has an unknown field ${key}`;
    return { setting, source, problem: `${known}; config/default.yaml names all` };
  });
}
