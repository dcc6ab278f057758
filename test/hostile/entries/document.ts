import { Validator } from '@seriousme/openapi-schema-validator';
import fc from 'fast-check';
import { z } from 'zod';
import { SCOPES } from '../../../src/extensions/api/caller.ts';
import { controlDocument } from '../../../src/extensions/api/openapi/document.ts';
import { serveApi } from '../../../src/extensions/api/door/server.ts';
import { TransportError } from '../../../src/exchange/transport/http.ts';
import { EXTENSIONS } from '../../../src/extensions.ts';
import { askAt, served, type SocketAnswer } from '../../support/control-socket.ts';
import { apiSettingsIn, secretOf } from '../../support/served-api.ts';
import { testClock } from '../../support/test-clock.ts';
import { broken, type Entry } from '../entry.ts';
import { BEGINNING, ground, sandbox, SECRET, type Answering } from '../ground.ts';
import { oddObject, oddText } from '../odd.ts';

type JsonSchema = Exclude<Parameters<typeof z.fromJSONSchema>[0], boolean>;

interface Media {
  readonly schema: JsonSchema;
  readonly example?: object;
}

interface Described {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: 'path' | 'query' | 'header';
    readonly example?: string | number;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, { readonly content: Readonly<Record<string, Media>> }>>;
}

interface Request {
  readonly operation: number;
  /** By the names of the document. */
  readonly values: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly token: string | null;
  /** The actions of the exchange. */
  readonly exchange: keyof typeof EXCHANGES;
}

/** One input is many requests: the program that answers them stays the same. */
const REQUESTS = 14;
const PARTS = ['well', 'refusing', 'key', 'limit', 'broken', 'odd', 'silent', 'away'] as const;

const validator = new Validator();
await validator.validate(await controlDocument('1.2.3', EXTENSIONS));
const { paths } = validator.resolveRefs() as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
};
const OPERATIONS = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, described]) => ({ method: method.toUpperCase(), path, described })),
);

const JSON_TYPE = { 'content-type': 'application/json' };
const failure =
  (status: number, message: string, code = String(status)) =>
  () => ({
    status,
    headers: JSON_TYPE,
    body: JSON.stringify({ message, code, status: 'BAD_REQUEST' }),
  });
const unreachable = (sent: 'never' | 'perhaps') => () => {
  throw new TransportError('no answer', { sent, code: 'ECONNRESET' });
};
/** Exchanges in place of one that answers as it should. */
const EXCHANGES = {
  well: undefined,
  refusing: failure(400, 'no'),
  key: failure(401, 'invalid x-api-key'),
  limit: failure(429, 'slower'),
  broken: failure(500, 'broken'),
  odd: () => ({ status: 200, headers: JSON_TYPE, body: '{"id":' }),
  silent: unreachable('perhaps'),
  away: unreachable('never'),
} as const;

/** The examples of the document speak of it. */
const KNOWN_ORDER = { external_order_id: 'shop-1001', asset: '0.25', from_currency: 'BTC', to_currency: 'EUR' };

const TOKENS = [
  { name: 'all' },
  ...SCOPES.map((scope) => ({ name: scope, scopes: [scope] })),
  { name: 'other', accounts: ['another'] },
  { name: 'slow', rate: 1 },
];

const anyToken: fc.Arbitrary<string | null> = fc.oneof(
  { weight: 12, arbitrary: fc.constant('all') },
  { weight: 6, arbitrary: fc.constantFrom(...TOKENS.map(({ name }) => name)) },
  { weight: 1, arbitrary: oddText.map((text) => text.slice(0, 100)) },
  { weight: 1, arbitrary: fc.constant(null) },
);
const request: fc.Arbitrary<Request> = fc.nat(OPERATIONS.length - 1).chain((operation) => {
  const { parameters = [], requestBody } = OPERATIONS[operation]?.described ?? broken('there is no such operation');
  const named = parameters.map(({ name, in: place, example }) => {
    const meant = fc.constant(`${example ?? 'default'}`);
    const odd = oddText.map((text) => text.slice(0, place === 'header' ? 200 : 2_000));
    const value = fc.oneof({ weight: 5, arbitrary: meant }, { weight: 2, arbitrary: odd });
    return [name, place === 'path' ? value : fc.option(value, { freq: 2, nil: '' })] as const;
  });
  const example = requestBody?.content['application/json']?.example;
  const body = example === undefined ? fc.constant(null) : fc.option(oddObject(example), { freq: 15 });
  return fc.record({
    operation: fc.constant(operation),
    values: fc.record(Object.fromEntries(named)),
    body,
    token: anyToken,
    exchange: fc.oneof(
      { weight: 12, arbitrary: fc.constant('well' as const) },
      { weight: 6, arbitrary: fc.constantFrom(...PARTS) },
    ),
  });
});

