import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openApi } from '../../src/sandbox/openapi.ts';
import { seededRandom } from '../../src/sandbox/random.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { testClock } from '../support/test-clock.ts';

type JsonSchema = Exclude<Parameters<typeof z.fromJSONSchema>[0], boolean>;
interface Content {
  readonly 'application/json': {
    readonly schema: JsonSchema;
    readonly examples?: Record<string, { readonly value: { readonly message: string } }>;
  };
}
interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: JsonSchema }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Record<string, { readonly content: Content }>;
}
interface Document {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, JsonSchema> };
}

/** What a request of an operation is filled in with. */
interface Input {
  readonly values?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly key?: string;
  readonly more?: string;
}

const KEY = 'k';
const ORDER = {
  externalOrderId: 'shop-2',
  asset: 1.5,
  assetPosition: 'INPUT',
  orderType: 'DEPOSIT',
  currencyPair: { fromCurrency: 'BTC', toCurrency: 'EUR' },
};
/** A request of each operation that is answered with 200. */
const GOOD: Readonly<Record<string, Input>> = {
  createLink: { body: { email: 'boris@shop.example' } },
  validateEmail: { body: { email: 'carla@shop.example' } },
  showLink: { values: { linkId: 'link-1' } },
  verificationToken: { values: { linkId: 'link-1', level_type: 'LIVENESS' } },
  requestPhotos: { values: { linkId: 'link-1' }, body: { kycLevelType: 'LIVENESS', actionId: 'a', token: null } },
  showCustomer: { values: { linkId: 'link-1' } },
  listCards: { values: { linkId: 'link-1' } },
  sdkToken: { values: { linkId: 'link-1' } },
  createPreOrder: { body: ORDER },
  showPreOrder: { values: { preOrderId: 'pre-1' } },
  showOrder: { values: { externalOrderId: 'shop-1' } },
};
/** What of a good request is another, for each refusal. */
const BAD: Readonly<Record<string, Input>> = {
  keyRefused: { key: 'other' },
  malformed: { more: 'unknown=1' },
  tooManyRequests: {},
  uploadUrlNotSet: {},
  invalidEmail: { body: { email: 'boris' } },
  linkAlreadyExists: { body: { email: 'ada@shop.example' } },
  badEmailRequest: { body: { email: 'bad-request@shop.example' } },
  linkNotFound: { values: { linkId: 'link-9', level_type: 'MAIN' } },
  preOrderNotFound: { values: { preOrderId: 'pre-9' } },
  orderNotFound: { values: { externalOrderId: 'shop-9' } },
};

const description = openApi() as unknown as Document;
const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);
const byName = new Map(operations.map((entry) => [entry.operation.operationId, entry]));

/** The schema with what it refers to in its place. */
function resolved(schema: JsonSchema): JsonSchema {
  const { $ref } = schema;
  if ($ref === undefined) return schema;
  const found = description.components.schemas[$ref.replace('#/components/schemas/', '')];
  if (found === undefined) throw new Error(`${$ref} is nowhere`);
  return found;
}

function accepts(schema: JsonSchema, value: unknown): boolean {
  return z.fromJSONSchema(resolved(schema)).safeParse(value).success;
}

/** Sends a request that is built by the description alone. */
async function send(sandbox: Sandbox, name: string, input: Input) {
  const { method, path, operation } = byName.get(name) ?? fail(`no operation is named ${name}`);
  let target = path;
  const query = new URLSearchParams(input.more);
  const headers: Record<string, string> = { 'x-api-key': input.key ?? KEY };
  for (const { name: parameter, in: place } of operation.parameters) {
    const value = input.values?.[parameter] ?? fail(`${name} wants ${parameter}`);
    if (place === 'path') target = target.replace(`{${parameter}}`, encodeURIComponent(value));
    else if (place === 'query') query.set(parameter, value);
    else headers[parameter] = value;
  }
  if (operation.requestBody !== undefined) headers['content-type'] = 'application/json';
  const answer = await fetch(`${sandbox.url}${target}${query.size > 0 ? `?${query.toString()}` : ''}`, {
    method,
    headers,
    ...(operation.requestBody !== undefined && { body: JSON.stringify(input.body) }),
  });
  return { status: String(answer.status), headers: answer.headers, body: await answer.json() };
}

function fail(problem: string): never {
  throw new Error(problem);
}

let sandbox: Sandbox;
beforeAll(async () => {
  const clock = testClock();
  // A port that fetch refuses: what is delivered is no matter here.
  const photoUrl = 'http://127.0.0.1:1/';
  sandbox = await startSandbox({ apiKey: KEY, clock, random: seededRandom(1), photoUrl });
  await send(sandbox, 'createLink', { body: { email: 'ada@shop.example' } });
  await send(sandbox, 'createPreOrder', { body: { ...ORDER, externalOrderId: 'shop-1' } });
  clock.advance(60_000);
});
afterAll(() => sandbox.close());

