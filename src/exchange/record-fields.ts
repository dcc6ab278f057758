import { LosslessNumber, stringify } from 'lossless-json';
import { RECORD_PATHS, type BodyFields, type RecordFields } from '../domain/record-fields.ts';
import { readJson } from './json.ts';

/** The fields of the body of an order record (§2.7); none where it is no JSON. */
export function readRecordFields(body: string): RecordFields {
  return readFields(body, RECORD_PATHS);
}

/** The fields of a body, of which the document shows those with these paths; none where it is no JSON. */
export function readFields<Path extends string>(body: string, paths: readonly Path[]): BodyFields<Path> {
  const shown: ReadonlySet<string> = new Set(paths);
  const isDocumented = (path: string): path is Path => shown.has(path);
  const documented = new Map<Path, string>();
  const other = new Map<string, string>();
  for (const [path, value] of leaves(readJson(body))) {
    const text = scalarText(value);
    if (text !== undefined && isDocumented(path)) documented.set(path, text);
    else other.set(path, stringify(value) ?? '');
  }
  return { documented, other };
}

/** Every value that is neither an object nor null, with its path. A name with a point in it is no path. */
function* leaves(value: unknown, path?: string): Generator<readonly [path: string, value: unknown]> {
  if (value === null || value === undefined) return;
  if (typeof value !== 'object' || Array.isArray(value) || value instanceof LosslessNumber) {
    yield [path ?? '', value];
    return;
  }
  for (const [name, inner] of Object.entries(value)) {
    const step = name.includes('.') ? JSON.stringify(name) : name;
    yield* leaves(inner, path === undefined ? step : `${path}.${step}`);
  }
}

function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (value instanceof LosslessNumber) return value.value;
  return typeof value === 'boolean' ? String(value) : undefined;
}
