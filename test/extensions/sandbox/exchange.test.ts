import { parse, stringify } from 'lossless-json';
import { describe, expect, it } from 'vitest';
import type { SandboxAnswer } from '../../../src/extensions/sandbox/api.ts';
import { SandboxExchange, type SandboxOptions } from '../../../src/extensions/sandbox/exchange.ts';
import { seededRandom } from '../../../src/extensions/sandbox/random.ts';
import { readScenarios, SCENARIOS } from '../../../src/extensions/sandbox/scenario.ts';
import { testClock } from '../../support/test-clock.ts';

const REQUESTS = '/api/v1/merchant/orders/request';
const ASSET = '12345678901234567.123456789012345678';
const ORDER = `{"externalOrderId":"shop-1","asset":${ASSET},"assetPosition":"INPUT","orderType":"DEPOSIT","currencyPair":{"fromCurrency":"BTC","toCurrency":"EUR"}}`;
const KEY = { 'x-api-key': 'k' };
const JSON_KEY = { ...KEY, 'content-type': 'application/json' };

type Body = Record<string, unknown> & { order: Record<string, unknown> };

function setUp(options: Partial<SandboxOptions> = {}) {
  const clock = testClock();
  const exchange = new SandboxExchange({ apiKey: 'k', clock, random: () => 0.5, ...options });
  const create = (body = ORDER) => exchange.handle({ method: 'POST', path: REQUESTS, headers: JSON_KEY, body });
  const get = (path: string) => exchange.handle({ method: 'GET', path, headers: KEY });
  const lookUp = (id = 'shop-1') => get(`/api/v1/merchant/orders?externalOrderId=${encodeURIComponent(id)}`);
  return { clock, exchange, create, get, lookUp };
}

const bodyOf = (answer: SandboxAnswer) => parse(answer.body) as Body;
const withId = (id: string) => ORDER.replace('shop-1', id);
/** ORDER with some of its fields replaced, as JSON; undefined leaves one out. */
const changed = (fields: Record<string, unknown>) => stringify({ ...(parse(ORDER) as object), ...fields }) ?? '';

