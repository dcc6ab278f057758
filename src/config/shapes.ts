import { parse as parseJson } from 'lossless-json';
import type { AssetLimit } from '../domain/accounts/guard.ts';
import type { Tolerance } from '../domain/amounts.ts';
import { readDecimal } from '../domain/decimal.ts';
import type { AbsenceShape } from '../domain/orders/lookup.ts';
import { single, TEXT_OR_NUMBER, type JsonSchema } from './values.ts';

const TOLERANCE_SCHEMA: JsonSchema = {
  anyOf: [TEXT_OR_NUMBER, { type: 'object', additionalProperties: TEXT_OR_NUMBER }],
};
/** A decimal of at least zero, or one for each currency; they stay text, so that they are exact. */
export const tolerance = single((value): Tolerance => {
  if (!value.startsWith('{')) return decimalFromZero(value);
  const byCurrency = Object.entries(readJsonObject(value)).map(([currency, one]) => [currency, decimalFromZero(one)]);
  return Object.fromEntries(byCurrency) as Tolerance;
}, TOLERANCE_SCHEMA);

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

const ABSENCE_SCHEMA: JsonSchema = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      status: { type: 'integer', minimum: 200, maximum: 499 },
      pointer: { type: 'string', pattern: '^(/|$)' },
      value: {},
    },
    required: ['status'],
    additionalProperties: false,
  },
};
const SHAPE = 'such as [{"status": 404}] or [{"status": 200, "pointer": "/code", "value": "NO_ORDER"}]';

/** Shapes of answers by which the exchange says that there is no order, as JSON. */
export const absenceShapes = single((value): readonly AbsenceShape[] => {
  const shapes = readJsonList(value);
  if (shapes === undefined) throw new Error(`must be a list, ${SHAPE}`);
  return Object.freeze(shapes.map(absenceShape));
}, ABSENCE_SCHEMA);

const CODE: JsonSchema = { type: 'string', minLength: 1 };
const LIMITS_SCHEMA: JsonSchema = {
  type: 'array',
  items: {
    type: 'object',
    properties: { from: CODE, to: CODE, currency: CODE, asset: TEXT_OR_NUMBER },
    required: ['from', 'to', 'asset'],
    additionalProperties: false,
  },
};
const LIMIT = 'such as [{"from": "BTC", "to": "EUR", "asset": "2.5"}]';

/** Limits of what orders of a pair ask for, as JSON; the amounts stay text, so that they are exact. */
export const assetLimits = single((value): readonly AssetLimit[] => {
  const limits = readJsonList(value, (text) => parseJson(text, undefined, String));
  if (limits === undefined) throw new Error(`must be a list, ${LIMIT}`);
  const read = limits.map(assetLimit);
  const keys = read.map(({ from, to, currency }) => JSON.stringify([from, to, currency]).toUpperCase());
  const twice = read[keys.findIndex((key, index) => keys.indexOf(key) < index)];
  if (twice !== undefined)
    throw new Error(`has two limits of ${twice.from} to ${twice.to} in ${twice.currency}: leave one of them out`);
  return Object.freeze(read);
}, LIMITS_SCHEMA);

function assetLimit(given: unknown): AssetLimit {
  const { from, to, currency = from, asset, ...others } = (given ?? {}) as Readonly<Record<string, unknown>>;
  const [other] = Object.keys(others);
  if (other !== undefined) throw new Error(`has an unknown field ${other}: it takes from, to, currency and asset`);
  const isCode = (code: unknown): code is string => typeof code === 'string' && code.trim() !== '';
  if (!isCode(from) || !isCode(to)) throw new Error(`wants a pair of currencies, ${LIMIT}`);
  const isOfPair = isCode(currency) && [from, to].some((code) => code.toUpperCase() === currency.toUpperCase());
  if (!isOfPair) throw new Error('wants a currency that is one of its pair');
  const read = readDecimal(asset);
  if (!read.ok || !read.value.gt(0)) throw new Error(`wants an asset above 0, ${LIMIT}`);
  return { from, to, currency, asset: read.text };
}

function readJsonList(text: string, parse: (json: string) => unknown = JSON.parse): readonly unknown[] | undefined {
  try {
    const list: unknown = parse(text === '' ? '[]' : text);
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
