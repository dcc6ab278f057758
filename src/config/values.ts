import { createTask, validateDetailed } from 'node-cron';
import { parse as parseJson } from 'lossless-json';
import type { Tolerance } from '../domain/amounts.ts';
import { readDecimal } from '../domain/decimal.ts';
import type { AbsenceShape } from '../domain/orders/lookup.ts';
import { suggestion } from '../domain/suggestion.ts';
import { hasControlCharacter } from '../domain/text.ts';

/** The text of a setting, as a file or a variable gives it. */
export type SettingText = string | readonly string[];

/**
 * A type of settings: reads the text, or throws the reason why it is wrong, which follows the name of the setting in a
 * sentence. The reason for a setting that may hold a secret never quotes the text.
 */
export type SettingType<T> = (text: SettingText) => T;

const MS_PER_UNIT: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const BYTES_PER_UNIT: Record<string, number> = { '': 1, b: 1, kb: 1e3, mb: 1e6, kib: 1024, mib: 1024 ** 2 };
const DAY_MS = 86_400_000;
const LONGEST_DURATION_MS = 3650 * DAY_MS;

/** A type that takes one value, and no list. */
function single<T>(parse: (value: string) => T): SettingType<T> {
  return (text) => {
    if (typeof text !== 'string') throw new Error('takes one value, not a list');
    return parse(text.trim());
  };
}

/** The same type, but an empty text leaves the setting unset. */
export function optional<T>(type: SettingType<T>): SettingType<T | undefined> {
  return (text) => (text === '' ? undefined : type(text));
}

/** A whole number from `min` to `max`. */
export const wholeNumber = (min: number, max: number) =>
  single((value) => {
    const parsed = /^(0|[1-9]\d{0,14})$/.test(value) ? Number(value) : Number.NaN;
    if (!(parsed >= min && parsed <= max)) throw new Error(`must be a whole number from ${min} to ${max}`);
    return parsed;
  });

/** A decimal of at least zero, or one for each currency; they stay text, so that they are exact. */
export const tolerance = single((value): Tolerance => {
  if (!value.startsWith('{')) return decimalFromZero(value);
  const byCurrency = Object.entries(readJsonObject(value)).map(([currency, one]) => [currency, decimalFromZero(one)]);
  return Object.fromEntries(byCurrency) as Tolerance;
});

function decimalFromZero(value: unknown): string {
  const read = readDecimal(value);
  if (read.ok && read.value.gte(0)) return read.text;
  throw new Error('must be a decimal of at least 0, such as 0.01, or one by currency: {EUR: 0.01, default: 0}');
}

/** Numbers stay text. */
function readJsonObject(text: string): object {
  try {
    return parseJson(text, undefined, String) as object;
  } catch {
    throw new Error('must be a decimal, or JSON such as {"EUR": "0.01", "default": "0"}');
  }
}

/** A duration such as `15s`, in milliseconds, from 1 ms to `max`. */
export const duration = (max: string) => single((value) => parseDuration(value, parseDuration(max)));

/** Milliseconds of `250ms`, `5s`, `10m`, `24h` or `7d`; throws a reason that names the units. */
export function parseDuration(value: string, maxMs: number = LONGEST_DURATION_MS): number {
  const [, digits = '', unit = ''] = /^(\d{1,12})(ms|s|m|h|d)$/.exec(value) ?? [];
  const ms = Number(digits) * (MS_PER_UNIT[unit] ?? 0);
  if (ms <= 0) throw new Error('must be a duration above zero with its unit: 250ms, 5s, 10m, 24h or 7d');
  if (ms > maxMs) throw new Error(`must be at most ${durationText(maxMs)}`);
  return ms;
}

/** A duration as it is written, in the largest unit that leaves no rest: `366d`. */
export function durationText(ms: number): string {
  const [unit, unitMs] = Object.entries(MS_PER_UNIT).findLast(([, one]) => ms % one === 0) ?? ['ms', 1];
  return `${ms / unitMs}${unit}`;
}

/** Moments after an event, in milliseconds, each later than the one before. */
export const durations =
  (minCount: number): SettingType<readonly number[]> =>
  (text) => {
    const moments = listOf(text).map((item) => parseDuration(item));
    if (moments.length < minCount) throw new Error(`must list at least ${minCount} duration`);
    if (moments.some((ms, index) => index > 0 && ms <= moments[index - 1]!)) {
      throw new Error('must list durations that grow, such as [5s, 1m, 1h]');
    }
    return Object.freeze(moments);
  };