describe('the sandbox exchange', () => {
  it('makes a pre-order of a create and shows it again, with every field of §2.6 and every digit', () => {
    const { create, get } = setUp();
    const answer = create();
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json']);
    expect(Object.keys(bodyOf(answer)).toSorted()).toEqual([
      'asset',
      'assetPosition',
      'bonus',
      'cryptoAddress',
      'currencyPair',
      'exchangeType',
      'externalOrderId',
      'id',
      'limit',
      'orderType',
      'paymentToken',
      'providerType',
    ]);
    expect(answer.body).toContain(`"asset":${ASSET},`);
    expect(get(`${REQUESTS}/${String(bodyOf(answer)['id'])}`)).toEqual(answer);
  });

  it('shows no order until it has appeared, then each step of its scenario at its time', () => {
    const { create, lookUp, clock } = setUp();
    create();
    expect(lookUp()).toMatchObject({
      status: 404,
      body: '{"message":"order not found","code":"404","status":"NOT_FOUND"}',
    });
    clock.advance(1_999);
    expect(lookUp().status).toBe(404);
    const seen = [1, 3_000, 4_000, 4_000].map((ms) => {
      clock.advance(ms);
      const { order } = bodyOf(lookUp());
      const { cryptoTransaction, fiatTransaction } = order as Record<string, { status: string }>;
      return [order['status'], cryptoTransaction?.status, fiatTransaction?.status, order['completionDate']];
    });
    expect(seen).toEqual([
      ['REQUEST', 'NEW', 'NEW', undefined],
      ['IN_PROGRESS', 'PENDING', 'NEW', undefined],
      ['IN_PROGRESS', 'CONFIRMED', 'PENDING', undefined],
      ['COMPLETED', 'CONFIRMED', 'PAID', '2026-01-05T12:00:13.000Z'],
    ]);
    expect(bodyOf(lookUp()).order).toMatchObject({
      creationDate: '2026-01-05T12:00:02.000Z',
      modificationDate: '2026-01-05T12:00:13.000Z',
      serverDate: '2026-01-05T12:00:13.000Z',
    });
    expect(lookUp().body).toContain(`"inputAsset":${ASSET},`);
  });

  it('lets orders live faster than their scenario by its speed', () => {
    const { create, lookUp, clock } = setUp({ speed: 100 });
    create();
    clock.advance(130);
    expect(bodyOf(lookUp()).order['status']).toBe('COMPLETED');
  });

  it('takes an id a second time, as the interface has no idempotency, and counts it', () => {
    const { create, exchange } = setUp();
    create();
    create();
    create(withId('shop-2'));
    expect(exchange.preOrdersOf('shop-1').map(({ id }) => id)).toEqual(['pre-1', 'pre-2']);
    expect(exchange.preOrdersOf('shop-3')).toEqual([]);
    expect(exchange.census()).toEqual({ preOrders: 3, duplicated: ['shop-1'] });
  });

  it.each([{}, { 'x-api-key': 'wrong' }, { 'x-api-key': '' }])('refuses the key of %j as §5 says', (headers) => {
    const { exchange } = setUp();
    const answer = exchange.handle({
      method: 'POST',
      path: REQUESTS,
      headers: { ...JSON_KEY, 'x-api-key': undefined, ...headers },
      body: ORDER,
    });
    expect([answer.status, answer.body]).toEqual([
      401,
      '{"message":"invalid x-api-key","code":"401","status":"UNAUTHORIZED"}',
    ]);
    expect(exchange.census().preOrders).toBe(0);
  });

  it.each([
    ['', 'body: must be a JSON object'],
    ['[]', 'body: must be a JSON object'],
    ['{"asset":', 'body: must be a JSON object'],
    ['['.repeat(200_000), 'body: must be a JSON object'],
    [ORDER.replace('"asset"', '"asset":1,"asset"'), 'body: must be a JSON object'],
    [changed({ externalOrderId: undefined }), 'externalOrderId: '],
    [changed({ externalOrderId: 7 }), 'externalOrderId: '],
    [changed({ externalOrderId: '' }), 'externalOrderId: '],
    [changed({ asset: undefined }), 'asset: must be a number'],
    [changed({ asset: '1.5' }), 'asset: must be a number'],
    [changed({ asset: null }), 'asset: must be a number'],
    [changed({ asset: 0 }), 'asset: must be positive'],
    [changed({ asset: -1 }), 'asset: must be positive'],
    [changed({ assetPosition: '' }), 'assetPosition: '],
    [changed({ orderType: null }), 'orderType: '],
    [changed({ currencyPair: 'BTC/EUR' }), 'currencyPair: '],
    [changed({ currencyPair: { fromCurrency: 'BTC' } }), 'currencyPair.toCurrency: '],
    [changed({ currencyPair: { fromCurrency: 'BTC', toCurrency: 'EUR', at: 1 } }), 'currencyPair: Unrecognized'],
    [changed({ limit: '5' }), 'limit: must be a number'],
    [changed({ cryptoAddress: 5 }), 'cryptoAddress: '],
    [changed({ asset: 5, bonus: 5 }), 'bonus: must be less'],
    [changed({ order_limit: 5 }), 'body: Unrecognized key: "order_limit"'],
  ])('refuses the create %.90s', (body, message) => {
    const { create, exchange } = setUp();
    const answer = create(body);
    expect(answer.status).toBe(400);
    expect(bodyOf(answer)).toEqual({ message: expect.stringContaining(message), code: '400', status: 'BAD_REQUEST' });
    expect(exchange.census().preOrders).toBe(0);
  });

  it.each(['1e400', '0.00000000000000000001', '1E+2', '1.50'])(
    'takes the asset %s and echoes it as it stands',
    (asset) => {
      expect(setUp().create(ORDER.replace(ASSET, asset)).body).toContain(`"asset":${asset},`);
    },
  );

  it.each([undefined, 'text/plain', 'application/jsonp', 'application/x-www-form-urlencoded'])(
    'refuses a create with the content type %s',
    (type) => {
      const { exchange } = setUp();
      const headers = { ...KEY, 'content-type': type };
      expect(exchange.handle({ method: 'POST', path: REQUESTS, headers, body: ORDER }).status).toBe(400);
    },
  );

  it.each([
    ['GET', '/api/v1/merchant/orders', 400],
    ['GET', '/api/v1/merchant/orders?externalOrderId=', 400],
    ['GET', '/api/v1/merchant/orders?id=shop-1', 400],
    ['GET', '/api/v1/merchant/orders?externalOrderId=shop-1&page=2', 400],
    ['GET', '/api/v1/merchant/orders?externalOrderId=shop-1&externalOrderId=shop-2', 400],
    ['GET', '/api/v1/merchant/orders?externalOrderId=shop-9', 404],
    ['GET', `${REQUESTS}/pre-1?full=1`, 400],
    ['GET', `${REQUESTS}/%E0%A4%A`, 400],
    ['GET', `${REQUESTS}/pre-9`, 404],
    ['GET', `${REQUESTS}/`, 404],
    ['GET', '/pre-1', 404],
    ['GET', '//', 404],
    ['POST', `${REQUESTS}?dry=1`, 400],
    ['POST', `${REQUESTS}/pre-1`, 404],
    ['PUT', REQUESTS, 404],
    ['GET', '/api/v2/merchant/orders?externalOrderId=shop-1', 404],
  ])('answers %s %s with %i', (method, path, status) => {
    const { create, exchange } = setUp();
    create();
    expect(exchange.handle({ method, path, headers: JSON_KEY, body: ORDER }).status).toBe(status);
    expect(exchange.census().preOrders).toBe(1);
  });

  it('answers 429 above its rate and serves again after Retry-After', () => {
    const { create, exchange, clock } = setUp({ rate: { requests: 2, intervalMs: 2_500 } });
    create();
    clock.advance(500);
    create();
    const refused = create();
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '2' } });
    expect(bodyOf(refused)).toMatchObject({ code: '429' });
    clock.advance(1_999);
    expect(create().status).toBe(429);
    clock.advance(1);
    expect([create().status, create().status]).toEqual([200, 429]);
    expect(exchange.census().preOrders).toBe(3);
  });
});

