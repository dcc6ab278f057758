import { resolve } from 'node:path';
import type { z } from 'zod';
import { suggestion } from '../domain/text.ts';
import { ACCOUNT_PATHS, GONE_SETTINGS, PATHS, SECRETS, type ConfigProblem } from './settings.ts';

/** A value as it is written: text, or lists and fields of texts. */
export type Written = string | readonly Written[] | { readonly [name: string]: Written };

/** A setting as it is written, and the place where it stands. */
export interface Entry {
  readonly value: Written;
  readonly source: string;
}
/** The settings of a layer, or of several laid over each other, by path. */
export type Entries = Map<string, Entry>;

/** What may be meant by a name that is not known. */
const NAMES = { general: namesOf(PATHS, ['accounts']), account: namesOf(ACCOUNT_PATHS) };

function namesOf(paths: readonly string[], more: readonly string[] = []) {
  const sections = paths.flatMap((path) => path.split('.').map((_, at, parts) => parts.slice(0, at).join('.')));
  const files = SECRETS.filter((secret) => paths.includes(secret)).map((secret) => `${secret}File`);
  return { known: new Set([...paths, ...files]), near: [...new Set([...paths, ...sections, ...more])].filter(Boolean) };
}

/** The settings of one file, or of the environment. */
export class Layer {
  readonly entries: Entries = new Map();
  /** The settings that accounts have of their own, by their names in the order of the file. */
  readonly accounts = new Map<string, Entries>();
  readonly problems: ConfigProblem[];
  readonly #cwd: string;

  constructor(cwd: string, problems: ConfigProblem[]) {
    this.#cwd = cwd;
    this.problems = problems;
  }

  /** Adds a setting of all accounts or of one. An empty value, and an empty name of a file, leave a setting as it is set beside it. */
  put(path: string, { value, source }: Entry, account?: string): void {
    const setting = this.settingOf(path, account);
    const { known, near } = account === undefined ? NAMES.general : NAMES.account;
    if (!known.has(path)) {
      const meant = suggestion(path, near);
      const advice =
        meant === undefined ? 'config/default.yaml has them all' : `did you mean ${this.settingOf(meant, account)}?`;
      const problem = `${setting} ${GONE_SETTINGS.get(path) ?? `is not a setting; ${advice}`}`;
      return void this.problems.push({ setting, source, problem });
    }
    const entries = account === undefined ? this.entries : this.#entriesOf(account);
    const partner = partnerOf(path);
    const beside = [path, partner]
      .map((name) => entries.get(name))
      .find((entry) => entry !== undefined && entry.value !== '');
    if (beside !== undefined && value !== '') {
      const problem = `${setting} is set by ${beside.source} as well: leave one of them out`;
      return void this.problems.push({ setting, source, problem });
    }
    const isFile = SECRETS.includes(partner) && typeof value === 'string';
    if (beside !== undefined || (isFile && value === '')) return;
    entries.delete(partner);
    entries.set(path, { source, value: isFile ? resolve(this.#cwd, value) : value });
  }

  /** The name of a setting of all accounts or of one. */
  settingOf(path: string, account?: string): string {
    return account === undefined ? path : ['accounts', account, path].filter(Boolean).join('.');
  }

  /** All settings with their names and paths. */
  settings(): (readonly [setting: string, path: string, entry: Entry])[] {
    const own = [...this.accounts].flatMap(([account, entries]) =>
      [...entries].map(([path, entry]) => [this.settingOf(path, account), path, entry] as const),
    );
    return [...[...this.entries].map(([path, entry]) => [path, path, entry] as const), ...own];
  }

  #entriesOf(account: string): Entries {
    const entries = this.accounts.get(account) ?? new Map();
    this.accounts.set(account, entries);
    return entries;
  }
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
export function nested(entries: Entries): Record<string, unknown> {
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

/** Says what zod found wrong at a path, with the setting and the place where that is written: by the account, or for all of them. */
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
