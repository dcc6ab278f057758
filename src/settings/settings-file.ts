import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isAbsolute, relative } from 'node:path';
import type * as Yaml from 'yaml';
import { ACCOUNT_NAME, ACCOUNT_NAME_FORM } from '../accounts/rules/name.ts';
import { withoutPassword } from './database.ts';
import type { Schema } from './schema.ts';
import { ConfigError, settingOf, type ConfigProblem } from './settings.ts';
import { headerText, reader } from './values.ts';

const require = createRequire(import.meta.url);
let loaded: typeof Yaml | undefined;
/** Loads the package only if there is a file, because loading takes as long as reading all other settings. */
const yaml = () => (loaded ??= require('yaml') as typeof Yaml);

/** A value as it is written: text, or lists and fields of texts. */
type Written = string | readonly Written[] | { readonly [name: string]: Written };

export interface WrittenSetting {
  readonly path: string;
  readonly account?: string | undefined;
  readonly value: Written;
  readonly source: string;
  /** The sources of the parts of a list or map, by paths such as `0.url`. */
  readonly partSources?: ReadonlyMap<string, string>;
}

type KnownSettings = Pick<Schema, 'secrets' | 'general' | 'account'>;

/** Returns undefined if the file cannot be read as YAML. Scalars stay text, so that a merchant key loses no digit. */
export function readSettingsFile(path: string, cwd: string, problems: ConfigProblem[], known: KnownSettings) {
  const shown = shownPath(path, cwd);
  const text = collect(problems, {}, () => readText(path, shown));
  if (text === undefined) return undefined;
  collect(problems, { source: shown }, () => refuseWritableByAll(path, shown));
  if (text === '') return { settings: [], accounts: [] };
  const lines = new (yaml().LineCounter)();
  const documents = collect(problems, {}, () => readDocuments(text, shown, lines));
  if (documents === undefined) return undefined;
  const sourceAt = (offset: number) => `${shown}:${lines.linePos(offset).line}`;
  const parts = documents.map((document) => readNodes(document, problems, known, sourceAt));
  const file = { settings: parts.flatMap((one) => one.settings), accounts: parts.flatMap((one) => one.accounts) };
  const secret = file.settings.find((one) => isSecret(one.path, one.value, known.secrets));
  if (secret !== undefined) {
    const setting = settingOf(secret.path, secret.account);
    collect(problems, { setting }, () => refuseReadableByOthers(path, shown, setting));
  }
  return file;
}

function readNodes(
  document: Yaml.Document,
  problems: ConfigProblem[],
  known: KnownSettings,
  sourceAt: (offset: number) => string,
) {
  const { isMap, isScalar } = yaml();
  const settings: WrittenSetting[] = [];
  const accounts: string[] = [];
  const refuse = (setting: string, offset: number, problem: string) =>
    void problems.push({ setting, source: sourceAt(offset), problem });
  const itemsIn = (node: unknown, setting: string, offset: number, items: string) => {
    if (isMap(node)) return itemsOf(node);
    const isEmpty = node === null || (isScalar(node) && node.value === '');
    if (!isEmpty) refuse(setting, offset, `${setting || 'the file'} must contain ${items} by name, not a value`);
    return [];
  };
  const readSection = (node: unknown, above: string, offset: number, account?: string) => {
    const { sections } = known[account === undefined ? 'general' : 'account'];
    for (const [name, value, at] of itemsIn(node, settingOf(above, account), offset, 'settings')) {
      const path = above === '' ? name : `${above}.${name}`;
      if (sections.has(path)) readSection(value, path, at, account);
      else if (path === 'accounts' && account === undefined) readAccounts(value, at);
      else readSetting(value, path, at, account);
    }
  };
  const readAccounts = (node: unknown, offset: number) => {
    for (const [name, value, at] of itemsIn(node, 'accounts', offset, 'accounts')) {
      if (ACCOUNT_NAME.test(name)) {
        accounts.push(name);
        readSection(value, '', at, name);
      } else refuse('accounts', at, `${JSON.stringify(name)} is no name of an account: use ${ACCOUNT_NAME_FORM}`);
    }
  };
  const readSetting = (node: unknown, path: string, offset: number, account?: string) => {
    const source = sourceAt(offset);
    const value = collect(problems, { setting: settingOf(path, account), source }, () => valueOf(node, document));
    const partSources = new Map(partsIn(node).map(([part, at]) => [part, sourceAt(at)]));
    if (value !== undefined) settings.push({ path, account, value, source, partSources });
  };
  readSection(document.contents, '', 0);
  return { settings, accounts };
}