describe('the scenarios of the sandbox', () => {
  it('are chosen by the external order id', () => {
    const { create, lookUp, clock } = setUp();
    const names = Object.keys(SCENARIOS).filter((name) => SCENARIOS[name]?.answers === undefined);
    for (const name of names) create(withId(`scenario-${name}-1`));
    clock.advance(60_000);
    const statusOf = (name: string) => {
      const answer = lookUp(`scenario-${name}-1`);
      return answer.status === 404 ? undefined : bodyOf(answer).order['status'];
    };
    const statuses = () => Object.fromEntries(names.map((name) => [name, statusOf(name)]));
    const first = {
      completed: 'COMPLETED',
      rejected: 'REJECTED',
      late: undefined,
      reopened: 'COMPLETED',
      stuck: 'IN_PROGRESS',
      'never-taken-up': undefined,
    };
    expect(statuses()).toEqual(first);
    clock.advance(30 * 60_000);
    expect(statuses()).toEqual({ ...first, late: 'COMPLETED', reopened: 'IN_PROGRESS' });
    expect(bodyOf(lookUp('scenario-reopened-1')).order['completionDate']).toBeUndefined();
  });

  it('are completed', () => {
    const { create, lookUp, clock } = setUp({ random: () => 0 });
    create();
    clock.advance(60_000);
    const { status, fiatTransaction } = bodyOf(lookUp()).order;
    expect([status, fiatTransaction]).toEqual(['COMPLETED', expect.objectContaining({ status: 'PAID' })]);
  });

  it('are rejected for the share that is asked for; the same seed decides the same', () => {
    const decisions = (seed: number) => {
      const { create, lookUp, clock } = setUp({ random: seededRandom(seed), rejected: 0.1 });
      const ids = Array.from({ length: 300 }, (_, index) => `shop-${index}`);
      for (const id of ids) create(withId(id));
      clock.advance(60_000);
      return ids.map((id) => bodyOf(lookUp(id)).order['status']);
    };
    const rejected = decisions(1).filter((status) => status === 'REJECTED').length;
    expect(rejected).toBeGreaterThan(10);
    expect(rejected).toBeLessThan(60);
    expect(decisions(1)).toEqual(decisions(1));
    expect(decisions(1)).not.toEqual(decisions(2));
  });

  it('come from a file', () => {
    const scenarios = readScenarios(`
      slow-payout:
        appearsAfter: 2s
        steps:
          - { after: 1h, order: PAID_OUT, crypto: SEEN, fiat: SENT, completed: true }
      never: { appearsAfter: never }
    `);
    expect(scenarios['never']).toEqual({ appearsAfterMs: null, steps: [] });
    const { create, lookUp, clock } = setUp({ scenarioOf: () => scenarios['slow-payout'] });
    create();
    clock.advance(2_000);
    expect(bodyOf(lookUp()).order['status']).toBe('REQUEST');
    clock.advance(3_600_000);
    expect(bodyOf(lookUp()).order).toMatchObject({
      status: 'PAID_OUT',
      cryptoTransaction: { status: 'SEEN' },
      fiatTransaction: { status: 'SENT' },
      completionDate: '2026-01-05T13:00:02.000Z',
    });
  });

  it.each([
    ['a: { appearsAfter: 2, steps: [] }', /a\.appearsAfter/],
    ['a: { appearsAfter: 2s, steps: [{ after: soon }] }', /a\.steps\.0\.after: must be a duration/],
    ['a: { appearsAfter: 2s, steps: [{ after: 1s, status: PAID }] }', /a\.steps\.0: Unrecognized key: "status"/],
    ['a b: { appearsAfter: 2s }', /a b: /],
    ['[]', /the file: /],
    ['a: {', /./],
  ])('of the file %j are refused with the place', (yaml, message) => {
    expect(() => readScenarios(yaml)).toThrow(message);
  });
});
