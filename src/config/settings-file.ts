import { readFileSync, statSync } from 'node:fs';
import { isAbsolute, relative, resolve } from 'node:path';
import { isMap, isPair, isScalar, isSeq, LineCounter, parseDocument, type Document, type YAMLMap } from 'yaml';
import { ACCOUNT_NAME, ACCOUNT_NAME_FORM } from '../domain/accounts/name.ts';
import { suggestion } from '../domain/suggestion.ts';
import { withoutPassword } from './database-url.ts';
import {
  ACCOUNT_PATHS,
  ConfigError,
  GONE_SETTINGS,
  JSON_SETTINGS,
  PATHS,
  SECRETS,
  type AccountPath,
  type ConfigProblem,
  type Path,
} from './settings.ts';
import type { SettingText } from './values.ts';

/** A setting as written, and the place where it stands. */
export interface Entry {
  readonly text: SettingText;
  readonly source: string;
  /** The file that holds the value, where one is named. */
  readonly file?: string;
}
/** The settings of one layer, or of all of them laid over each other. */
export type Entries = Map<Path, Entry>;
/** The settings that an account has of its own. */
export type AccountEntries = Map<AccountPath | 'rateGroup', Entry>;

/** What a file sets. */
export interface FileSettings {
  readonly entries: Entries;
  /** By name, in the order of the file. */
  readonly accounts: Map<string, AccountEntries>;
}

/** Settings that may stand somewhere in a file: all of them, or those of one account. */
interface Scope {
  readonly sections: ReadonlySet<string>;
  /** What a name that is not known may have meant. */
  readonly names: readonly string[];
  has(path: string): boolean;
}

const GENERAL = scopeOf(PATHS, ['accounts']);
const OF_ACCOUNT = scopeOf([...ACCOUNT_PATHS, 'rateGroup']);

function scopeOf(paths: readonly string[], other: readonly string[] = []): Scope {
  const all = new Set(paths);
  const sections = new Set(
    paths.flatMap((path) => path.split('.').map((_, at, parts) => parts.slice(0, at).join('.'))),
  );
  return { sections, names: [...paths, ...sections, ...other].filter(Boolean), has: (path) => all.has(path) };
}

/**
 * Reads the settings of a file, and adds what is wrong in it to `problems`; undefined where it cannot be read or is no YAML.
 * Scalars stay text, so that a key of digits loses none, and a file is read as the environment is.
 */
export function readSettingsFile(path: string, cwd: string, problems: ConfigProblem[]): FileSettings | undefined {
  const lines = new LineCounter();
  const shown = shownPath(path, cwd);
  const document = readDocument(path, shown, lines, problems);
  if (document === undefined) return undefined;
  collect(problems, { source: shown }, () => refuseWritableByAll(path, shown));
  const reader = new Reader(document, cwd, (offset) => `${shown}:${lines.linePos(offset).line}`, problems);
  reader.read();
  const { entries, accounts, secret } = reader;
  if (secret !== undefined) collect(problems, { setting: secret }, () => refuseReadableByOthers(path, shown, secret));
  return { entries, accounts };
}

/** Reads the nodes of a document into settings. */
class Reader implements FileSettings {
  readonly entries: Entries = new Map();
  readonly accounts = new Map<string, AccountEntries>();
  /** A setting whose value is a secret and stands in the file itself. */
  secret: string | undefined;
  readonly #document: Document;
  readonly #cwd: string;
  readonly #sourceAt: (offset: number) => string;
  readonly #problems: ConfigProblem[];

  constructor(document: Document, cwd: string, sourceAt: (offset: number) => string, problems: ConfigProblem[]) {
    this.#document = document;
    this.#cwd = cwd;
    this.#sourceAt = sourceAt;
    this.#problems = problems;
  }

  read(): void {
    this.#visit(this.#document.contents, '', 0, '', this.entries, GENERAL);
  }

