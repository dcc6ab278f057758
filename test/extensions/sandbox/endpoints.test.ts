import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ORDER_RECORD, PRE_ORDER } from '../../../src/orders/rules/record.ts';
import { REFUSALS, type RefusalName } from '../../../src/extensions/sandbox/api.ts';
import type { RouteName } from '../../../src/extensions/sandbox/exchange.ts';
import { seededRandom } from '../../../src/extensions/sandbox/random.ts';
import { startSandbox, type Sandbox } from '../../../src/extensions/sandbox/server.ts';
import { testClock } from '../../support/test-clock.ts';

const KEY = 'k';
const CLIENT = '/api/v1/merchant/client';
const ORDERS = '/api/v1/merchant/orders';
const ORDER = {
  externalOrderId: 'shop-2',
  asset: 1.5,
  assetPosition: 'INPUT',
  orderType: 'DEPOSIT',
  currencyPair: { fromCurrency: 'BTC', toCurrency: 'EUR' },
};

/** A request that is answered with 200, and the answer that the document shows (§2). */
interface Endpoint {
  /** The method and the path, with the id in it and the query. */
  readonly line: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly answer: z.ZodType;
}

const text = z.string();
const link = z.strictObject({ linkId: text, status: text });
const ENDPOINTS: Readonly<Record<RouteName, Endpoint>> = {
  createLink: { line: `POST ${CLIENT}`, body: { email: 'boris@shop.example' }, answer: link },
  validateEmail: {
    line: `POST ${CLIENT}/validate/email`,
    body: { email: 'carla@shop.example' },
    answer: z.strictObject({ status: z.literal('OK') }),
  },
  showLink: { line: `GET ${CLIENT}/link-1`, answer: link },
  verificationToken: {
    line: `GET ${CLIENT}/link-1/idv/LIVENESS`,
    answer: z.strictObject({
      linkId: text,
      token: text,
      tokenValidTill: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    }),
  },
  requestPhotos: {
    line: `POST ${CLIENT}/link-1/idv/photos/external/upload`,
    body: { kycLevelType: 'LIVENESS', actionId: 'a', token: null },
    answer: z.strictObject({ status: z.literal('ok') }),
  },
  showCustomer: {
    line: `GET ${CLIENT}/link-1/cardprov/customer`,
    answer: z.strictObject({ customerNumber: text, firstName: text, lastName: text, linkId: text }),
  },
  listCards: {
    line: `GET ${CLIENT}/link-1/cardprov/customer/card`,
    answer: z.array(
      z.strictObject({
        id: text,
        bank: text,
        country: text,
        number: z.string().regex(/^\d+$/),
        token: text,
        type: text,
      }),
    ),
  },
  sdkToken: {
    line: 'POST /api/v1/merchant/sdk/token?linkId=link-1',
    headers: { linkid: 'link-1' },
    answer: z.strictObject({ token: text, expiresAt: z.iso.datetime() }),
  },
  createPreOrder: { line: `POST ${ORDERS}/request`, body: ORDER, answer: strictly(PRE_ORDER) },
  showPreOrder: { line: `GET ${ORDERS}/request/pre-1`, answer: strictly(PRE_ORDER) },
  showOrder: { line: `GET ${ORDERS}?externalOrderId=shop-1`, answer: strictly(ORDER_RECORD) },
};
const NAMES = Object.keys(ENDPOINTS) as RouteName[];

/** Takes all fields of a description and no others; fields that are not known yet may be left out. */
function strictly(described: z.ZodObject): z.ZodObject {
  const notYet = ['completionDate', 'transactionHash'];
  const fields = Object.entries(described.shape).map(([name, field]) => {
    const bare = field instanceof z.ZodOptional ? (field.unwrap() as z.ZodNullable).unwrap() : field;
    if (bare instanceof z.ZodObject) return [name, strictly(bare)];
    const shown = described === PRE_ORDER && field instanceof z.ZodOptional ? z.nullable(bare) : bare;
    return [name, notYet.includes(name) ? z.optional(shown) : shown];
  });
  return z.strictObject(Object.fromEntries(fields) as z.ZodRawShape);
}

