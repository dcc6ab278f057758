import { readFileSync, statSync } from 'node:fs';
import { isAbsolute, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { closest } from 'fastest-levenshtein';
import { isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { ConfigError, JSON_SETTINGS, PATHS, SECRETS, SETTINGS, type Path } from './settings.ts';
import type { SettingText } from './values.ts';

/** The places that settings come from. */
export interface ConfigOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Relative paths start here. */
  readonly cwd: string;
  /** `--config FILE`, instead of ORDER_SYNC_CONFIG and config/local.yaml; null: none of the three. */
  readonly file?: string | null | undefined;
}

/** A setting as written, and the place where it stands. */
export interface Entry {
  readonly text: SettingText;
  readonly source: string;
  /** The file that holds the value, where a variable names one. */
  readonly file?: string;
}
/** The settings of one layer, or of all of them laid over each other. */
export type Entries = Map<Path, Entry>;

const SECTIONS = new Set(
  PATHS.flatMap((path) => path.split('.').map((_, index, parts) => parts.slice(0, index).join('.'))),
);
const PREFIX = 'ORDER_SYNC_';
const FOLDER = fileURLToPath(new URL('../../config/', import.meta.url));

/** Reads config/default.yaml, the file over it and the environment over both. Throws ConfigError. */
export function readEntries({ env, cwd, file }: ConfigOptions): Entries {
  const entries = readFile(resolve(FOLDER, 'default.yaml'), () => 'default');
  const named = file === undefined ? env['ORDER_SYNC_CONFIG'] || undefined : file;
  const path = named === undefined ? resolve(FOLDER, 'local.yaml') : named && resolve(cwd, named);
  if (path !== null && (named !== undefined || statSync(path, { throwIfNoEntry: false }) !== undefined)) {
    const shown = shownPath(path, cwd);
    for (const [setting, entry] of readFile(path, (line) => `${shown}:${line}`, shown)) entries.set(setting, entry);
  }
  for (const [setting, entry] of readVariables(env, cwd)) entries.set(setting, entry);
  return entries;
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

/** Reads a file. Scalars stay text, so that a key of digits loses none, and a file is read as the environment is. */
function readFile(file: string, sourceAt: (line: number) => string, shown: string = file): Entries {
  const lines = new LineCounter();
  const options = { schema: 'failsafe', lineCounter: lines, prettyErrors: false } as const;
  const document = parseDocument(readText(file, shown), options);
  const fault = [...document.errors, ...document.warnings][0];
  if (fault) throw new ConfigError(`${shown}:${lines.linePos(fault.pos[0]).line}: is not sound YAML: ${fault.message}`);
  const entries: Entries = new Map();
  const visit = (node: unknown, path: string, line: number): void => {
    const at = `${shown}:${line}: `;
    const isEmpty = node === null || (isScalar(node) && node.value === '');
    if (isMap(node) && SECTIONS.has(path)) {
      for (const { key, value } of node.items) {
        const name = isScalar(key) ? String(key.value) : '?';
        const start = isScalar(key) ? (key.range?.[0] ?? 0) : 0;
        visit(value, path === '' ? name : `${path}.${name}`, lines.linePos(start).line);
      }
    } else if (SECTIONS.has(path)) {
      if (!isEmpty) throw new ConfigError(`${at}${path || 'the file'} holds settings by name, not a value`);
    } else if (!isPath(path)) {
      const nearest = closest(path, [...PATHS, ...SECTIONS].filter(Boolean));
      throw new ConfigError(`${at}${path} is not a setting; did you mean ${nearest}?`);
    } else if (isEmpty || isScalar(node)) {
      entries.set(path, { text: isScalar(node) ? String(node.value) : '', source: sourceAt(line) });
    } else if ((isSeq(node) || isMap(node)) && JSON_SETTINGS.includes(path)) {
      entries.set(path, { text: JSON.stringify(node.toJS(document)), source: sourceAt(line) });
    } else if (isSeq(node) && node.items.every(isScalar)) {
      entries.set(path, { text: node.items.map((item) => String(item.value)), source: sourceAt(line) });
    } else {
      throw new ConfigError(`${at}${path} takes a value or a list of values`);
    }
  };
  visit(document.contents, '', 1);
  const secret = SECRETS.find((setting) => entries.get(setting)?.text);
  if (secret !== undefined) refuseReadableByOthers(file, shown, secret);
  return entries;
}

function isPath(path: string): path is Path {
  return Object.hasOwn(SETTINGS, path);
}

/** `exchange.baseUrl` is ORDER_SYNC_EXCHANGE_BASE_URL. */
function variableOf(path: Path): string {
  return PREFIX + path.replace(/[A-Z]/g, '_$&').replaceAll('.', '_').toUpperCase();
}

function readVariables(env: NodeJS.ProcessEnv, cwd: string): Entries {
  const known = new Map(
    PATHS.flatMap((path) => ['', '_FILE'].map((suffix) => [variableOf(path) + suffix, path] as const)),
  );
  const entries: Entries = new Map();
  for (const [name, text = ''] of Object.entries(env)) {
    if (!name.startsWith(PREFIX) || name === 'ORDER_SYNC_CONFIG') continue;
    const setting = known.get(name);
    if (setting === undefined) {
      const nearest = closest(name, [...known.keys()]);
      throw new ConfigError(`${name} in the environment is not a setting; did you mean ${nearest}?`);
    }
    const other = entries.get(setting)?.source;
    if (other !== undefined) throw new ConfigError(`${other} and ${name} are both set: unset one of them`);
    const isFile = name !== variableOf(setting);
    const file = resolve(cwd, text);
    const entry = isFile ? { text: readValueFile(file, name, setting), file } : { text };
    entries.set(setting, { ...entry, source: name });
  }
  return entries;
}

/** Reads the value of a setting from the file that a variable names. Throws ConfigError. */
export function readValueFile(path: string, name: string, setting: Path): string {
  const text = readText(path, `the file that ${name} names`).replace(/\r?\n$/, '');
  if (text === '') throw new ConfigError(`the file that ${name} names is empty: ${path}`);
  if (SECRETS.includes(setting)) refuseReadableByOthers(path, path, setting);
  return text;
}

function refuseReadableByOthers(path: string, shown: string, setting: Path): void {
  if (process.platform === 'win32' || !isOpenToOthers(statSync(path), process.geteuid?.())) return;
  throw new ConfigError(`${shown} holds ${setting} and others can read it: run \`chmod 600 ${shown}\``);
}

/**
 * Whether others than its owner and the user `reader` can read a file. Root may give its own file to a reader through a
 * group or an access list: a credential of systemd is such a file, of mode 0440.
 */
export function isOpenToOthers({ uid, mode }: { uid: number; mode: number }, reader: number | undefined): boolean {
  const isGivenByRoot = uid === 0 && reader !== 0;
  return (mode & (isGivenByRoot ? 0o037 : 0o077)) !== 0;
}
