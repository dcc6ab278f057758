import { parse as parseJson } from 'lossless-json';
import { z } from 'zod';
import type { AssetLimit } from '../accounts/rules/guard.ts';
import { readDecimal, type Tolerance } from '../base/decimal.ts';
import type { AbsenceShape } from '../orders/rules/lookup.ts';
import { text, isLoopback, meantBy } from './values.ts';
import { EVENT_TYPES } from '../extensions/feed/event.ts';
import { takesType, type EventFilter } from '../extensions/webhooks/delivery.ts';
import { isPlainText } from '../base/text.ts';

/** Has a variable hold as JSON what a file holds as lists and fields. Numbers stay text, so that they are exact. */
function fromJson(given: unknown): unknown {
  if (typeof given !== 'string') return given;
  try {
    return parseJson(given, undefined, String);
  } catch {
    return given;
  }
}

function jsonList<T>(items: z.ZodType<T>) {
  return z.preprocess((given) => (given === '' ? [] : fromJson(given)), items);
}

function fields<S extends z.core.$ZodShape>(shape: S, form: string) {
  return z.strictObject(shape, {
    error: ({ code }) => (code === 'invalid_type' ? `must have fields, ${form}` : undefined),
  });
}

const DECIMAL = { type: ['string', 'number'] };

/** A decimal that stays text, so that it is exact. */
function decimal(isRight: (sign: number) => boolean, reason: string) {
  return text((given) => {
    const read = readDecimal(given);
    if (read.ok && isRight(read.value.cmp(0))) return read.text;
    throw new Error(reason);
  }, DECIMAL);
}

const TOLERANCE =
  'must be a decimal of at least 0, such as 0.01, or one by currency: {EUR: 0.01, default: 0} (in a variable JSON: {"EUR": "0.01"})';
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
    throw new Error('must be a status from 200 to 299 or 400 to 499 but 401, 403 and 429');
  },
  { type: 'integer', minimum: 200, maximum: 499 },
);
const POINTER = 'must be a JSON pointer (RFC 6901)';
const pointer = z.string(POINTER).regex(/^(\/([^~/]|~[01])*)*$/, POINTER);
/** A file has text for every value, so that values are compared by their text. */
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

const LIMIT = 'such as [{"from": "BTC", "to": "EUR", "asset": "2.5"}]';
const code = text(
  (given) => {
    if (given !== '') return given;
    throw new Error('must be a currency');
  },
  { type: 'string', minLength: 1 },
);
const asset = decimal((sign) => sign > 0, 'must be a decimal above 0');

const assetLimit = fields({ from: code, to: code, currency: code.optional(), asset }, LIMIT)
  .transform((limit): AssetLimit => ({ ...limit, currency: limit.currency ?? limit.from }))
  .refine(({ from, to, currency }) => [from, to].some((other) => other.toUpperCase() === currency.toUpperCase()), {
    path: ['currency'],
    error: 'must be one of its pair',
  });

export const assetLimits = jsonList(
  z
    .array(assetLimit, `must be a list, ${LIMIT}`)
    .refine(
      (limits) =>
        areDifferent(limits.map(({ from, to, currency }) => JSON.stringify([from, to, currency]).toUpperCase())),
      'has two limits of one pair in one currency: leave one of them out',
    ),
);

function areDifferent(keys: readonly string[]): boolean {
  return new Set(keys).size === keys.length;
}

const MOST_ENDPOINTS = 20;
const MOST_SECRETS = 2;
const LONGEST_NAME = 200;
const SECRET_BYTES = { min: 24, max: 64 };
const FORM = 'such as [{"url": "https://shop.example/events", "secrets": ["whsec_…"]}] (the value is not shown)';
const SECRET_FORM = `must be 1 or ${MOST_SECRETS} secrets, each whsec_ and ${SECRET_BYTES.min} to ${SECRET_BYTES.max} bytes in base64; make one with: echo "whsec_$(openssl rand -base64 32)"`;

