import { parse as parseJson } from 'lossless-json';
import { z } from 'zod';
import { readDecimal, type Tolerance } from '../base/decimal.ts';
import type { AbsenceShape } from '../orders/rules/lookup.ts';
import { text, TEXT_OR_NUMBER } from './values.ts';

/** Parses lists and fields, which an environment variable has as JSON. Numbers stay text, so that they are exact. */
function fromJson(given: unknown): unknown {
  if (typeof given !== 'string') return given;
  try {
    return parseJson(given, undefined, String);
  } catch {
    return given;
  }
}

export function jsonList<T>(items: z.ZodType<T>) {
  return z.preprocess((given) => (given === '' ? [] : fromJson(given)), items);
}

export function fields<S extends z.core.$ZodShape>(shape: S, form: string) {
  return z.strictObject(shape, {
    error: ({ code }) => (code === 'invalid_type' ? `must have fields, ${form}` : undefined),
  });
}

/** A settings file has only texts, so `true` and `false` may be text too. */
export const flag = z
  .union([z.boolean(), z.enum(['true', 'false'])], 'must be true or false')
  .transform((given) => given === true || given === 'true')
  .meta({ json: { type: 'boolean' } });

/** A decimal that stays text, so that it is exact. */
export function decimal(isRight: (sign: number) => boolean, reason: string) {
  return text((given) => {
    const read = readDecimal(given);
    if (read.ok && isRight(read.value.cmp(0))) return read.text;
    throw new Error(reason);
  }, TEXT_OR_NUMBER);
}

const TOLERANCE =
  'must be a decimal of at least 0, such as 0.01, or a decimal for each currency: {EUR: 0.01, default: 0} (in a variable JSON: {"EUR": "0.01"})';
const fromZero = decimal((sign) => sign >= 0, TOLERANCE);

export const tolerance: z.ZodType<Tolerance> = z.preprocess(
  fromJson,
  z.union([fromZero, z.record(z.string(), fromZero)], TOLERANCE),
);

const SHAPE = 'such as [{"status": 404}] or [{"status": 200, "pointer": "/code", "value": "NO_ORDER"}]';
const status = text(
  (given) => {
    // 401, 403, 429 and 5xx speak of the account or of the exchange, not of an order.
    if (/^[24]\d\d$/.test(given) && !['401', '403', '429'].includes(given)) return Number(given);
    throw new Error('must be a status from 200 to 299 or 400 to 499, other than 401, 403 and 429');
  },
  { type: 'integer', minimum: 200, maximum: 499 },
);
const POINTER = 'must be a JSON pointer (RFC 6901)';
const pointer = z.string(POINTER).regex(/^(\/([^~/]|~[01])*)*$/, POINTER);
/** Values are compared by their text, because a settings file has only texts. */
const value = z
  .unknown()
  .refine((given) => typeof given !== 'object' || given === null || Object.keys(given).length === 0, {
    error: 'must be text, a number, true, false, null, [] or {}',
  })
  .transform((given) => (typeof given === 'object' && given !== null ? JSON.stringify(given) : String(given)));

const absenceShape = fields({ status, pointer: pointer.optional(), value: value.optional() }, SHAPE)
  .refine((shape) => shape.pointer !== undefined || shape.value === undefined, 'needs a pointer beside its value')
  .transform((shape) => shape as AbsenceShape);

export const absenceShapes = jsonList(z.array(absenceShape, `must be a list, ${SHAPE}`));

export function areDifferent(keys: readonly string[]): boolean {
  return new Set(keys).size === keys.length;
}