/** Requests that are made of the OpenAPI document, to the API: no answer is one that the document does not describe. */
export const document: Entry<readonly Request[]> = {
  name: 'document',
  inputs: fc.array(request, { minLength: REQUESTS, maxLength: REQUESTS }),
  inputsAProgram: 30,
  async open() {
    await using undo = new AsyncDisposableStack();
    const clock = testClock(BEGINNING);
    const well = sandbox(clock).answer;
    let answering: Answering = well;
    const on = undo.use(await ground({ clock, answer: async (asked) => await answering(asked) }));
    const stopping = new AbortController();
    const api = await serveApi(served(on.app, on.activities), apiSettingsIn(on.folder, TOKENS), stopping.signal);
    undo.defer(async () => {
      stopping.abort();
      on.app.endGracePeriod();
      await api.close();
    });
    const to = { host: '127.0.0.1', port: Number(new URL(api.url ?? '').port) };
    const disposal = undo.move();
    const known = { headers: { authorization: `Bearer ${secretOf('all')}` } };
    await askAt(to, 'POST', '/clients', { email: 'ada@shop.example' }, known);
    await askAt(to, 'POST', '/orders', KNOWN_ORDER, known);
    await askAt(to, 'POST', '/sync', undefined, known);
    return {
      async give(requests) {
        for (const one of requests) {
          answering = EXCHANGES[one.exchange] ?? well;
          const { method, path, described } = OPERATIONS[one.operation] ?? broken('there is no such operation');
          const headers = headersOf(one, described);
          const asked = askAt(to, method, targetOf(one, path, described), one.body ?? undefined, { headers });
          let isAnswered = false;
          const noted = asked.finally(() => (isAnswered = true)).catch(() => undefined);
          // A request may wait for its turn: time passes.
          while (!isAnswered) {
            await Promise.race([noted, clock.turn()]);
            if (!isAnswered) clock.advance(100);
          }
          check(described, await asked);
        }
      },
      [Symbol.asyncDispose]: () => disposal.disposeAsync(),
    };
  },
};

function targetOf({ values }: Request, path: string, { parameters = [] }: Described): string {
  const encoded = (name: string) => encodeURIComponent((values[name] ?? '').toWellFormed());
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encoded(name));
  const asked = parameters.filter(({ name, in: place }) => place === 'query' && values[name] !== '');
  return `${filled}?${asked.map(({ name }) => `${name}=${encoded(name)}`).join('&')}`;
}

function headersOf({ values, token }: Request, { parameters = [] }: Described): Record<string, string> {
  const own = parameters.filter(({ name, in: place }) => place === 'header' && isSendable(values[name] ?? ''));
  const secret = TOKENS.some(({ name }) => name === token) ? secretOf(token ?? '') : token;
  return {
    ...Object.fromEntries(own.map(({ name }) => [name, values[name] ?? ''])),
    ...(secret !== null && isSendable(secret) && { authorization: `Bearer ${secret}` }),
  };
}

/** Node sends no other header. */
function isSendable(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]+$/.test(text);
}

const schemas = new Map<JsonSchema, z.ZodType>();

function check({ operationId, responses }: Described, { status, headers, text }: SocketAnswer): void {
  const what = `${operationId} was answered with ${status} ${text.slice(0, 300)}`;
  if (text.includes(SECRET)) broken(`${what}: it shows a secret`);
  if (status === 500) broken(`${what}: the program failed`);
  const described = responses[String(status)] ?? responses[`${Math.floor(status / 100)}XX`];
  if (described === undefined) broken(`${what}: the document does not have this status`);
  if (status >= 502 && !/^\d+$/.test(headers['retry-after'] ?? '')) broken(`${what}: it has no Retry-After`);
  const type = headers['content-type']?.split(';')[0] ?? '';
  const { schema } = described.content[type] ?? broken(`${what}: the document does not have the type ${type}`);
  const parsed = schemas.get(schema) ?? z.fromJSONSchema(schema);
  schemas.set(schema, parsed);
  for (const line of type === 'application/x-ndjson' ? text.trim().split('\n') : [text]) {
    const { error } = parsed.safeParse(JSON.parse(line));
    if (error !== undefined) broken(`${what}: ${error.message}`);
  }
}