const name = text(
  (given) => {
    if (isPlainText(given) && given.length <= LONGEST_NAME) return given;
    throw new Error(`must be a name of 1 to ${LONGEST_NAME} characters`);
  },
  { type: 'string', maxLength: LONGEST_NAME },
);
const address = text(
  (given) => {
    if (!/^https?:\/\/[^/\s]\S*$/i.test(given) || !URL.canParse(given))
      throw new Error('must be an address such as https://shop.example/events');
    const url = new URL(given);
    if (url.username !== '' || url.password !== '') throw new Error('must not carry a user name or password');
    if (given.includes('#')) throw new Error('must not carry a fragment');
    return url;
  },
  { type: 'string', pattern: '^https?://[^/\\s]' },
);
const secret = z
  .string(SECRET_FORM)
  .refine(isSecret, SECRET_FORM)
  .meta({ json: { type: 'string', pattern: '^whsec_' } });
const event = text((given) => {
  if (EVENT_TYPES.some((type) => takesType([given], type))) return given;
  const beginnings = [...new Set(EVENT_TYPES.map((type) => `${type.split('.')[0]}.*`))];
  const meant = meantBy(given, [...EVENT_TYPES, ...beginnings]);
  throw new Error(
    `must be a type of events that there is${meant}; they are ${EVENT_TYPES.join(', ')}, and ${beginnings.join(', ')}`,
  );
});
/** A file has text for every value. */
const flag = z
  .union([z.boolean(), z.enum(['true', 'false'])], 'must be true or false')
  .transform((given) => given === true || given === 'true')
  .meta({ json: { type: 'boolean' } });

/** Has one value stand for a list of one. */
function listOf<T>(items: z.ZodType<T>) {
  return z.preprocess((given) => {
    if (given === undefined || Array.isArray(given)) return given;
    return given === '' ? [] : [given];
  }, items);
}

const endpoint = fields(
  {
    name: name.optional(),
    url: address,
    secrets: listOf(z.array(secret, SECRET_FORM).min(1, SECRET_FORM).max(MOST_SECRETS, SECRET_FORM)),
    events: listOf(z.array(event).optional()),
    allowPrivate: flag.optional(),
  },
  FORM,
)
  .refine(({ url, allowPrivate }) => url.protocol === 'https:' || (allowPrivate && isLoopback(url.hostname)), {
    path: ['url'],
    error: 'must begin with https:// (http only on localhost, 127.0.0.0/8 or [::1], with allowPrivate: true)',
  })
  .transform(({ url, events = [], allowPrivate = false, ...given }) => ({
    /** Names it in the database, in commands and in metrics. */
    name: given.name ?? `${url.origin}${url.pathname}`,
    url: url.href,
    /** While one follows the other, events are signed with both. */
    secrets: given.secrets as readonly string[],
    events: events as EventFilter,
    allowPrivate,
  }));
export type WebhookEndpoint = Readonly<z.output<typeof endpoint>>;

/** A list of receivers of events. What is wrong in it is said without the secrets and the query of an address. */
export const webhookEndpoints = jsonList(
  z
    .array(endpoint, `must be a list, ${FORM}`)
    .max(MOST_ENDPOINTS, `must name at most ${MOST_ENDPOINTS} endpoints`)
    .refine(
      (endpoints) => areDifferent(endpoints.map((receiver) => receiver.name)),
      'names an endpoint twice: give each a name of its own',
    ),
);

function isSecret(given: string): boolean {
  if (!/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(given)) return false;
  const encoded = given.slice('whsec_'.length);
  const bytes = Buffer.from(encoded, 'base64');
  const isWhole = bytes.toString('base64').replace(/=+$/, '') === encoded.replace(/=+$/, '');
  return isWhole && bytes.length >= SECRET_BYTES.min && bytes.length <= SECRET_BYTES.max;
}
