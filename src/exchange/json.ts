import { isLosslessNumber, parse, type ParseOptions } from 'lossless-json';
import { z } from 'zod';

/** No documented answer nests this deep. The limit protects the stack, because values are read by recursion. */
const MAX_DEPTH = 50;

/**
 * Reads a body with numbers as `LosslessNumber`; undefined if it is no JSON or too deep. If an object has a name twice,
 * the last value counts. Otherwise one doubled name would make the whole body unreadable.
 */
export function readJson(body: string): unknown {
  const known = recentlyRead.get(body);
  if (known !== undefined) return known;
  const value = read(body, { onDuplicateKey: ({ newValue }) => newValue });
  if (value === undefined || body.length > LONGEST_KEPT) return value;
  const [oldest] = recentlyRead.keys();
  if (recentlyRead.size >= MOST_KEPT && oldest !== undefined) recentlyRead.delete(oldest);
  recentlyRead.set(body, value);
  return value;
}

/** The bodies that were read last. A record is read again to show it, and to compare the next record with it. */
const recentlyRead = new Map<string, unknown>();
/** A commit of 128 orders reads this many bodies: for each order, the new answer and the record before it. */
const MOST_KEPT = 256;
const LONGEST_KEPT = 16_384;

function isDeeper(value: unknown, most: number): boolean {
  if (typeof value !== 'object' || value === null || isLosslessNumber(value)) return false;
  return most === 0 || Object.values(value).some((part) => isDeeper(part, most - 1));
}

/** Reads a body as `readJson` does, but returns undefined if a name has two values, because each might be the id. */
export const readUnambiguous = (body: string): unknown => read(body);

function read(body: string, options?: ParseOptions): unknown {
  try {
    const value = parse(withoutNul(body), null, options);
    return isDeeper(value, MAX_DEPTH) ? undefined : value;
  } catch {
    // The error is dropped, because its text quotes the body. The error may also be a stack overflow from a deep body.
    return undefined;
  }
}

/** Replaces NUL (`\u0000`), because PostgreSQL does not store it. `\\u0000` is no NUL, but `\\\u0000` ends with one. */
function withoutNul(body: string): string {
  return body.includes('\\u0000') ? body.replaceAll(/(?<!\\)((?:\\\\)*)\\u0000/g, '$1\u2400') : body;
}

/** Returns the digits of a number as text, and other values unchanged, because an exchange may write ids as numbers. */
export function withDigits(value: unknown): unknown {
  return typeof value === 'object' && isLosslessNumber(value) ? value.value : value;
}

/** Text, or a number whose digits become text. */
export const textOrDigits = z.preprocess(withDigits, z.string());

/** Returns the value at a JSON pointer (RFC 6901); undefined if there is none. An empty pointer is the whole value. */
export function valueAt(value: unknown, pointer: string): unknown {
  const names = pointer.split('/').slice(1);
  return names.reduce<unknown>((within, name) => {
    if (typeof within !== 'object' || within === null || isLosslessNumber(within)) return undefined;
    const key = name.replaceAll('~1', '/').replaceAll('~0', '~');
    const isKey = Array.isArray(within) ? /^(0|[1-9]\d*)$/.test(key) : true;
    return isKey && Object.hasOwn(within, key) ? (within as Readonly<Record<string, unknown>>)[key] : undefined;
  }, value);
}