  /** Reads what stands at `path` of the settings whose names begin with `prefix`. */
  #visit(node: unknown, path: string, offset: number, prefix: string, entries: Map<string, Entry>, scope: Scope): void {
    const setting = path === '' ? prefix.slice(0, -1) : prefix + path;
    const refuse = (problem: string) => this.#refuse(setting, offset, problem);
    const named = SECRETS.find((secret) => path === `${secret}File` && scope.has(secret));
    if (prefix === '' && path === 'accounts') {
      this.#visitAccounts(node, offset);
    } else if (scope.sections.has(path)) {
      if (isMap(node)) {
        for (const [name, value, at] of itemsOf(node)) {
          this.#visit(value, path === '' ? name : `${path}.${name}`, at, prefix, entries, scope);
        }
      } else if (!isEmpty(node)) {
        refuse(`${setting || 'the file'} holds settings by name, not a value`);
      }
    } else if (named !== undefined && (isEmpty(node) || isScalar(node))) {
      if (isEmpty(node)) return;
      if (entries.get(named)?.text) refuse(`${setting} and ${prefix}${named} are both set: leave one of them out`);
      const file = resolve(this.#cwd, String((node as { value: unknown }).value));
      entries.set(named, { text: '', source: this.#sourceAt(offset), file });
    } else if (!scope.has(path)) {
      const meant = suggestion(path, scope.names);
      const advice = meant === undefined ? 'config/default.yaml has them all' : `did you mean ${prefix}${meant}?`;
      refuse(`${setting} ${GONE_SETTINGS.get(path) ?? `is not a setting; ${advice}`}`);
    } else {
      this.#take(node, path, offset, prefix, entries);
    }
  }

  #take(node: unknown, path: string, offset: number, prefix: string, entries: Map<string, Entry>): void {
    const setting = prefix + path;
    const text = textOf(node, path, this.#document);
    if (text === undefined) return this.#refuse(setting, offset, `${setting} takes a value or a list of values`);
    if (text !== '' && entries.get(path)?.file !== undefined) {
      this.#refuse(setting, offset, `${setting} and ${setting}File are both set: leave one of them out`);
    } else if (text !== '' || !entries.has(path)) {
      entries.set(path, { text, source: this.#sourceAt(offset) });
      if (isSecret(path, text)) this.secret ??= setting;
    }
  }

  #visitAccounts(node: unknown, offset: number): void {
    if (isEmpty(node)) return;
    if (!isMap(node)) return this.#refuse('accounts', offset, 'accounts holds accounts by name, not a value');
    for (const [name, value, at] of itemsOf(node)) {
      if (!ACCOUNT_NAME.test(name)) {
        this.#refuse('accounts', at, `${JSON.stringify(name)} cannot name an account: it takes ${ACCOUNT_NAME_FORM}`);
        continue;
      }
      const entries: AccountEntries = new Map();
      this.accounts.set(name, entries);
      this.#visit(value, '', at, `accounts.${name}.`, entries, OF_ACCOUNT);
    }
  }

  #refuse(setting: string, offset: number, problem: string): void {
    this.#problems.push({ setting, source: this.#sourceAt(offset), problem });
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

/** Tells that the text of a setting must not be seen. */
function isSecret(path: string, text: SettingText): boolean {
  if (path === 'database.url') return typeof text === 'string' && withoutPassword(text) !== text;
  // An empty list holds none.
  return text !== '' && text !== '[]' && (SECRETS as readonly string[]).includes(path);
}

function readDocument(path: string, shown: string, lineCounter: LineCounter, problems: ConfigProblem[]) {
  return collect(problems, {}, () => {
    // The parser looks for a key that stands twice by comparing each with each, which takes seconds for thousands of accounts.
    const options = { schema: 'failsafe', lineCounter, prettyErrors: false, uniqueKeys: false } as const;
    const document = parseDocument(readText(path, shown), options);
    const fault = [...document.errors, ...document.warnings][0] ?? keyTwice(document.contents);
    if (fault === undefined) return document;
    const source = `${shown}:${lineCounter.linePos(fault.pos[0]).line}`;
    throw new ConfigError([{ source, problem: `is not sound YAML: ${fault.message}` }]);
  });
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

/** The text of a value; undefined for one that no setting has. */
function textOf(node: unknown, path: string, document: Document): SettingText | undefined {
  if (node === null) return '';
  if (isScalar(node)) return String(node.value);
  if ((isSeq(node) || isMap(node)) && (JSON_SETTINGS as readonly string[]).includes(path))
    return JSON.stringify(node.toJS(document));
  return isSeq(node) && node.items.every(isScalar) ? node.items.map((item) => String(item.value)) : undefined;
}

/** What `read` gives; undefined, with the problems added, where it throws a `ConfigError`. */
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