/** A list of words, each once. */
export const words: SettingType<readonly string[]> = (text) => Object.freeze([...new Set(listOf(text))]);

/** A list of some of the words given, each once. */
export const wordsOf =
  <const T extends string>(...allowed: readonly T[]): SettingType<readonly T[]> =>
  (text) => {
    const given = words(text);
    const other = given.find((word) => !allowed.some((one) => one === word));
    if (other !== undefined)
      throw new Error(`must list some of ${allowed.join(', ')}, or none${meantBy(other, allowed)}`);
    return allowed.filter((word) => given.includes(word));
  };

function listOf(text: SettingText): string[] {
  const parts =
    typeof text === 'string'
      ? text
          .trim()
          .replace(/^\[(.*)\]$/s, '$1')
          .split(',')
      : text;
  const items = parts.map((item) => item.trim().replace(/^(["'])(.*)\1$/s, '$2'));
  if (items.length === 1 && items[0] === '') return [];
  if (items.includes('')) throw new Error('has an empty item in its list');
  return items;
}

const SHAPE = 'such as [{"status": 404}] or [{"status": 200, "pointer": "/code", "value": "NO_ORDER"}]';

/** Shapes of answers by which the exchange says that there is no order, as JSON. */
export const absenceShapes = single((value): readonly AbsenceShape[] => {
  const shapes = readJsonList(value);
  if (shapes === undefined) throw new Error(`must be a list, ${SHAPE}`);
  return Object.freeze(shapes.map(absenceShape));
});

function readJsonList(text: string): readonly unknown[] | undefined {
  try {
    const list: unknown = JSON.parse(text === '' ? '[]' : text);
    return Array.isArray(list) ? list : undefined;
  } catch {
    return undefined;
  }
}

function absenceShape(given: unknown): AbsenceShape {
  const { status, pointer, value, ...others } = (given ?? {}) as Readonly<Record<string, unknown>>;
  const [other] = Object.keys(others);
  if (other !== undefined) throw new Error(`has an unknown field ${other}: it takes status, pointer and value`);
  // 401, 403, 429 and 5xx speak of the account or of the exchange, not of an order.
  const isOfOrder = /^(2\d\d|4\d\d)$/.test(String(status)) && ![401, 403, 429].includes(Number(status));
  if (!isOfOrder) throw new Error(`wants a status from 200 to 299 or 400 to 499 but 401, 403 and 429, ${SHAPE}`);
  if (pointer === undefined) {
    if (value !== undefined) throw new Error(`wants a pointer where it has a value, ${SHAPE}`);
    return { status: Number(status) };
  }
  if (typeof pointer !== 'string' || !/^(\/([^~/]|~[01])*)*$/.test(pointer)) {
    throw new Error(`wants a JSON pointer (RFC 6901), ${SHAPE}`);
  }
  return { status: Number(status), pointer, ...(value !== undefined && { value: shapeValue(value) }) };
}

/** A file gives text for every value, so that text is what values are compared by. */
function shapeValue(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  if (Object.keys(value).length > 0)
    throw new Error(`wants a value that is text, a number, true, false, null, [] or {}`);
  return Array.isArray(value) ? '[]' : '{}';
}

/** A size in bytes, written `1048576` or `1 MiB`, up to 1 GiB. */
export const size = single((value) => {
  const [, digits = '', unit = ''] = /^(\d{1,10}) ?([a-z]*)$/i.exec(value) ?? [];
  const bytes = Number(digits) * (BYTES_PER_UNIT[unit.toLowerCase()] ?? 0);
  if (!(bytes >= 1 && bytes <= 1024 ** 3))
    throw new Error('must be a size from 1 B to 1024 MiB: 1048576, 512 KiB or 1 MiB');
  return bytes;
});

/** One of the words given. */
export const oneOf = <const T extends string>(...allowed: readonly T[]) =>
  single((value) => {
    const found = allowed.find((word) => word === value);
    if (found === undefined) throw new Error(`must be one of ${allowed.join(', ')}${meantBy(value, allowed)}`);
    return found;
  });

function meantBy(given: string, allowed: readonly string[]): string {
  const meant = suggestion(given, allowed);
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}

/** Text that is not empty and may stand in an HTTP header: printable ASCII without spaces. */
export const headerText = single((value) => {
  if (!/^[\x21-\x7e]+$/.test(value)) throw new Error('must be printable ASCII without spaces (the value is not shown)');
  return value;
});

/** Text that is not empty and has no control characters. */
export const plainText = single((value) => {
  if (value === '') throw new Error('must not be empty');
  if (hasControlCharacter(value)) throw new Error('must not contain control characters');
  return value;
});

/** `sqlite:PATH`. */
export const sqliteUrl = single((value) => {
  if (!/^sqlite:(?!\/\/)[^\p{Cc}]+$/u.test(value))
    throw new Error('must be sqlite:PATH, such as sqlite:data/order-sync.db');
  return value;
});

/** An address to send secrets to: https, or http on loopback; without a slash at its end. */
export const secureUrl = single((value) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || /\s/.test(value) || !/^https?:\/\/[^/]/i.test(value)) {
    throw new Error('must be an address such as https://exchange.example');
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new Error('must begin with https:// (http only on localhost, 127.0.0.0/8 or [::1])');
  }
  // Checked on the text: an empty `?`, `#` or `@` is gone from the parsed address.
  if (url.username || url.password || /^[^/]*\/\/[^/?#]*@/.test(value))
    throw new Error('must not carry a user name or password');
  if (/[?#]/.test(value)) throw new Error('must not carry a query or a fragment');
  return url.href.replace(/\/+$/, '');
});

/** Tells that the host name of an address is this machine. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** An address to listen on. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** `HOST:PORT`, or undefined for `off`. */
export const listenAddress = single((value): ListenAddress | undefined => {
  if (value === 'off') return undefined;
  const [, host = '', port = ''] = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+):(\d{1,5})$/i.exec(value) ?? [];
  if (host === '' || Number(port) > 65_535) throw new Error('must be HOST:PORT such as 127.0.0.1:9464, or off');
  return Object.freeze({ host: host.replace(/^\[|\]$/g, ''), port: Number(port) });
});

const CRON_YEARS_FROM = Date.UTC(2024, 0, 1);
const CRON_DAYS = 5 * 365 + 2;
const CRON_NAMES = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** A cron expression of node-cron that fires at least once in five years, read in UTC. */
export const cron = single((value) => {
  const { errors, fields } = validateDetailed(value);
  if (errors[0] !== undefined || fields === undefined) {
    throw new Error(`must be a cron expression of 5 or 6 fields: ${errors[0]?.message ?? 'cannot be read'}`);
  }
  const reversed = value.split(/[\s,]+/).find(isReversedRange);
  if (reversed !== undefined)
    throw new Error(`has the reversed range ${reversed}: write two ranges with a comma between`);
  const first = (of: readonly unknown[], unitMs: number) => Number(of[0]) * unitMs;
  const timeOfDay = first(fields.hour, 3_600_000) + first(fields.minute, 60_000) + first(fields.second, 1_000);
  const task = createTask(value, () => {}, { timezone: 'UTC' });
  const fires = Array.from({ length: CRON_DAYS }, (_, day) => new Date(CRON_YEARS_FROM + day * DAY_MS + timeOfDay));
  const doesFire = fires.some((date) => task.match(date));
  void task.destroy();
  if (!doesFire) throw new Error('names no moment within five years: it would never fire');
  return value;
});

/** Tells a range such as `5-1`, which node-cron takes as one that wraps around: it is nearly always a slip. `fri-7` ends on Sunday. */
function isReversedRange(part: string): boolean {
  const [, from = '', to = ''] = /^(\w+)-(\w+)/.exec(part) ?? [];
  const [start, end] = [cronNumber(from), cronNumber(to)];
  return start > (end === 0 && /^sun/i.test(to) ? 7 : end);
}

function cronNumber(name: string): number {
  if (/^\d*$/.test(name)) return Number(name);
  const day = CRON_NAMES.indexOf(name.slice(0, 3).toLowerCase());
  return day >= 0 ? day : 'janfebmaraprmayjunjulaugsepoctnovdec'.indexOf(name.slice(0, 3).toLowerCase()) / 3 + 1;
}
