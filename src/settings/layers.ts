import { statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { z } from 'zod';
import { schemaOf, variableOf, type Schema, type SchemaOptions } from './schema.ts';
import { ConfigError, settingOf, type ConfigProblem } from './settings.ts';
import { collect, readSettingsFile, readValueFile, refuseOfStranger, type WrittenSetting } from './settings-file.ts';
import { DEFAULTS, IS_PACKAGE, OWN_SETTINGS, ROOT } from '../base/places.ts';
import { suggestion } from '../base/text.ts';

/** A value, or the file that holds a secret; both when the file has been read. */
export interface Entry {
  readonly value?: WrittenSetting['value'];
  readonly file?: string;
  readonly source: string;
  readonly partSources?: WrittenSetting['partSources'];
}

export type Entries = Map<string, Entry>;

interface Layer {
  readonly entries: Entries;
  readonly accounts: Map<string, Entries>;
}

export interface ConfigOptions extends SchemaOptions {
  readonly env: NodeJS.ProcessEnv;
  /** `--config FILE`, instead of ORDER_SYNC_CONFIG and the usual file; null: no file at all. */
  readonly file?: string | null | undefined;
}

export interface Layers extends Layer {
  readonly schema: Schema;
  readonly problems: readonly ConfigProblem[];
  /** False if the settings file could not be read, so that its settings are unknown. */
  readonly isWhole: boolean;
}

const PREFIX = 'ORDER_SYNC_';
/** A variable of an account has this after `PREFIX`: ORDER_SYNC_ACCOUNTS_SHOP_1_EXCHANGE_TIMEOUT. */
const ACCOUNTS = 'ACCOUNTS_';
/** Kubernetes sets these variables (after `PREFIX`) in each pod beside a Service that is named order-sync. */
const OF_SERVICE = /^(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/;

export function readLayers(options: ConfigOptions): Layers {
  const { cwd } = options;
  const problems: ConfigProblem[] = [];
  const schema = schemaOf(options);
  const context = { schema, cwd, problems };
  const defaults = layerOf(schema.defaults, context).entries;
  const own = readOwnFile(options, context);
  const accounts = own?.accounts ?? new Map<string, Entries>();
  const variables = layerOf(readVariables(options.env, [...accounts.keys()], context), context);
  const entries: Entries = new Map([...defaults, ...(own?.entries ?? []), ...variables.entries]);
  for (const secret of schema.secrets) {
    // An account's own key is read when the account starts, so that a missing key stops no other account.
    const { file, source = '' } = entries.get(secret) ?? {};
    if (file === undefined) continue;
    const value = collect(problems, { setting: secret, source }, () => readValueFile(file, secret));
    if (value !== undefined) entries.set(secret, { value, file, source });
  }
  for (const [name, over] of variables.accounts) accounts.set(name, new Map([...(accounts.get(name) ?? []), ...over]));
  return { schema, entries, accounts, problems, isWhole: own !== undefined };
}

/** Returns the path of the file that overrides config/default.yaml, even if it does not exist; null for no file. */
export function ownFile({ env, cwd, file }: ConfigOptions): string | null {
  const named = file === undefined ? env['ORDER_SYNC_CONFIG'] || undefined : file;
  if (named !== undefined) return named === null ? null : resolve(cwd, named);
  if (!IS_PACKAGE) return fileURLToPath(new URL(OWN_SETTINGS, ROOT));
  const places = packagePlaces(env, cwd);
  return places.find(isThere) ?? places[0];
}

export interface SettingsFile {
  readonly path: string;
  /** In ms of UTC; undefined if the file is not found, or is a device, whose time changes with each write. */
  readonly changedAt: number | undefined;
}

export function settingsFile(path: string): SettingsFile {
  try {
    const stat = statSync(path);
    return { path, changedAt: stat.isFile() ? stat.mtimeMs : undefined };
  } catch {
    return { path, changedAt: undefined };
  }
}

/** Returns the places of an installed package's settings, by priority. None is in the package: updates replace it. */
export function packagePlaces({ XDG_CONFIG_HOME: named = '', HOME: home }: NodeJS.ProcessEnv, cwd: string) {
  const folder = isAbsolute(named) ? named : home && join(home, '.config');
  const ofUser = folder ? [join(folder, 'order-sync', 'config.yaml')] : [];
  return [resolve(cwd, 'order-sync.yaml'), ...ofUser, '/etc/order-sync/config.yaml'] as const;
}

/** Returns true also if `stat` fails, because reading the file then says why. */
function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

interface Context {
  readonly schema: Schema;
  readonly cwd: string;
  readonly problems: ConfigProblem[];
}

function readOwnFile(options: ConfigOptions, context: Context): Layer | undefined {
  const path = ownFile(options);
  const isUnnamed = options.file === undefined && !options.env['ORDER_SYNC_CONFIG'];
  if (path === null || (isUnnamed && !isThere(path))) return { entries: new Map(), accounts: new Map() };
  const file = readSettingsFile(path, options.cwd, context.problems, context.schema);
  if (file && isUnnamed && IS_PACKAGE) collect(context.problems, {}, () => refuseOfStranger(path));
  return file && layerOf(file.settings, context, file.accounts);
}

/** If a layer sets a setting by value and by file, an empty value or file name is ignored. */
function layerOf(
  written: readonly WrittenSetting[],
  { schema, cwd, problems }: Context,
  names: readonly string[] = [],
): Layer {
  const entries: Entries = new Map();
  const accounts = new Map(names.map((name): [string, Entries] => [name, new Map()]));
  for (const { path: name, account, value, source, partSources } of written) {
    const path = schema.secrets.find((secret) => name === `${secret}File`) ?? name;
    const setting = settingOf(name, account);
    const refuse = (problem: string) => void problems.push({ setting, source, problem: `${setting} ${problem}` });
    const { paths, absent, sections } = account === undefined ? schema.general : schema.account;
    if (absent.has(path) || absent.has(path.replace(/File$/, ''))) {
      refuse('is a setting of an extension that is not installed: remove it');
      continue;
    }
    if (!paths.has(path)) {
      const meant = suggestion(path, [...paths, ...sections, ...(account === undefined ? ['accounts'] : [])]);
      const advice = meant === undefined ? `${DEFAULTS} has them all` : `did you mean ${settingOf(meant, account)}?`;
      refuse(schema.gone.get(path) ?? `is not a setting; ${advice}`);
      continue;
    }
    const layer = account === undefined ? entries : (accounts.get(account) ?? new Map<string, Entry>());
    if (account !== undefined) accounts.set(account, layer);
    const beside = layer.get(path);
    if (beside !== undefined && beside.value !== '') {
      if (value !== '') refuse(`is set by ${beside.source} as well: leave one of them out`);
    } else if (path === name) layer.set(path, { source, value, partSources });
    else if (typeof value !== 'string') refuse('takes one value');
    else if (value !== '') layer.set(path, { source, file: resolve(cwd, value) });
  }
  return { entries, accounts };
}

/** `shop-1` is SHOP_1, and so is `Shop.1`. */
function variableOfAccount(name: string): string {
  return name.replaceAll(/[.-]/g, '_').toUpperCase();
}

function readVariables(
  env: NodeJS.ProcessEnv,
  accounts: readonly string[],
  { schema, cwd, problems }: Context,
): readonly WrittenSetting[] {
  return Object.entries(env).flatMap(([source, text = '']) => {
    if (!source.startsWith(PREFIX) || source === 'ORDER_SYNC_CONFIG') return [];
    const name = source.slice(PREFIX.length);
    if (OF_SERVICE.test(name)) return [];
    const meant = collect(problems, { source }, () => settingMeant(name, accounts, schema));
    if (meant === undefined) return [];
    const { path, account } = meant;
    const isFile = name.endsWith(`${variableOf(path)}_FILE`);
    const isReadLater = schema.secrets.includes(path) || schema.general.absent.has(path);
    if (isFile && isReadLater) return [{ path: `${path}File`, account, value: text, source }];
    const known = { setting: settingOf(path, account), source };
    const value = isFile ? collect(problems, known, () => readValueFile(resolve(cwd, text), path, false)) : text;
    return value === undefined ? [] : [{ path, account, value, source }];
  });
}

/** Returns the setting of EXCHANGE_TIMEOUT or ACCOUNTS_SHOP_1_EXCHANGE_TIMEOUT. Throws ConfigError if there is none. */
function settingMeant(
  name: string,
  accounts: readonly string[],
  { general, account: ofAccount, gone }: Schema,
): Pick<WrittenSetting, 'path' | 'account'> {
  const ofAll = general.variables.get(name);
  if (ofAll !== undefined) return { path: ofAll };
  if (!name.startsWith(ACCOUNTS)) throw unknownVariable(name, [...general.variables.keys()], gone);
  const [variable, path] = [...ofAccount.variables].find(([ending]) => name.endsWith(`_${ending}`)) ?? [];
  if (variable === undefined || path === undefined) throw unknownVariable(name, [], gone);
  const named = name.slice(ACCOUNTS.length, -variable.length - 1);
  const [account, ...others] = accounts.filter((known) => variableOfAccount(known) === named);
  if (account === undefined) {
    const meant = suggestion(named, accounts.map(variableOfAccount));
    const advice = meant === undefined ? '' : `; did you mean ${PREFIX}${ACCOUNTS}${meant}_${variable}?`;
    throw new ConfigError(`is for an account that the settings file does not name${advice}`);
  }
  if (others.length > 0) {
    const both = `${account} as well as ${others.join(' and ')}`;
    throw new ConfigError(`may mean the account ${both}: use the settings file, or rename one of these accounts`);
  }
  return { path, account };
}

function unknownVariable(name: string, known: readonly string[], gone: Schema['gone']): ConfigError {
  const [, advice] = [...gone].find(([path]) => name.replace(/_FILE$/, '').endsWith(variableOf(path))) ?? [];
  if (advice !== undefined) return new ConfigError(advice);
  const meant = suggestion(name, known);
  const instead = meant === undefined ? `${DEFAULTS} has them all` : `did you mean ${PREFIX}${meant}?`;
  return new ConfigError(`is not a variable of a setting; ${instead}`);
}

/** Nests settings in sections: `exchange.timeout` becomes the field `timeout` of `exchange`. */
export function nested(
  entries: ReadonlyMap<string, { readonly value?: unknown; readonly file?: string }>,
): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  for (const [path, { value, file }] of entries) {
    const names = path.split('.');
    const last = names.pop()!;
    let section = root;
    for (const name of names) section = (section[name] ??= {}) as Record<string, unknown>;
    if (value !== undefined) section[last] = value;
    if (file !== undefined) section[`${last}File`] = file;
  }
  return root;
}

export function problemsOf(
  issue: z.core.$ZodIssue,
  path: readonly PropertyKey[],
  { entries, schema }: Pick<Layers, 'entries' | 'schema'>,
  account?: { readonly name: string; readonly own: Entries },
): ConfigProblem[] {
  const pathTo = (count: number) => path.slice(0, count).join('.');
  const at = (layer: Entries | undefined, count: number) =>
    layer?.get(pathTo(count)) ?? layer?.get(pathTo(count).replace(/File$/, ''));
  const isWritten = (_: unknown, index: number) =>
    (at(account?.own, index + 1) ?? at(entries, index + 1)) !== undefined;
  const count = path.findIndex(isWritten) + 1 || path.length;
  const own = at(account?.own, count);
  const setting = own === undefined ? pathTo(count) : `accounts.${account?.name}.${pathTo(count)}`;
  const entry = own ?? at(entries, count);
  const sourceOf = (parts: readonly string[]) =>
    parts
      .map((_, last) => entry?.partSources?.get(parts.slice(0, last + 1).join('.')))
      .findLast((line) => line !== undefined);
  const parts = path.slice(count).map(String);
  const source = sourceOf(parts) ?? entry?.source ?? 'default';
  const inside = path.slice(count).map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`));
  const place = setting + inside.join('');
  if (issue.code !== 'unrecognized_keys') return [{ setting, source, problem: `${place} ${issue.message}` }];
  const isHidden = schema.secrets.includes(pathTo(count));
  return issue.keys.map((key) => {
    const known = isHidden ? `${place} has an unknown field` : `${place} has an unknown field ${key}`;
    return { setting, source: sourceOf([...parts, key]) ?? source, problem: `${known}; ${DEFAULTS} has all fields` };
  });
}