async function send(sandbox: Sandbox, { line, headers, body }: Omit<Endpoint, 'answer'>, key = KEY) {
  const [method = '', target = ''] = line.split(' ');
  const answer = await fetch(`${sandbox.url}${target}`, {
    method,
    headers: { 'x-api-key': key, ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as object };
}

let sandbox: Sandbox;
beforeAll(async () => {
  const clock = testClock();
  // A port that fetch refuses: nothing of a delivery matters here.
  const photoUrl = 'http://127.0.0.1:1/';
  sandbox = await startSandbox({ apiKey: KEY, clock, random: seededRandom(1), photoUrl });
  await send(sandbox, { ...ENDPOINTS.createLink, body: { email: 'ada@shop.example' } });
  await send(sandbox, { ...ENDPOINTS.createPreOrder, body: { ...ORDER, externalOrderId: 'shop-1' } });
  clock.advance(60_000);
});
afterAll(() => sandbox.close());

describe('an endpoint of the sandbox', () => {
  it.each(NAMES)('answers with the fields that the document shows: %s', async (name) => {
    const { answer } = ENDPOINTS[name];
    const { status, body } = await send(sandbox, ENDPOINTS[name]);
    expect({ status, problem: answer.safeParse(body).error?.issues }).toEqual({ status: 200, problem: undefined });
    expect(answer.safeParse(Array.isArray(body) ? [{}] : { ...body, unknown: 1 }).success).toBe(false);
  });

  it.each(NAMES)('refuses another key, a parameter that it does not take, and more than its rate: %s', async (name) => {
    const endpoint = ENDPOINTS[name];
    const more = `${endpoint.line}${endpoint.line.includes('?') ? '&' : '?'}unknown=1`;
    expect(await send(sandbox, endpoint, 'other')).toMatchObject(refusalOf('keyRefused'));
    expect(await send(sandbox, { ...endpoint, line: more })).toMatchObject(refusalOf('malformed'));
    await using limited = await limitedSandbox({ requests: 1, intervalMs: 1_000 });
    await send(limited.sandbox, ENDPOINTS.showLink);
    const refused = await send(limited.sandbox, endpoint);
    expect(refused).toMatchObject(refusalOf('tooManyRequests'));
    expect(refused.headers.get('retry-after')).toBe('1');
  });

  it.each(NAMES.filter((name) => ENDPOINTS[name].body !== undefined))(
    'refuses a field that the document does not show: %s',
    async (name) => {
      const body = { ...ENDPOINTS[name].body, unknown: 1 };
      expect(await send(sandbox, { ...ENDPOINTS[name], body })).toMatchObject(refusalOf('malformed'));
    },
  );

  it.each<[RouteName, string, RefusalName]>([
    ['showPreOrder', `GET ${ORDERS}/request/pre-9`, 'preOrderNotFound'],
    ['showOrder', `GET ${ORDERS}?externalOrderId=shop-9`, 'orderNotFound'],
    ['showLink', `GET ${CLIENT}/link-9`, 'linkNotFound'],
    ['createLink', `PUT ${CLIENT}`, 'noSuchEndpoint'],
  ])('refuses %s as %s', async (name, line, refusal) => {
    expect(await send(sandbox, { ...ENDPOINTS[name], line })).toMatchObject(refusalOf(refusal));
  });
});

/** The status and the whole body of a refusal; of a malformed request each has a message of its own. */
function refusalOf(refusal: RefusalName) {
  const { httpStatus: status, body }: { httpStatus: number; body: object } = REFUSALS[refusal];
  return { status, body: refusal === 'malformed' ? { ...body, message: expect.any(String) as string } : body };
}

async function limitedSandbox(rate: { requests: number; intervalMs: number }) {
  const limited = await startSandbox({ apiKey: KEY, clock: testClock(), random: seededRandom(1), rate });
  return { sandbox: limited, [Symbol.asyncDispose]: () => limited.close() };
}
