import { z } from 'zod';
import { hasControlCharacter, suggestion } from '../base/text.ts';

/** JSON Schema of the value in a file, for editors. */
type JsonSchema = Readonly<Record<string, unknown>>;

const MS_PER_UNIT: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const BYTES_PER_UNIT: Record<string, number> = { '': 1, b: 1, kb: 1e3, mb: 1e6, kib: 1024, mib: 1024 ** 2 };
const LONGEST_DURATION_MS = 3650 * MS_PER_UNIT['d']!;
const DURATION = /^(\d{1,12})(ms|s|m|h|d)$/;
const SIZE = /^(\d{1,10}) ?([a-z]*)$/i;
/** Allows numbers, because editors take digits without quotes for a number. */
export const TEXT_OR_NUMBER = { type: ['string', 'number'] };

/** Made once for all types, because each call of zod makes another schema. */
const written = z.string({ error: ({ input }) => (input === undefined ? 'is missing' : 'takes one value') }).trim();

/** The message of an error of `read` continues a sentence after the setting's name. It must not quote a secret. */
export function text<T>(read: (text: string) => T, json: JsonSchema = { type: 'string' }) {
  const transformed = written.transform((given, context) => {
    try {
      return read(given);
    } catch (error) {
      context.addIssue((error as Error).message);
      return z.NEVER;
    }
  });
  return transformed.register(z.globalRegistry, { json });
}

/** Makes a type optional: an empty text leaves the setting unset. */
export function optional<T>(type: z.ZodType<T>) {
  const isUnset = (given: unknown) => given === '' || given === undefined;
  return z.preprocess(
    (given) => (isUnset(given) ? null : given),
    type.nullable().transform((value) => value ?? undefined),
  );
}

export function reader<T>(type: z.ZodType<T>): (given: string) => T {
  return (given) => {
    const { success, data, error } = type.safeParse(given);
    if (success) return data;
    throw new Error(error.issues[0]?.message);
  };
}

export const wholeNumber = (min: number, max: number) =>
  text(
    (given) => {
      const parsed = /^(0|[1-9]\d{0,14})$/.test(given) ? Number(given) : Number.NaN;
      if (!(parsed >= min && parsed <= max)) throw new Error(`must be a whole number from ${min} to ${max}`);
      return parsed;
    },
    { type: 'integer', minimum: min, maximum: max },
  );

export const duration = (max: string) =>
  text((given) => parseDuration(given, parseDuration(max)), { type: 'string', pattern: DURATION.source });

/** Milliseconds of `250ms`, `5s`, `10m`, `24h` or `7d`; throws a reason that names the units. */
export function parseDuration(given: string, maxMs: number = LONGEST_DURATION_MS): number {
  const [, digits = '', unit = ''] = DURATION.exec(given) ?? [];
  const ms = Number(digits) * (MS_PER_UNIT[unit] ?? 0);
  if (ms <= 0) throw new Error('must be a duration above zero with its unit: 250ms, 5s, 10m, 24h or 7d');
  if (ms > maxMs) throw new Error(`must be at most ${durationText(maxMs)}`);
  return ms;
}

/** Returns a duration in the largest unit that leaves no remainder: `366d`. */
export function durationText(ms: number): string {
  const [unit, unitMs] = Object.entries(MS_PER_UNIT).findLast(([, length]) => ms % length === 0) ?? ['ms', 1];
  return `${ms / unitMs}${unit}`;
}

export const size = text(
  (given) => {
    const [, digits = '', unit = ''] = SIZE.exec(given) ?? [];
    const bytes = Number(digits) * (BYTES_PER_UNIT[unit.toLowerCase()] ?? 0);
    if (!(bytes >= 1 && bytes <= 1024 ** 3))
      throw new Error('must be a size from 1 B to 1024 MiB: 1048576, 512 KiB or 1 MiB');
    return bytes;
  },
  { type: ['integer', 'string'], pattern: '^\\d{1,10} ?([bB]|[kKmM][iI]?[bB])?$' },
);