function itemsOf(map: Yaml.YAMLMap): (readonly [name: string, value: unknown, offset: number])[] {
  return map.items.map(({ key, value }) =>
    yaml().isScalar(key) ? [String(key.value), value, key.range?.[0] ?? 0] : ['?', value, 0],
  );
}

/** The parts of a list or map, however deep, each with its offset. */
function partsIn(node: unknown, above = ''): (readonly [path: string, offset: number])[] {
  const { isMap, isNode, isSeq } = yaml();
  const offsetOf = (item: unknown) => (isNode(item) ? (item.range?.[0] ?? 0) : 0);
  const entries = isSeq(node) ? node.items.map((item, place) => [String(place), item, offsetOf(item)] as const) : [];
  return (isMap(node) ? itemsOf(node) : entries).flatMap(([name, value, offset]) => [
    [above + name, offset] as const,
    ...partsIn(value, `${above}${name}.`),
  ]);
}

/** Returns the texts of a value. No alias may lead to another alias, so that few lines cannot expand without end. */
function valueOf(node: unknown, document: Yaml.Document, isAliased = false): Written {
  const { isAlias, isMap, isScalar, isSeq } = yaml();
  if (isAlias(node)) {
    if (isAliased) throw new ConfigError('an alias refers to another alias: write the value out');
    return valueOf(node.resolve(document), document, true);
  }
  if (isSeq(node)) return node.items.map((item) => valueOf(item, document, isAliased));
  if (!isMap(node)) return isScalar(node) ? String(node.value) : '';
  return Object.fromEntries(itemsOf(node).map(([name, value]) => [name, valueOf(value, document, isAliased)]));
}

function isSecret(path: string, value: Written, secrets: readonly string[]): boolean {
  if (path === 'database.url') return typeof value === 'string' && withoutPassword(value) !== value;
  // An empty list holds no secret.
  return value !== '' && value !== '[]' && JSON.stringify(value) !== '[]' && secrets.includes(path);
}

/** Reads all documents of a file, because a copy of config/default.yaml has two. */
function readDocuments(text: string, shown: string, lineCounter: Yaml.LineCounter): readonly Yaml.Document[] {
  // The parser's check for double keys compares all keys in pairs, which takes seconds for thousands of accounts.
  const options = { schema: 'failsafe', lineCounter, prettyErrors: false, uniqueKeys: false } as const;
  const documents: readonly Yaml.Document[] = yaml().parseAllDocuments(text, options);
  const faultOf = (document: Yaml.Document) => [...document.errors, ...document.warnings][0] ?? keyTwice(document);
  const fault = documents.map(faultOf).find((one) => one !== undefined);
  if (fault === undefined) return documents;
  const source = `${shown}:${lineCounter.linePos(fault.pos[0]).line}`;
  throw new ConfigError([{ source, problem: `is not valid YAML: ${fault.message}` }]);
}

function keyTwice(document: Yaml.Document) {
  const { isScalar, visit } = yaml();
  let fault: { readonly pos: readonly [number]; readonly message: string } | undefined;
  visit(document, {
    Map(_, { items }) {
      const names = new Set<string>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        const name = String(key.value);
        if (names.has(name)) fault ??= { pos: [key.range?.[0] ?? 0], message: 'Map keys must be unique' };
        names.add(name);
      }
    },
  });
  return fault;
}

