import { readFileSync, statSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';
import { isAlias, isMap, isPair, isScalar, isSeq, LineCounter, parseDocument, type Document, type YAMLMap } from 'yaml';
import { z } from 'zod';
import { ACCOUNT_NAME, ACCOUNT_NAME_FORM } from '../domain/accounts/name.ts';
import { withoutPassword } from './database-url.ts';
import { Layer, type Written } from './layer.ts';
import { ACCOUNT, ConfigError, SECRETS, SETTINGS, type ConfigProblem } from './settings.ts';

/**
 * Reads the settings of a file, and adds to `problems` those that it finds; undefined if the file cannot be read or is no YAML.
 * Scalars stay text, so that a key of digits loses none, and a file is read as the environment is.
 */
export function readSettingsFile(path: string, cwd: string, problems: ConfigProblem[]): Layer | undefined {
  const lines = new LineCounter();
  const shown = shownPath(path, cwd);
  const document = collect(problems, {}, () => readDocument(path, shown, lines));
  if (document === undefined) return undefined;
  collect(problems, { source: shown }, () => refuseWritableByAll(path, shown));
  const reader = new Reader(document, new Layer(cwd, problems), (offset) => `${shown}:${lines.linePos(offset).line}`);
  const layer = reader.read();
  const setting = layer.settings().find(([, name, { value }]) => isSecret(name, value))?.[0];
  if (setting !== undefined) collect(problems, { setting }, () => refuseReadableByOthers(path, shown, setting));
  return layer;
}

/** Reads the nodes of a document into a layer of settings. */
class Reader {
  readonly #document: Document;
  readonly #layer: Layer;
  readonly #sourceAt: (offset: number) => string;

  constructor(document: Document, layer: Layer, sourceAt: (offset: number) => string) {
    this.#document = document;
    this.#layer = layer;
    this.#sourceAt = sourceAt;
  }

  read(): Layer {
    this.#section(this.#document.contents, SETTINGS, [], 0);
    return this.#layer;
  }

  /** Reads the settings of a section, which is a part of all settings or of those of an account. */
  #section(node: unknown, { shape }: z.ZodObject, path: readonly string[], offset: number, account?: string): void {
    const setting = this.#layer.settingOf(path.join('.'), account);
    if (isEmpty(node)) return;
    if (!isMap(node)) {
      return this.#refuse(setting, offset, `${setting || 'the file'} holds settings by name, not a value`);
    }
    for (const [name, value, at] of itemsOf(node)) {
      const inner = Object.hasOwn(shape, name) ? shape[name] : undefined;
      const below = [...path, name];
      if (inner instanceof z.ZodObject) this.#section(value, inner, below, at, account);
      else if (setting === '' && name === 'accounts') this.#accounts(value, at);
      else this.#setting(value, below.join('.'), at, account);
    }
  }

  #accounts(node: unknown, offset: number): void {
    if (isEmpty(node)) return;
    if (!isMap(node)) return this.#refuse('accounts', offset, 'accounts holds accounts by name, not a value');
    for (const [name, value, at] of itemsOf(node)) {
      if (ACCOUNT_NAME.test(name)) {
        this.#layer.accounts.set(name, new Map());
        this.#section(value, ACCOUNT, [], at, name);
      } else {
        this.#refuse('accounts', at, `${JSON.stringify(name)} cannot name an account: it takes ${ACCOUNT_NAME_FORM}`);
      }
    }
  }

  #setting(node: unknown, path: string, offset: number, account?: string): void {
    const source = this.#sourceAt(offset);
    const setting = this.#layer.settingOf(path, account);
    const value = collect(this.#layer.problems, { setting, source }, () => valueOf(node, this.#document));
    if (value !== undefined) this.#layer.put(path, { value, source }, account);
  }

  #refuse(setting: string, offset: number, problem: string): void {
    this.#layer.problems.push({ setting, source: this.#sourceAt(offset), problem });
  }
}

/** The name, the value and the place of everything in a map. */
function itemsOf(map: YAMLMap): (readonly [name: string, value: unknown, offset: number])[] {
  return map.items.map(({ key, value }) =>
    isScalar(key) ? [String(key.value), value, key.range?.[0] ?? 0] : ['?', value, 0],
  );
}

