import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SCOPES } from '../../../../src/extensions/api/caller.ts';
import { done } from '../../../../src/extensions/api/envelope.ts';
import { operation as makeOperation } from '../../../../src/extensions/api/operation.ts';
import { controlServer } from '../../../../src/extensions/api/server.ts';
import { controlDocument } from '../../../../src/extensions/api/openapi/document.ts';
import { EXTENSIONS } from '../../../../src/extensions.ts';
import { addRoutes } from '../../../../src/extensions/api/routes.ts';
import { controlSocket, type ServedSocket } from '../../../support/control-socket.ts';
import { unguarded } from '../../../support/unguarded.ts';
import type { SandboxProgram } from '../../../support/test-program.ts';

type JsonSchema = Exclude<Parameters<typeof z.fromJSONSchema>[0], boolean>;
interface Media {
  readonly schema: JsonSchema;
  readonly example?: unknown;
  readonly examples?: Record<string, { readonly value: unknown }>;
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: JsonSchema;
  readonly example?: unknown;
}
interface Response {
  readonly content: Record<string, Media>;
  readonly headers?: Record<string, unknown>;
}
interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly 'x-scopes': readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Record<string, Media> };
  readonly responses: Record<string, Response>;
}
interface Document {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Record<string, Record<string, Operation>>;
}

const validator = new Validator();
const document = await controlDocument('1.2.3', EXTENSIONS);
const verdict = await validator.validate(structuredClone(document));
/** The document with what is referred to in its place. */
const resolved = validator.resolveRefs() as unknown as Document;
const operations = Object.entries(resolved.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);

/** The problem of a value, by a schema; undefined if it has none. */
function problemOf(schema: JsonSchema, value: unknown): string | undefined {
  return z.fromJSONSchema(schema).safeParse(value).error?.message;
}

/** Every example that stands beside a schema, with that schema. */
function examplesOf({ parameters = [], requestBody, responses }: Operation): [name: string, JsonSchema, unknown][] {
  const media = [requestBody, ...Object.values(responses)].flatMap((holder) => Object.values(holder?.content ?? {}));
  return [
    ...parameters.map(({ name, schema, example }): [string, JsonSchema, unknown] => [name, schema, example]),
    ...media.flatMap(({ schema, example, examples = {} }) => [
      ...(example === undefined ? [] : [['example', schema, example] as [string, JsonSchema, unknown]]),
      ...Object.entries(examples).map(([name, { value }]): [string, JsonSchema, unknown] => [name, schema, value]),
      ...(schema.examples ?? []).map((value): [string, JsonSchema, unknown] => ['', schema, value]),
    ]),
  ];
}