export const oneOf = <const T extends string>(...allowed: readonly T[]) =>
  text(
    (given) => {
      const found = allowed.find((word) => word === given);
      if (found === undefined) throw new Error(`must be one of ${allowed.join(', ')}${meantBy(given, allowed)}`);
      return found;
    },
    { enum: allowed },
  );

export function meantBy(given: string, allowed: readonly string[]): string {
  const meant = suggestion(given, allowed);
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}

/** Text that is not empty and may stand in an HTTP header: printable ASCII without spaces. */
export const headerText = text((given) => {
  if (!/^[\x21-\x7e]+$/.test(given)) throw new Error('must be printable ASCII without spaces (the value is not shown)');
  return given;
}, TEXT_OR_NUMBER);

export const plainText = text((given) => {
  if (given === '') throw new Error('must not be empty');
  if (hasControlCharacter(given)) throw new Error('must not contain control characters');
  return given;
});

export const ADDRESS = { type: 'string', pattern: '^https?://[^/\\s]' };

export const secureUrl = urlOf(secureAddress);

/** The address of an API. It may be http on any host, so the code that sends a token there must check the address. */
export const apiUrl = urlOf(serverAddress);

function urlOf(read: (given: string) => URL) {
  return text((given) => {
    const url = read(given);
    if (/[?#]/.test(given)) throw new Error('must not carry a query or a fragment');
    return url.href.replace(/\/+$/, '');
  }, ADDRESS);
}

/** Reads the address of a server: https, or http on loopback. An error continues a sentence, as in `text`. */
export function secureAddress(given: string): URL {
  const url = serverAddress(given);
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new Error('must begin with https:// (http only on localhost, 127.0.0.0/8 or [::1])');
  }
  return url;
}

function serverAddress(given: string): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || /\s/.test(given) || !/^https?:\/\/[^/]/i.test(given)) {
    throw new Error('must be an address such as https://exchange.example');
  }
  // This check and that of `urlOf` read the text, because the parsed address lacks an empty `@`, `?` or `#`.
  if (url.username || url.password || /^[^/]*\/\/[^/?#]*@/.test(given))
    throw new Error('must not carry a user name or password');
  return url;
}

export function isLoopback(hostname: string): boolean {
  return ['localhost', '::1', '[::1]'].includes(hostname) || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** A list, written `[a, b]` or `a,b`. */
export function list<T>(item: z.ZodType<T>, minCount = 0) {
  const items = z.array(item, 'takes a value or a list of values');
  return z.preprocess(itemsOf, items.min(minCount, `must list at least ${minCount}`));
}

function itemsOf(given: unknown, context: z.RefinementCtx): unknown {
  const unbracketed = typeof given === 'string' ? given.trim().replace(/^\[(.*)\]$/s, '$1') : given;
  const parts = typeof unbracketed === 'string' ? unbracketed.split(',') : unbracketed;
  if (!Array.isArray(parts)) return parts;
  const items = parts.map((item: unknown) =>
    typeof item === 'string' ? item.trim().replace(/^(["'])(.*)\1$/s, '$2') : item,
  );
  if (items.length === 1 && items[0] === '') return [];
  if (items.includes('')) context.addIssue('has an empty item in its list');
  return items;
}

/** Moments after an event, in milliseconds, each later than the one before. */
export const durations = (minCount: number) =>
  list(duration('3650d'), minCount).refine(
    (moments) => moments.every((ms, index) => index === 0 || ms > moments[index - 1]!),
    'must list durations that grow, such as [5s, 1m, 1h]',
  );

export const words = list(text((given) => given, TEXT_OR_NUMBER))
  .transform((given): readonly string[] => [...new Set(given)])
  .meta({ json: { anyOf: [{ type: 'array', items: TEXT_OR_NUMBER }, TEXT_OR_NUMBER] } });

/** A list of some of the allowed words, each once, in the order of `allowed`. */
export const wordsOf = <const T extends string>(...allowed: readonly T[]) =>
  list(oneOf(...allowed)).transform((given) => allowed.filter((word) => (given as readonly T[]).includes(word)));
