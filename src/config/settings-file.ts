import { readFileSync, statSync } from 'node:fs';
import { isAbsolute, relative, resolve } from 'node:path';
import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Document } from 'yaml';
import { suggestion } from '../domain/suggestion.ts';
import { ConfigError, JSON_SETTINGS, PATHS, SECRETS, SETTINGS, type ConfigProblem, type Path } from './settings.ts';
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

const SECTIONS = new Set(
  PATHS.flatMap((path) => path.split('.').map((_, index, parts) => parts.slice(0, index).join('.'))),
);
const NAMES = [...PATHS, ...SECTIONS].filter(Boolean);

/**
 * Reads the settings of a file, and adds what is wrong in it to `problems`; undefined where it cannot be read or is no YAML.
 * Scalars stay text, so that a key of digits loses none, and a file is read as the environment is.
 */
export function readSettingsFile(path: string, cwd: string, problems: ConfigProblem[]): Entries | undefined {
  const lines = new LineCounter();
  const shown = shownPath(path, cwd);
  const document = readDocument(path, shown, lines, problems);
  if (document === undefined) return undefined;
  const entries: Entries = new Map();
  const visit = (node: unknown, setting: string, offset: number): void => {
    const source = `${shown}:${lines.linePos(offset).line}`;
    const refuse = (problem: string) => void problems.push({ setting, source, problem });
    const isEmpty = node === null || (isScalar(node) && node.value === '');
    const named = secretNamedBy(setting);
    if (isMap(node) && SECTIONS.has(setting)) {
      for (const { key, value } of node.items) {
        const name = isScalar(key) ? String(key.value) : '?';
        visit(value, setting === '' ? name : `${setting}.${name}`, isScalar(key) ? (key.range?.[0] ?? 0) : 0);
      }
    } else if (SECTIONS.has(setting)) {
      if (!isEmpty) refuse(`${setting || 'the file'} holds settings by name, not a value`);
    } else if (named !== undefined && (isEmpty || isScalar(node))) {
      if (isEmpty) return;
      if (entries.get(named)?.text) refuse(`${setting} and ${named} are both set: leave one of them out`);
      entries.set(named, { text: '', source, file: resolve(cwd, String((node as { value: unknown }).value)) });
    } else if (!isPath(setting)) {
      const meant = suggestion(setting, NAMES);
      const advice = meant === undefined ? 'config/default.yaml has them all' : `did you mean ${meant}?`;
      refuse(`${setting} is not a setting; ${advice}`);
    } else {
      const text = textOf(node, setting, document);
      if (text === undefined) return refuse(`${setting} takes a value or a list of values`);
      if (text !== '' && entries.get(setting)?.file !== undefined)
        refuse(`${setting} and ${setting}File are both set: leave one of them out`);
      else if (text !== '' || !entries.has(setting)) entries.set(setting, { text, source });
    }
  };
  visit(document.contents, '', 0);
  const secret = SECRETS.find((setting) => entries.get(setting)?.text);
  if (secret !== undefined) collect(problems, { setting: secret }, () => refuseReadableByOthers(path, shown, secret));
  return entries;
}

function readDocument(path: string, shown: string, lineCounter: LineCounter, problems: ConfigProblem[]) {
  return collect(problems, {}, () => {
    const document = parseDocument(readText(path, shown), { schema: 'failsafe', lineCounter, prettyErrors: false });
    const fault = [...document.errors, ...document.warnings][0];
    if (fault === undefined) return document;
    const source = `${shown}:${lineCounter.linePos(fault.pos[0]).line}`;
    throw new ConfigError([{ source, problem: `is not sound YAML: ${fault.message}` }]);
  });
}

/** The text of a value; undefined for one that no setting has. */
function textOf(node: unknown, setting: Path, document: Document): SettingText | undefined {
  if (node === null) return '';
  if (isScalar(node)) return String(node.value);
  if ((isSeq(node) || isMap(node)) && JSON_SETTINGS.includes(setting)) return JSON.stringify(node.toJS(document));
  return isSeq(node) && node.items.every(isScalar) ? node.items.map((item) => String(item.value)) : undefined;
}

function isPath(name: string): name is Path {
  return Object.hasOwn(SETTINGS, name);
}

/** `exchange.apiKeyFile` names the file of exchange.apiKey. */
function secretNamedBy(name: string): Path | undefined {
  return SECRETS.find((setting) => name === `${setting}File`);
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
export function readValueFile(path: string, setting: Path): string {
  const text = readText(path, `the file of ${setting}`).replace(/\r?\n$/, '');
  if (text === '') throw new ConfigError(`the file of ${setting} is empty: ${path}`);
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
