import { isLosslessNumber, LosslessNumber, parse, type ParseOptions } from 'lossless-json';
import type { z } from 'zod';

/** Deeper than any answer of the interface; lossless-json reads by recursion. */
const MAX_DEPTH = 50;

/** Reads a body with numbers as `LosslessNumber`; undefined if it is no JSON or too deep. Of a name that is given twice the last value counts. */
export function readJson(body: string): unknown {
  const known = recentlyRead.get(body);
  if (known !== undefined) return known;
  const value = readFast(body) ?? read(body, { onDuplicateKey: ({ newValue }) => newValue });
  if (value === undefined || body.length > LONGEST_KEPT) return value;
  const [oldest] = recentlyRead.keys();
  if (recentlyRead.size >= MOST_KEPT && oldest !== undefined) recentlyRead.delete(oldest);
  recentlyRead.set(body, value);
  return value;
}

/** Records that were read lately. A record is read several times: for the fields that decide, for those on show, and as the one before. */
const recentlyRead = new Map<string, unknown>();
/** Two for each order of a large commit: its answer and the record before it. */
const MOST_KEPT = 256;
const LONGEST_KEPT = 16_384;

const NAMED_NUMBER = /"\s*:\s*-?\d[\d.eE+-]*/g;
const NAME = /"\s*:/g;

/** Reads by the parser of the engine, which is three times as fast, and finds the digits in the text. Undefined if they are not certain. */
function readFast(body: string): unknown {
  try {
    const text = withoutNul(body);
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return undefined;
    const digits = (text.match(NAMED_NUMBER) ?? []).map((found) => found.slice(found.search(/[-\d]/)));
    // Names that are given twice, names that are numbers, and texts change the order: equal numbers must have equal digits.
    if (new Set(digits).size !== new Set(digits.map(Number)).size) return undefined;
    return putDigits(value as Record<string, unknown>, digits, 0, 1) === digits.length ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Replaces numbers by their digits, from place `next` on; returns the place after them. Throws if one has other digits. */
function putDigits(parts: Record<string, unknown>, digits: readonly string[], next: number, depth: number): number {
  if (depth > MAX_DEPTH) throw new Error('too deep');
  let place = next;
  for (const name of Object.keys(parts)) {
    const part = parts[name];
    if (typeof part === 'number') {
      const found = digits[place];
      if (Array.isArray(parts) || found === undefined || Number(found) !== part) throw new Error('another number');
      parts[name] = new LosslessNumber(found);
      place += 1;
    } else if (typeof part === 'object' && part !== null) {
      place = putDigits(part as Record<string, unknown>, digits, place, depth + 1);
    }
  }
  return place;
}

/** As `readJson`, but a body with a name that has two values cannot be read: which of two pre-orders was made must not be guessed. */
export function readUnambiguous(body: string): unknown {
  const value = readFast(body);
  // A text that looks like a name, or a name that is given twice, makes the numbers differ.
  return value !== undefined && body.match(NAME)?.length === countNames(value) ? value : read(body);
}

function countNames(value: unknown): number {
  if (typeof value !== 'object' || value === null || isLosslessNumber(value)) return 0;
  const parts: readonly unknown[] = Object.values(value);
  return parts.reduce<number>((count, part) => count + countNames(part), Array.isArray(value) ? 0 : parts.length);
}

/** A body that is read as `readUnambiguous` does and against its schema; undefined if it does not hold to it. */
export function readBody<Schema extends z.ZodType>(schema: Schema, body: string): z.output<Schema> | undefined {
  return schema.safeParse(readUnambiguous(body)).data;
}

function read(body: string, options?: ParseOptions): unknown {
  try {
    return isTooDeep(body) ? undefined : parse(withoutNul(body), null, options);
  } catch {
    // The error's text quotes the body, so it is not passed on.
    return undefined;
  }
}

/** PostgreSQL stores no text with the character NUL, which JSON writes so. A backslash before it is escaped itself, or none. */
function withoutNul(body: string): string {
  return body.includes('\\u0000') ? body.replaceAll(/(?<!\\)((?:\\\\)*)\\u0000/g, '$1\u2400') : body;
}

/** A value that was read, of a number its digits as text: an exchange may write ids and statuses as numbers. */
export function withDigits(value: unknown): unknown {
  return typeof value === 'object' && isLosslessNumber(value) ? value.value : value;
}

/** Returns the value at a JSON pointer (RFC 6901), or undefined if there is none. The empty pointer is the whole value. */
export function valueAt(value: unknown, pointer: string): unknown {
  const names = pointer.split('/').slice(1);
  return names.reduce<unknown>((within, name) => {
    if (typeof within !== 'object' || within === null || isLosslessNumber(within)) return undefined;
    const key = name.replaceAll('~1', '/').replaceAll('~0', '~');
    const isKey = Array.isArray(within) ? /^(0|[1-9]\d*)$/.test(key) : true;
    return isKey && Object.hasOwn(within, key) ? (within as Readonly<Record<string, unknown>>)[key] : undefined;
  }, value);
}

const [QUOTE, BACKSLASH, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [34, 92, 91, 93, 123, 125] as const;

/** Counts brackets outside strings, so that a hostile answer cannot overflow the stack of the parser. */
function isTooDeep(body: string): boolean {
  let depth = 0;
  for (let index = 0; index < body.length; index += 1) {
    const character = body.charCodeAt(index);
    if (character === QUOTE) index = endOfString(body, index);
    else if (character === OPEN_BRACKET || character === OPEN_BRACE) depth += 1;
    else if (character === CLOSE_BRACKET || character === CLOSE_BRACE) depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

function endOfString(body: string, start: number): number {
  for (let index = start + 1; index < body.length; index += 1) {
    const character = body.charCodeAt(index);
    if (character === BACKSLASH) index += 1;
    else if (character === QUOTE) return index;
  }
  return body.length;
}