/** Returns what `read` returns. If `read` throws a `ConfigError`, adds its problems and returns undefined. */
export function collect<T>(problems: ConfigProblem[], known: Omit<ConfigProblem, 'problem'>, read: () => T) {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems.map((problem) => ({ ...known, ...problem })));
    return undefined;
  }
}

function shownPath(path: string, cwd: string): string {
  const fromCwd = relative(cwd, path);
  return fromCwd.startsWith('..') || isAbsolute(fromCwd) ? path : fromCwd;
}

function readText(path: string, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (cause) {
    const reason = cause instanceof TypeError ? 'it is not UTF-8 text' : (cause as Error).message;
    throw new ConfigError(`${what} cannot be read: ${reason}`, { cause });
  }
}

export function readValueFile(path: string, setting: string, isSecretValue = true): string {
  const text = readText(path, `the file of ${setting}`).replace(/\r?\n$/, '');
  if (text === '') throw new ConfigError(`the file of ${setting} is empty: ${path}`);
  if (isSecretValue) refuseReadableByOthers(path, path, setting);
  return text;
}

function refuseReadableByOthers(path: string, shown: string, setting: string): void {
  if (process.platform === 'win32' || !isOpenToOthers(statSync(path), process.geteuid?.())) return;
  throw new ConfigError(`${shown} contains ${setting}, and other users can read the file: run \`chmod 600 ${shown}\``);
}

/** A user who can write the settings can have the key sent to another address. */
function refuseWritableByAll(path: string, shown: string): void {
  const found = statSync(path);
  if (process.platform === 'win32' || !found.isFile() || (found.mode & 0o002) === 0) return;
  throw new ConfigError(`everybody on this machine can write to ${shown}: run \`chmod o-w ${shown}\``);
}

/** Refuses another user's file, which could send the key elsewhere. Call only for a file that no person has named. */
export function refuseOfStranger(path: string, user = process.geteuid?.()): void {
  const owner = statSync(path, { throwIfNoEntry: false })?.uid;
  if (user === undefined || owner === undefined || [0, user].includes(owner)) return;
  throw new ConfigError(`${path} belongs to another user: name it with --config if it is yours to use`);
}

/** A group may read a file that root owns, because credentials of systemd have the mode 0440. */
export function isOpenToOthers({ uid, mode }: { uid: number; mode: number }, user: number | undefined): boolean {
  const isGivenByRoot = uid === 0 && user !== 0;
  return (mode & (isGivenByRoot ? 0o037 : 0o077)) !== 0;
}

export const KEY_SETTING = 'exchange.apiKey';

export function readMerchantKey(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  const text = readValueFile(file, KEY_SETTING);
  try {
    return reader(headerText)(text);
  } catch (error) {
    throw new ConfigError(`the key in ${file} ${(error as Error).message}`, { cause: error });
  }
}

export function keyPlace({ apiKeyFile = KEY_SETTING }: { readonly apiKeyFile?: string | undefined }): string {
  return apiKeyFile;
}

export type MerchantKey = ReturnType<typeof merchantKey>;

/** The merchant key in force. A key that stands in a file can be changed while the program runs. */
export function merchantKey(
  { apiKey, apiKeyFile: file }: Partial<Readonly<Record<'apiKey' | 'apiKeyFile', string | undefined>>>,
  onUnreadable: (error: Error) => void = () => {},
) {
  let key = apiKey;
  return {
    current: (): string => {
      if (key === undefined) throw new Error('the settings were read without the key');
      return key;
    },
    /** Reads the file again. Returns true if the key has changed; an unusable file leaves the key as it was. */
    reread: (): boolean => {
      if (file === undefined) return false;
      const before = key;
      try {
        // A pipe can be read only once.
        if (statSync(file, { throwIfNoEntry: false })?.isFile() !== false) key = readMerchantKey(file);
      } catch (error) {
        onUnreadable(error as Error);
      }
      return key !== before;
    },
  };
}
