import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suggestion } from '../domain/suggestion.ts';
import { PATHS, type ConfigProblem, type Path } from './settings.ts';
import { collect, readSettingsFile, readValueFile, type Entries, type Entry } from './settings-file.ts';

/** The places that settings come from. */
export interface ConfigOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Relative paths start here. */
  readonly cwd: string;
  /** `--config FILE`, instead of ORDER_SYNC_CONFIG and config/local.yaml; null: none of the three. */
  readonly file?: string | null | undefined;
}

/** What is read from the layers, and what is wrong in them. */
export interface Layers {
  readonly entries: Entries;
  readonly problems: ConfigProblem[];
  /** False where a file could not be read: what it would have set is not known. */
  readonly isWhole: boolean;
}

const PREFIX = 'ORDER_SYNC_';
const FOLDER = fileURLToPath(new URL('../../config/', import.meta.url));

/** Reads config/default.yaml, the file over it and the environment over both. */
export function readLayers(options: ConfigOptions): Layers {
  const { env, cwd } = options;
  const problems: ConfigProblem[] = [];
  const entries: Entries = new Map();
  for (const [setting, entry] of readSettingsFile(resolve(FOLDER, 'default.yaml'), cwd, problems) ?? []) {
    entries.set(setting, { ...entry, source: 'default' });
  }
  const own = readOwnFile(options, problems);
  for (const [setting, entry] of [...(own ?? []), ...readVariables(env, cwd, problems)]) entries.set(setting, entry);
  for (const [setting, entry] of entries) {
    if (entry.file !== undefined)
      entries.set(setting, { ...entry, text: textOfFile(entry.file, entry, setting, problems) });
  }
  return { entries, problems, isWhole: own !== undefined };
}

/** The path of the file that goes over config/default.yaml, whether it is there or not; null where there is none. */
export function ownFile({ env, cwd, file }: ConfigOptions): string | null {
  const named = file === undefined ? env['ORDER_SYNC_CONFIG'] || undefined : file;
  if (named === undefined) return resolve(FOLDER, 'local.yaml');
  return named === null ? null : resolve(cwd, named);
}

/** A file that is named must be there. */
function readOwnFile(options: ConfigOptions, problems: ConfigProblem[]): Entries | undefined {
  const path = ownFile(options);
  const isUnnamed = options.file === undefined && !options.env['ORDER_SYNC_CONFIG'];
  if (path === null || (isUnnamed && statSync(path, { throwIfNoEntry: false }) === undefined)) return new Map();
  return readSettingsFile(path, options.cwd, problems);
}

function textOfFile(file: string, { source }: Entry, setting: Path, problems: ConfigProblem[]): string {
  return collect(problems, { setting, source }, () => readValueFile(file, setting)) ?? '';
}

/** `exchange.baseUrl` is ORDER_SYNC_EXCHANGE_BASE_URL. */
function variableOf(path: Path): string {
  return PREFIX + path.replace(/[A-Z]/g, '_$&').replaceAll('.', '_').toUpperCase();
}

function readVariables(env: NodeJS.ProcessEnv, cwd: string, problems: ConfigProblem[]): Entries {
  const known = new Map(
    PATHS.flatMap((path) => ['', '_FILE'].map((suffix) => [variableOf(path) + suffix, path] as const)),
  );
  const entries: Entries = new Map();
  for (const [source, text = ''] of Object.entries(env)) {
    if (!source.startsWith(PREFIX) || source === 'ORDER_SYNC_CONFIG') continue;
    const setting = known.get(source);
    const other = setting && entries.get(setting)?.source;
    if (setting === undefined) {
      const meant = suggestion(source, [...known.keys()]);
      const advice = meant === undefined ? 'config/default.yaml has them all' : `did you mean ${meant}?`;
      problems.push({ source, problem: `is not a variable of a setting; ${advice}` });
    } else if (other !== undefined) {
      problems.push({ setting, source, problem: `${other} is set as well: unset one of them` });
    } else {
      const isFile = source !== variableOf(setting);
      entries.set(setting, isFile ? { text: '', source, file: resolve(cwd, text) } : { text, source });
    }
  }
  return entries;
}
