import { isLosslessNumber, stringify } from 'lossless-json';
import { RECORD_PATHS, type BodyFields, type RecordFields, type RecordPath } from '../domain/record-fields.ts';
import { readJson } from './json.ts';

const RECORD_PATH: ReadonlySet<string> = new Set(RECORD_PATHS);

/** The fields of the body of an order record (§2.7); none where it is no JSON. */
export function readRecordFields(body: string): RecordFields {
  return readFields<RecordPath>(body, RECORD_PATH);
}

/** The fields of a body, of which the document shows those with these paths; none where it is no JSON. */
export function readFields<Path extends string>(body: string, documentedPaths: ReadonlySet<string>): BodyFields<Path> {
  const documented = new Map<Path, string>();
  const other = new Map<string, string>();
  // Every value that is neither an object nor null is a field.
  const read = (value: unknown, path: string) => {
    if (value === null || value === undefined) return;
    const text = scalarText(value);
    if (text !== undefined && documentedPaths.has(path)) documented.set(path as Path, text);
    else if (typeof value !== 'object' || Array.isArray(value) || isLosslessNumber(value)) {
      other.set(path, stringify(value) ?? '');
    } else readEach(value, `${path}.`);
  };
  const readEach = (parts: object, above: string) => {
    for (const [name, value] of Object.entries(parts)) {
      // A name with a point in it is no path.
      read(value, above + (name.includes('.') ? JSON.stringify(name) : name));
    }
  };
  const value = readJson(body);
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isLosslessNumber(value)) read(value, '');
  else readEach(value, '');
  return { documented, other };
}

function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (isLosslessNumber(value)) return value.value;
  return typeof value === 'boolean' ? String(value) : undefined;
}
