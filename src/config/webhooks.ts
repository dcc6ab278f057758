import { EVENT_TYPES } from '../domain/events/feed.ts';
import { takesType, type EventFilter } from '../domain/events/delivery.ts';
import { isPlainText } from '../domain/text.ts';
import { isLoopback, meantBy, single, type JsonSchema } from './values.ts';

/** A receiver of events. */
export interface WebhookEndpoint {
  /** Names it in the database, in commands and in metrics. */
  readonly name: string;
  readonly url: string;
  /** One or two, each `whsec_` and base64: while one follows the other, events are signed with both. */
  readonly secrets: readonly string[];
  readonly events: EventFilter;
  /** It may be on this machine or in a private network. */
  readonly allowPrivate: boolean;
}

const MOST_ENDPOINTS = 20;
const MOST_SECRETS = 2;
const LONGEST_NAME = 200;
const SECRET_BYTES = { min: 24, max: 64 };
const FIELDS = ['name', 'url', 'secrets', 'events', 'allowPrivate'] as const;
const EXAMPLE = '[{"url": "https://shop.example/events", "secrets": ["whsec_…"]}]';

const SCHEMA: JsonSchema = {
  type: 'array',
  maxItems: MOST_ENDPOINTS,
  items: {
    type: 'object',
    properties: {
      name: { type: 'string', maxLength: LONGEST_NAME },
      url: { type: 'string', pattern: '^https?://[^/\\s]' },
      secrets: {
        type: 'array',
        items: { type: 'string', pattern: '^whsec_' },
        minItems: 1,
        maxItems: MOST_SECRETS,
      },
      events: { type: 'array', items: { type: 'string' } },
      allowPrivate: { type: 'boolean' },
    },
    required: ['url', 'secrets'],
    additionalProperties: false,
  },
};

/** A list of receivers of events, as JSON. What is wrong in it is said without the secrets and the query of an address. */
export const webhookEndpoints = single((text): readonly WebhookEndpoint[] => {
  const list = readList(text);
  if (list.length > MOST_ENDPOINTS) throw new Error(`must name at most ${MOST_ENDPOINTS} endpoints`);
  const endpoints = list.map((one, index) => endpointOf(one, `endpoint ${index + 1}`));
  const twice = endpoints.find(({ name }, index) => endpoints.findIndex((one) => one.name === name) < index);
  if (twice !== undefined) throw new Error(`names ${twice.name} twice: give each endpoint a name of its own`);
  return Object.freeze(endpoints);
}, SCHEMA);

function readList(text: string): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(text === '' ? '[]' : text);
    if (Array.isArray(list)) return list;
  } catch {
    // The error quotes the text.
  }
  throw new Error(`must be a list such as ${EXAMPLE} (the value is not shown)`);
}

function endpointOf(given: unknown, place: string): WebhookEndpoint {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new Error(`wants fields in ${place}, such as ${EXAMPLE}`);
  }
  const other = Object.keys(given).find((field) => !FIELDS.some((one) => one === field));
  if (other !== undefined) throw new Error(`has an unknown field in ${place}: it takes ${FIELDS.join(', ')}`);
  const fields = given as Readonly<Partial<Record<(typeof FIELDS)[number], unknown>>>;
  const allowPrivate = flagOf(fields.allowPrivate, place);
  const url = urlOf(fields.url, allowPrivate, place);
  const name = fields.name ?? `${url.origin}${url.pathname}`;
  if (typeof name !== 'string' || !isPlainText(name) || name.length > LONGEST_NAME) {
    throw new Error(`wants a name of 1 to ${LONGEST_NAME} characters in ${place}`);
  }
  const [secrets, events] = [secretsOf(fields.secrets, place), eventsOf(fields.events, place)];
  return { name, url: url.href, secrets, events, allowPrivate };
}

/** A file gives text for every value. */
function flagOf(given: unknown, place: string): boolean {
  if (given === true || given === 'true') return true;
  if (given === undefined || given === false || given === 'false') return false;
  throw new Error(`wants true or false for allowPrivate in ${place}`);
}

function urlOf(given: unknown, allowPrivate: boolean, place: string): URL {
  const text = typeof given === 'string' ? given : '';
  if (!/^https?:\/\/[^/\s]\S*$/i.test(text) || !URL.canParse(text)) {
    throw new Error(`wants an address such as https://shop.example/events in ${place}`);
  }
  const url = new URL(text);
  if (url.username !== '' || url.password !== '')
    throw new Error(`wants no user name or password in the address of ${place}`);
  if (text.includes('#')) throw new Error(`wants no fragment in the address of ${place}`);
  if (url.protocol === 'http:' && !(allowPrivate && isLoopback(url.hostname))) {
    throw new Error(
      `wants https:// in ${place} (http only on localhost, 127.0.0.0/8 or [::1], with allowPrivate: true)`,
    );
  }
  return url;
}

function secretsOf(given: unknown, place: string): readonly string[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (list.length === 0 || list.length > MOST_SECRETS || !list.every(isSecret)) {
    const { min, max } = SECRET_BYTES;
    throw new Error(
      `wants 1 or ${MOST_SECRETS} secrets in ${place}, each whsec_ and ${min} to ${max} bytes in base64; make one with: echo "whsec_$(openssl rand -base64 32)"`,
    );
  }
  return list;
}

function isSecret(given: unknown): given is string {
  if (typeof given !== 'string' || !/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(given)) return false;
  const text = given.slice('whsec_'.length);
  const bytes = Buffer.from(text, 'base64');
  const isWhole = bytes.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '');
  return isWhole && bytes.length >= SECRET_BYTES.min && bytes.length <= SECRET_BYTES.max;
}

function eventsOf(given: unknown, place: string): EventFilter {
  const list: readonly unknown[] = Array.isArray(given) ? given : given === undefined || given === '' ? [] : [given];
  for (const one of list) {
    const text = String(one);
    if (EVENT_TYPES.some((type) => takesType([text], type))) continue;
    const beginnings = [...new Set(EVENT_TYPES.map((type) => `${type.split('.')[0]}.*`))];
    throw new Error(
      `names a type of events in ${place} that there is not${meantBy(text, [...EVENT_TYPES, ...beginnings])}; they are ${EVENT_TYPES.join(', ')}, and ${beginnings.join(', ')}`,
    );
  }
  return list.map(String);
}
