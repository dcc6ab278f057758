import { suggestion } from '../domain/suggestion.ts';
import { hasControlCharacter } from '../domain/text.ts';

/** The text of a setting, as a file or a variable gives it. */
export type SettingText = string | readonly string[];

/**
 * A type of settings: reads the text, or throws the reason why it is wrong, which follows the name of the setting in a
 * sentence. The reason for a setting that may hold a secret never quotes the text.
 */
export interface SettingType<T> {
  (text: SettingText): T;
  /** JSON Schema of the value in a file, for editors. */
  readonly schema: JsonSchema;
}
export type JsonSchema = Readonly<Record<string, unknown>>;

export function settingType<T>(schema: JsonSchema, read: (text: SettingText) => T): SettingType<T> {
  return Object.assign(read, { schema });
}

const MS_PER_UNIT: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const BYTES_PER_UNIT: Record<string, number> = { '': 1, b: 1, kb: 1e3, mb: 1e6, kib: 1024, mib: 1024 ** 2 };
const LONGEST_DURATION_MS = 3650 * MS_PER_UNIT['d']!;
const DURATION = /^(\d{1,12})(ms|s|m|h|d)$/;
export const DURATION_SCHEMA: JsonSchema = { type: 'string', pattern: DURATION.source };
const SIZE_PATTERN = '^\\d{1,10} ?([bB]|[kKmM][iI]?[bB])?$';
const SIZE = /^(\d{1,10}) ?([a-z]*)$/i;
const TEXT: JsonSchema = { type: 'string' };
/** Digits without quotes are a number to an editor. */
export const TEXT_OR_NUMBER: JsonSchema = { type: ['string', 'number'] };

/** A type that takes one value, and no list. */
export function single<T>(parse: (value: string) => T, schema: JsonSchema = TEXT): SettingType<T> {
  return settingType(schema, (text) => {
    if (typeof text !== 'string') throw new Error('takes one value, not a list');
    return parse(text.trim());
  });
}

/** The same type, but an empty text leaves the setting unset. */
export function optional<T>(type: SettingType<T>): SettingType<T | undefined> {
  const schema = { anyOf: [type.schema, { type: 'null' }] };
  return settingType(schema, (text) => (text === '' ? undefined : type(text)));
}

/** A whole number from `min` to `max`. */
export const wholeNumber = (min: number, max: number) =>
  single(
    (value) => {
      const parsed = /^(0|[1-9]\d{0,14})$/.test(value) ? Number(value) : Number.NaN;
      if (!(parsed >= min && parsed <= max)) throw new Error(`must be a whole number from ${min} to ${max}`);
      return parsed;
    },
    { type: 'integer', minimum: min, maximum: max },
  );

/** A part of a whole: a decimal above 0, up to 1. */
export const share = single(
  (value) => {
    const parsed = /^[01](\.\d{1,6})?$/.test(value) ? Number(value) : Number.NaN;
    if (!(parsed > 0 && parsed <= 1)) throw new Error('must be a number above 0, up to 1, such as 0.5');
    return parsed;
  },
  { type: 'number', exclusiveMinimum: 0, maximum: 1 },
);

/** A duration such as `15s`, in milliseconds, from 1 ms to `max`. */
export const duration = (max: string) => single((value) => parseDuration(value, parseDuration(max)), DURATION_SCHEMA);

/** Milliseconds of `250ms`, `5s`, `10m`, `24h` or `7d`; throws a reason that names the units. */
export function parseDuration(value: string, maxMs: number = LONGEST_DURATION_MS): number {
  const [, digits = '', unit = ''] = DURATION.exec(value) ?? [];
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

/** A size in bytes, written `1048576` or `1 MiB`, up to 1 GiB. */
export const size = single(
  (value) => {
    const [, digits = '', unit = ''] = SIZE.exec(value) ?? [];
    const bytes = Number(digits) * (BYTES_PER_UNIT[unit.toLowerCase()] ?? 0);
    if (!(bytes >= 1 && bytes <= 1024 ** 3))
      throw new Error('must be a size from 1 B to 1024 MiB: 1048576, 512 KiB or 1 MiB');
    return bytes;
  },
  { type: ['integer', 'string'], pattern: SIZE_PATTERN },
);

/** One of the words given. */
export const oneOf = <const T extends string>(...allowed: readonly T[]) =>
  single(
    (value) => {
      const found = allowed.find((word) => word === value);
      if (found === undefined) throw new Error(`must be one of ${allowed.join(', ')}${meantBy(value, allowed)}`);
      return found;
    },
    { enum: allowed },
  );

/** The question that goes behind a list of what is allowed; empty where nothing is near. */
export function meantBy(given: string, allowed: readonly string[]): string {
  const meant = suggestion(given, allowed);
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}

/** Text that is not empty and may stand in an HTTP header: printable ASCII without spaces. */
export const headerText = single((value) => {
  if (!/^[\x21-\x7e]+$/.test(value)) throw new Error('must be printable ASCII without spaces (the value is not shown)');
  return value;
}, TEXT_OR_NUMBER);

/** A secret of at least `min` characters that may stand in an HTTP header. */
export const token = (min: number) =>
  single((value) => {
    const text = headerText(value);
    if (text.length < min) throw new Error(`must have at least ${min} characters (the value is not shown)`);
    return text;
  }, TEXT_OR_NUMBER);

/** Text that is not empty and has no control characters. */
export const plainText = single((value) => {
  if (value === '') throw new Error('must not be empty');
  if (hasControlCharacter(value)) throw new Error('must not contain control characters');
  return value;
});

const ADDRESS_SCHEMA: JsonSchema = { type: 'string', pattern: '^https?://[^/\\s]' };

/** An address to send secrets to: https, or http on loopback; without a slash at its end. */
export const secureUrl = single((value) => {
  const url = secureAddress(value);
  if (/[?#]/.test(value)) throw new Error('must not carry a query or a fragment');
  return url.href.replace(/\/+$/, '');
}, ADDRESS_SCHEMA);

/** An address that is called as it stands, with its query: https, or http on loopback. */
export const calledUrl = single((value) => secureAddress(value).href, ADDRESS_SCHEMA);

function secureAddress(value: string): URL {
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
  return url;
}

/** Tells that the host name of an address is this machine. */
export function isLoopback(hostname: string): boolean {
  return ['localhost', '::1', '[::1]'].includes(hostname) || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** An address to listen on. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** `HOST:PORT`, or undefined for `off`. */
export const listenAddress = single(
  (value): ListenAddress | undefined => {
    if (value === 'off') return undefined;
    const [, host = '', port = ''] = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+):(\d{1,5})$/i.exec(value) ?? [];
    if (host === '' || Number(port) > 65_535) throw new Error('must be HOST:PORT such as 127.0.0.1:9464, or off');
    return Object.freeze({ host: host.replace(/^\[|\]$/g, ''), port: Number(port) });
  },
  { type: 'string', pattern: '^(off|.+:\\d{1,5})$' },
);
