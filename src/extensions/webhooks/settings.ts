import { z } from 'zod';
import { isPlainText } from '../../base/text.ts';
import { file, section, settingsPart } from '../../settings/settings.ts';
import { areDifferent, fields, flag, jsonList } from '../../settings/shapes.ts';
import { duration, isLoopback, meantBy, optional, text } from '../../settings/values.ts';
import { EVENT_TYPES } from '../feed/event.ts';
import { takesType, type EventFilter } from './delivery.ts';

const MOST_ENDPOINTS = 20;
const MOST_SECRETS = 2;
const LONGEST_NAME = 200;
const SECRET_BYTES = { min: 24, max: 64 };
const FORM = 'such as [{"url": "https://shop.example/events", "secrets": ["whsec_…"]}] (the value is not shown)';
const MAKE_ONE = 'make one with: echo "whsec_$(openssl rand -base64 32)"';
const ONE_SECRET = `whsec_ and ${SECRET_BYTES.min} to ${SECRET_BYTES.max} bytes in base64; ${MAKE_ONE}`;
const SECRETS_FORM = `must be 1 or ${MOST_SECRETS} secrets, each ${ONE_SECRET}`;
/** The secret of the examples in docs/webhooks.md, with which anybody can sign. */
const PUBLISHED_SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
/** Names that RFC 2606 reserves for examples and tests. No receiver has one of these names. */
const EXAMPLE_HOST = /(^|\.)(example|invalid|example\.(com|net|org))\.?$/;

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
    if (EXAMPLE_HOST.test(url.hostname))
      throw new Error(`must be the address of your receiver: ${url.hostname} is a name for examples`);
    return url;
  },
  { type: 'string', pattern: '^https?://[^/\\s]' },
);
const secret = z
  .string(`must be ${ONE_SECRET}`)
  .refine(isSecret, `must be ${ONE_SECRET}`)
  .meta({ json: { type: 'string', pattern: '^whsec_' } });
const event = text((given) => {
  if (EVENT_TYPES.some((type) => takesType([given], type))) return given;
  const beginnings = [...new Set(EVENT_TYPES.map((type) => `${type.split('.')[0]}.*`))];
  const meant = meantBy(given, [...EVENT_TYPES, ...beginnings]);
  throw new Error(`must be a type of events: ${EVENT_TYPES.join(', ')}, ${beginnings.join(', ')}${meant}`);
});
/** Accepts a single value as a list of one. */
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
    secrets: listOf(z.array(secret, SECRETS_FORM).min(1, SECRETS_FORM).max(MOST_SECRETS, SECRETS_FORM)),
    events: listOf(z.array(event).optional()),
    allowPrivate: flag.optional(),
  },
  FORM,
)
  .refine(({ url, allowPrivate }) => url.protocol === 'https:' || (allowPrivate && isNear(url)), {
    path: ['url'],
    error: 'must begin with https:// (http only on localhost, 127.0.0.0/8 or [::1], with allowPrivate: true)',
    // Checked even if another field is wrong, so that all errors are shown at once.
    when: ({ value }) => Object(value).url instanceof URL,
  })
  .refine(({ url, secrets }) => isNear(url) || !(secrets as readonly unknown[]).includes(PUBLISHED_SECRET), {
    path: ['secrets'],
    error: `must not have the secret of the manual, with which anybody can sign; ${MAKE_ONE}`,
    when: ({ value }) => Array.isArray(Object(value).secrets),
  })
  .transform(({ url, events = [], allowPrivate = false, ...given }) => ({
    /** Names the endpoint in the database, in commands and in metrics. */
    name: given.name ?? `${url.origin}${url.pathname}`,
    url: url.href,
    /** Two while a secret is replaced. Events are then signed with both secrets. */
    secrets: given.secrets as readonly string[],
    events: events as EventFilter,
    allowPrivate,
  }));
export type WebhookEndpoint = Readonly<z.output<typeof endpoint>>;

/** Errors of this list quote no secret and no query of an address. */
const endpoints = jsonList(
  z
    .array(endpoint, `must be a list, ${FORM}`)
    .max(MOST_ENDPOINTS, `must name at most ${MOST_ENDPOINTS} endpoints`)
    .refine(
      (receivers) => areDifferent(receivers.map((receiver) => receiver.name)),
      'names an endpoint twice: give each endpoint its own name',
    ),
);

function isNear(url: unknown): boolean {
  return url instanceof URL && isLoopback(url.hostname);
}

function isSecret(given: string): boolean {
  if (!/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(given)) return false;
  const encoded = given.slice('whsec_'.length);
  const bytes = Buffer.from(encoded, 'base64');
  const isWhole = bytes.toString('base64').replace(/=+$/, '') === encoded.replace(/=+$/, '');
  return isWhole && bytes.length >= SECRET_BYTES.min && bytes.length <= SECRET_BYTES.max;
}

export const webhooksSettings = settingsPart({
  sections: { webhooks: section({ endpoints, endpointsFile: file }) },
  fields: { retention: { deadLetters: optional(duration('3650d')) } },
  secrets: ['webhooks.endpoints'],
});