describe('the document of the control socket', () => {
  it('is valid OpenAPI 3.1, with the version of the program', () => {
    expect(verdict).toEqual({ valid: true });
    expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '1.2.3' } });
  });

  it('is refused by the validator when it is not valid', async () => {
    const broken = { ...structuredClone(document), info: {} };
    expect((await new Validator().validate(broken)).valid).toBe(false);
  });

  it('holds every route of the server, and nothing else', async () => {
    const server = controlServer({ error: () => {} });
    const routes: string[] = [];
    server.addHook('onRoute', ({ method, url }) => void routes.push(`${String(method)} ${url}`));
    await addRoutes(server, EXTENSIONS, undefined as never);
    await server.ready();
    const shown = operations.map(({ method, path }) => `${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`);
    expect(shown.toSorted()).toEqual(routes.toSorted());
    expect(new Set(routes).size).toBe(28);
  });

  it('describes the socket and the API, which asks for a token with a scope', () => {
    const { servers, security, components } = document as Record<string, unknown>;
    expect((servers as readonly { readonly url: string }[]).map(({ url }) => new URL(url).protocol)).toEqual([
      'https:',
      'http:',
    ]);
    expect(security).toEqual([{ token: [] }, {}]);
    expect(components).toMatchObject({ securitySchemes: { token: { type: 'http', scheme: 'bearer' } } });
    for (const { operation } of operations) {
      expect(SCOPES).toEqual(expect.arrayContaining([...operation['x-scopes']]));
      expect(operation['x-scopes'].length).toBeGreaterThan(0);
      expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['401', '403', '405', '429']));
    }
  });

  it('describes the key of a request that is not done twice, if there is one', async () => {
    const asked = {
      method: 'POST',
      scopes: ['decide'],
      url: '/decisions',
      load: async () =>
        makeOperation({ tag: 'status', summary: 's', value: z.null(), errors: ['422'], run: async () => done(null) }),
    } as const;
    const keyed = await controlDocument('1', [{ name: 'keyed', operations: { decideAll: asked } }]);
    expect((await new Validator().validate(structuredClone(keyed))).valid).toBe(true);
    const header = expect.objectContaining({ name: 'idempotency-key', in: 'header', required: false }) as object;
    expect(keyed).toMatchObject({
      paths: { '/decisions': { post: { parameters: expect.arrayContaining([header]) as object } } },
    });
  });

  it('says of each answer that may be asked for again that it has Retry-After', () => {
    const shown = operations.flatMap(({ operation: { responses } }) => Object.entries(responses));
    const later = new Set(shown.filter(([, { headers = {} }]) => 'retry-after' in headers).map(([status]) => status));
    expect([...later].toSorted()).toEqual(['429', '502', '503', '504']);
    expect(shown.filter(([status, { headers }]) => later.has(status) && headers === undefined)).toEqual([]);
  });

  it('says what each scope and the account of a token let it ask for', () => {
    const { components } = document as { components: { securitySchemes: { token: { description: string } } } };
    const { description } = components.securitySchemes.token;
    for (const word of [...SCOPES, 'accounts']) expect(description).toContain(`\`${word}\``);
  });

  it('names each operation once, and each of its tags', () => {
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length);
    const tags = new Set(operations.flatMap(({ operation }) => operation.tags));
    expect(tags).toEqual(new Set(resolved.tags.map(({ name }) => name)));
  });

  it('refers to everything that it names', () => {
    const { components: all, ...rest } = document as { components: Record<string, Record<string, unknown>> };
    // A security scheme is referred to by its name alone.
    const { securitySchemes: _, ...components } = all;
    const text = JSON.stringify([rest, components]);
    const names = Object.entries(components).flatMap(([kind, named]) =>
      Object.keys(named).map((name) => `"#/components/${kind}/${name}"`),
    );
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => !text.includes(name))).toEqual([]);
  });

  it.each(operations.map(({ operation }) => [operation.operationId, operation] as const))(
    'has examples of %s that its schemas take',
    (_name, operation) => {
      const examples = examplesOf(operation);
      expect(examples.length).toBeGreaterThan(0);
      for (const [name, schema, value] of examples) {
        expect([name, value, problemOf(schema, value)]).toEqual([name, value, undefined]);
        expect(value).toBeDefined();
      }
      const { requestBody, responses } = operation;
      for (const { content } of [...(requestBody ? [requestBody] : []), ...Object.values(responses)]) {
        for (const media of Object.values(content)) {
          expect(media.example ?? media.examples ?? media.schema.examples).toBeDefined();
        }
      }
    },
  );
});

const cursor = (place: unknown) => Buffer.from(JSON.stringify(place)).toString('base64url');
const EMAIL = 'ada@shop.example';
/** The values of a good request of each operation. */
const VALUES: Readonly<Record<string, string>> = {
  account: 'default',
  linkId: 'link-1',
  level: 'LIVENESS',
  externalOrderId: 'shop-1',
  id: 'pre-1',
  status: 'NOT_VERIFIED',
  limit: '1000',
  scope: 'all',
  timeoutMs: '60000',
  after: '0',
  type: 'order.state_changed',
  order: 'shop-1',
};
/** Other values, by operation. */
const OWN_VALUES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  listOrders: { after: cursor(['2027-01-01T00:00:00.000Z', 'shop-1']), state: 'held' },
  listFindings: { after: cursor(['error', 7]), status: 'open', class: 'STUCK' },
  resolveOrder: { externalOrderId: 'held' },
  retryOrder: { externalOrderId: 'held' },
  cancelOrder: { externalOrderId: 'waits' },
  acknowledgeFinding: { id: '1' },
};
const ORDER = { external_order_id: 'shop-2', asset: 1.5, from_currency: 'BTC', to_currency: 'EUR' };
/** Orders as a body: the first two can be read. */
const ORDERS = [
  ORDER,
  { ...ORDER, asset: '1.50', bonus: '0.1', order_limit: null },
  { ...ORDER, asset: null },
  { ...ORDER, external_order_id: 7 },
  { ...ORDER, state: 'final' },
  { ...ORDER, bonus: true },
];
/** Bodies, good and bad, by operation; the first is a good one. */
const BODIES: Readonly<Record<string, readonly unknown[]>> = {
  createLink: [{ email: 'boris@shop.example', reference: null }, { email: 5 }, {}, { email: EMAIL, more: 1 }, [], null],
  validateEmail: [{ email: 'carla@shop.example' }, { email: null }, { mail: EMAIL }, 'text'],
  followLink: [{ reference: 'customer-7' }, null, {}, { reference: 7 }, { more: 1 }],
  requestPhotos: [{ level: 'LIVENESS', actionId: 'a' }, { level: 'MAIN', actionId: null }, { level: 'OTHER' }, {}],
  addOrder: ORDERS,
  adoptOrder: ORDERS,
  resolveOrder: [
    { as: 'exists', preOrderId: 'pre-9', reason: 'r' },
    { as: 'not-created', reason: 'r', mayDuplicate: true },
    { as: 'ours', reason: 'r' },
    { as: 'exists', reason: 'r' },
    { as: 'ours', reason: 'r', preOrderId: 'pre-9' },
    { as: 'other', reason: 'r' },
    { as: 'abandoned' },
    {},
  ],
  retryOrder: [
    { reason: 'r', mayDuplicate: true },
    { reason: 'r' },
    { reason: '' },
    { reason: 'r', mayDuplicate: 'yes' },
  ],
  cancelOrder: [{ reason: 'r' }, { reason: 7 }, { reason: 'r', more: 1 }],
  acknowledgeFinding: [{ reason: 'r' }, {}],
  pause: [{ what: 'all', reason: 'r' }, { what: 'other', reason: 'r' }, { reason: 'r' }],
  resume: [{ reason: 'r' }, { reason: 'x'.repeat(501) }],
  probe: [{ step: 'absence' }, { step: 'order', order: ORDER }, { step: 'other' }, {}, { step: 'rate', requests: '0' }],
};