describe('the description of the sandbox', () => {
  it('is served to anybody, in OpenAPI 3.1', async () => {
    const answer = await fetch(`${sandbox.url}/openapi.json`);
    expect([answer.status, await answer.json()]).toEqual([200, description]);
    expect(description.openapi).toMatch(/^3\.1\./);
  });

  it('holds every endpoint of §4, with its parameters, and nothing else', () => {
    const lines = operations.map(({ method, path, operation }) =>
      [method, path, ...operation.parameters.map((parameter) => `${parameter.in}:${parameter.name}`)].join(' '),
    );
    expect(lines).toEqual([
      'POST /api/v1/merchant/client',
      'POST /api/v1/merchant/client/validate/email',
      'GET /api/v1/merchant/client/{linkId} path:linkId',
      'GET /api/v1/merchant/client/{linkId}/idv/{level_type} path:linkId path:level_type',
      'POST /api/v1/merchant/client/{linkId}/idv/photos/external/upload path:linkId',
      'GET /api/v1/merchant/client/{linkId}/cardprov/customer path:linkId',
      'GET /api/v1/merchant/client/{linkId}/cardprov/customer/card path:linkId',
      'POST /api/v1/merchant/sdk/token query:linkId header:linkId',
      'POST /api/v1/merchant/orders/request',
      'GET /api/v1/merchant/orders/request/{preOrderId} path:preOrderId',
      'GET /api/v1/merchant/orders query:externalOrderId',
    ]);
  });

  it('holds every refusal that §4 and §7 show, besides ours', () => {
    const ofClient = ['keyRefused', 'linkNotFound'];
    const ofEmail = ['keyRefused', 'invalidEmail', 'linkAlreadyExists', 'badEmailRequest'];
    const shown = operations.map(({ operation }) => [
      operation.operationId,
      new Set(
        Object.values(operation.responses)
          .flatMap(namesOf)
          .filter((name) => !OURS.includes(name)),
      ),
    ]);
    expect(Object.fromEntries(shown)).toEqual({
      createLink: new Set(ofEmail),
      validateEmail: new Set(ofEmail),
      showLink: new Set(ofClient),
      verificationToken: new Set(ofClient),
      requestPhotos: new Set([...ofClient, 'uploadUrlNotSet']),
      showCustomer: new Set(ofClient),
      listCards: new Set(ofClient),
      sdkToken: new Set(ofClient),
      createPreOrder: new Set(['keyRefused']),
      showPreOrder: new Set(['keyRefused']),
      showOrder: new Set(['keyRefused']),
    });
  });

  it.each([...byName.keys()])('is right about what %s takes and answers', async (name) => {
    const { operation } = byName.get(name) ?? fail(name);
    const good = GOOD[name] ?? fail(`${name} was never tried`);
    const body = operation.requestBody?.content['application/json'].schema;
    if (body !== undefined) {
      expect(accepts(body, good.body)).toBe(true);
      expect(accepts(body, { ...(good.body as object), unknown: 1 })).toBe(false);
    }
    const answer = await send(sandbox, name, good);
    expect(answer.status).toBe('200');
    const { schema } = operation.responses['200']?.content['application/json'] ?? fail(name);
    expect(accepts(schema, answer.body)).toBe(true);
    const more = Array.isArray(answer.body) ? [{}] : { ...(answer.body as object), unknown: 1 };
    expect(accepts(schema, more)).toBe(false);
  });

  const refusals = operations.flatMap(({ operation }) =>
    Object.entries(operation.responses).flatMap(([status, response]) =>
      namesOf(response).map((refusal) => ({ name: operation.operationId, status, refusal })),
    ),
  );

  it.each(refusals)('is right that $name may be refused with $status $refusal', async ({ name, status, refusal }) => {
    const { schema, examples } =
      byName.get(name)?.operation.responses[status]?.content['application/json'] ?? fail(name);
    const input = { ...GOOD[name], ...(BAD[refusal] ?? fail(`${refusal} was never tried`)) };
    await using asked = refusal === 'tooManyRequests' ? await spent() : borrowed(refusal);
    const answer = await send(asked.sandbox, name, input);
    expect(answer.status).toBe(status);
    expect(accepts(schema, answer.body)).toBe(true);
    const { value } = examples?.[refusal] ?? fail(refusal);
    expect(answer.body).toEqual(refusal === 'malformed' ? { ...value, message: expect.any(String) } : value);
    if (refusal === 'tooManyRequests') expect(answer.headers.get('retry-after')).toBe('1');
  });
});

/** Refusals that the interface does not show. */
const OURS = ['malformed', 'tooManyRequests', 'preOrderNotFound', 'orderNotFound'];

function namesOf({ content }: { content: Content }): string[] {
  return Object.keys(content['application/json'].examples ?? {});
}

/** The sandbox of all, without its delivery address for as long as it takes where that is the matter. */
function borrowed(refusal: string): { sandbox: Sandbox } & AsyncDisposable {
  const { photoUrl } = sandbox.exchange;
  if (refusal === 'uploadUrlNotSet') sandbox.exchange.photoUrl = undefined;
  return {
    sandbox,
    async [Symbol.asyncDispose]() {
      sandbox.exchange.photoUrl = photoUrl;
    },
  };
}

/** A sandbox whose rate is used up. */
async function spent(): Promise<{ sandbox: Sandbox } & AsyncDisposable> {
  const rate = { requests: 1, intervalMs: 1_000 };
  const limited = await startSandbox({ apiKey: KEY, clock: testClock(), random: seededRandom(1), rate });
  await send(limited, 'showLink', { values: { linkId: 'link-1' } });
  return { sandbox: limited, [Symbol.asyncDispose]: () => limited.close() };
}