function isEmpty(node: unknown): boolean {
  return node === null || (isScalar(node) && node.value === '');
}

/** The texts of a value. An alias stands for one without aliases, so that few lines cannot become a value without end. */
function valueOf(node: unknown, document: Document, isAliased = false): Written {
  if (isAlias(node)) {
    if (isAliased) throw new ConfigError('an alias stands for another alias: write the value out');
    return valueOf(node.resolve(document), document, true);
  }
  if (isSeq(node)) return node.items.map((item) => valueOf(item, document, isAliased));
  if (!isMap(node)) return isScalar(node) ? String(node.value) : '';
  return Object.fromEntries(itemsOf(node).map(([name, value]) => [name, valueOf(value, document, isAliased)]));
}

/** Tells that the value of a setting must not be seen. */
function isSecret(path: string, value: Written): boolean {
  if (path === 'database.url') return typeof value === 'string' && withoutPassword(value) !== value;
  // An empty list holds none.
  return value !== '' && value !== '[]' && JSON.stringify(value) !== '[]' && SECRETS.includes(path);
}

function readDocument(path: string, shown: string, lineCounter: LineCounter): Document {
  // The parser looks for a key that stands twice by comparing each with each, which takes seconds for thousands of accounts.
  const options = { schema: 'failsafe', lineCounter, prettyErrors: false, uniqueKeys: false } as const;
  const document = parseDocument(readText(path, shown), options);
  const fault = [...document.errors, ...document.warnings][0] ?? keyTwice(document.contents);
  if (fault === undefined) return document;
  const source = `${shown}:${lineCounter.linePos(fault.pos[0]).line}`;
  throw new ConfigError([{ source, problem: `is not sound YAML: ${fault.message}` }]);
}

/** The first key that stands twice in a map. */
function keyTwice(node: unknown): { readonly pos: readonly [number]; readonly message: string } | undefined {
  if (!isMap(node) && !isSeq(node)) return undefined;
  const names = new Set<string>();
  for (const item of node.items) {
    const { key, value } = isPair(item) ? item : { key: undefined, value: item };
    if (isScalar(key)) {
      if (names.has(String(key.value))) return { pos: [key.range?.[0] ?? 0], message: 'Map keys must be unique' };
      names.add(String(key.value));
    }
    const found = keyTwice(value);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns what `read` returns; undefined, with the problems added, if it throws a `ConfigError`. */
export function collect<T>(
  problems: ConfigProblem[],
  known: Omit<ConfigProblem, 'problem'>,
  read: () => T,
): T | undefined {
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

/** Reads the value of a setting from a file of its own. Throws `ConfigError`. */
export function readValueFile(path: string, setting: string): string {
  const text = readText(path, `the file of ${setting}`).replace(/\r?\n$/, '');
  if (text === '') throw new ConfigError(`the file of ${setting} is empty: ${path}`);
  if (SECRETS.some((secret) => setting.endsWith(secret))) refuseReadableByOthers(path, path, setting);
  return text;
}

function refuseReadableByOthers(path: string, shown: string, setting: string): void {
  if (process.platform === 'win32' || !isOpenToOthers(statSync(path), process.geteuid?.())) return;
  throw new ConfigError(`${shown} holds ${setting} and others can read it: run \`chmod 600 ${shown}\``);
}

/** Who can write the settings can have the key sent to another address. */
function refuseWritableByAll(path: string, shown: string): void {
  const found = statSync(path);
  if (process.platform === 'win32' || !found.isFile() || (found.mode & 0o002) === 0) return;
  throw new ConfigError(`everybody on this machine can write to ${shown}: run \`chmod o-w ${shown}\``);
}

/**
 * Whether others than its owner and the user `reader` can read a file. Root may give its own file to a reader through a
 * group or an access list: a credential of systemd is such a file, of mode 0440.
 */
export function isOpenToOthers({ uid, mode }: { uid: number; mode: number }, reader: number | undefined): boolean {
  const isGivenByRoot = uid === 0 && reader !== 0;
  return (mode & (isGivenByRoot ? 0o037 : 0o077)) !== 0;
}