/** A control socket whose exchange has a link, an order, and an address to deliver photos to. */
async function setUp(): Promise<ServedSocket<SandboxProgram>> {
  const on = await controlSocket();
  on.program.sandbox.exchange.photoUrl = 'http://127.0.0.1:1/';
  await on.ask('POST', '/clients', { email: EMAIL });
  on.program.insert({ external_order_id: 'shop-1' });
  await on.ask('POST', '/sync');
  on.program.clock.advance(60_000);
  on.program.insert({ external_order_id: 'held' }, { external_order_id: 'waits' });
  unguarded(on.program.merchant, () =>
    on.program.merchant.exec(
      `update merchant_orders set state = 'held', revision = 9 where external_order_id = 'held'`,
    ),
  );
  on.program.merchant.exec(`insert into findings (account, class, severity, first_seen_at, last_seen_at)
    values ('default', 'STUCK', 'warning', '2026', '2026')`);
  await on.ask('POST', '/pause', { what: 'creates', reason: 'maintenance' });
  return on;
}

/** Sends a request that is built by the document alone. */
async function send(on: ServedSocket, { method, path, operation }: (typeof operations)[number], body: unknown) {
  const query = new URLSearchParams();
  let target = path;
  for (const { name, in: place } of operation.parameters ?? []) {
    // Each request is another one: the same key would make it a repetition.
    if (place === 'header') continue;
    const value =
      OWN_VALUES[operation.operationId]?.[name] ??
      VALUES[name] ??
      expect.fail(`${operation.operationId} wants ${name}`);
    if (place === 'query') query.set(name, value);
    else target = target.replace(`{${name}}`, encodeURIComponent(value));
  }
  const whole = query.size > 0 ? `${target}?${query.toString()}` : target;
  return await on.ask(method, whole, body === undefined ? undefined : JSON.stringify(body));
}

describe('a control socket that is served', () => {
  it.each(operations.map((entry) => [entry.operation.operationId, entry] as const))(
    'answers %s as its document says',
    async (name, entry) => {
      const on = await setUp();
      const [good] = BODIES[name] ?? [];
      const answer = await send(on, entry, good);
      const expected = name === 'addOrder' ? '201' : '200';
      expect([String(answer.status), answer.text]).toEqual([expected, expect.any(String)]);
      const [[type, { schema }] = expect.fail(name)] = Object.entries(
        entry.operation.responses[expected]?.content ?? {},
      );
      expect(answer.headers['content-type']).toMatch(type);
      const values = answer.text.trim().split('\n');
      for (const value of values) expect(problemOf(schema, JSON.parse(value))).toBeUndefined();
      expect(problemOf(schema, { ok: true })).toBeDefined();
    },
  );

  const withBody = operations.filter(({ operation }) => operation.requestBody !== undefined);
  it.each(withBody.map((entry) => [entry.operation.operationId, entry] as const))(
    'takes a body of %s when, and only when, its document does',
    async (name, entry) => {
      const on = await setUp();
      const { requestBody, responses } = entry.operation;
      const { schema } = requestBody?.content['application/json'] ?? expect.fail();
      const without = await send(on, entry, undefined);
      expect([name, without.status === 400]).toEqual([name, requestBody?.required]);
      for (const body of BODIES[name] ?? expect.fail(`${name} was never tried`)) {
        const answer = await send(on, entry, body);
        const isRead = !(answer.status === 400 && answer.text.includes('"kind":"invalid"'));
        const seen = JSON.stringify([body, answer.text]);
        expect([seen, isRead]).toEqual([seen, problemOf(schema, body) === undefined]);
        const status = String(answer.status);
        const described =
          responses[status] ?? responses[`${status[0]}XX`] ?? expect.fail(`${status} is not documented`);
        const answered =
          described.content[answer.status < 400 ? 'application/json' : 'application/problem+json']?.schema ??
          expect.fail();
        expect(problemOf(answered, JSON.parse(answer.text))).toBeUndefined();
      }
    },
  );
});
