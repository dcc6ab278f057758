import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { FAILURES_TO_OPEN } from '../../src/exchange/breaker.ts';
import { ExchangeClient } from '../../src/exchange/client.ts';
import { UnusableIdError } from '../../src/exchange/ids.ts';
import type { MerchantOrder } from '../../src/domain/record.ts';
import { createPreOrder } from '../support/exchange-client.ts';
import { forgetAnswers, nockExchange } from '../support/nock-exchange.ts';

const CREATE = '/api/v1/merchant/orders/request';
const LOOKUP = '/api/v1/merchant/orders';
const ORDER: MerchantOrder = {
  externalOrderId: 'a',
  asset: '12345678901234567.123456789012345678',
  assetPosition: 'INPUT',
  fromCurrency: 'BTC',
  toCurrency: 'EUR',
  orderType: 'DEPOSIT',
  limit: null,
  paymentToken: null,
  providerType: null,
  cryptoAddress: null,
  bonus: null,
};
const BODY = `{"externalOrderId":"a","asset":${ORDER.asset},"assetPosition":"INPUT","currencyPair":{"fromCurrency":"BTC","toCurrency":"EUR"},"orderType":"DEPOSIT"}`;
const ECHO = `{"id":"p1","exchangeType":"SELL","limit":null,"unheard":"of",${BODY.slice(1)}`;
const NOT_FOUND = '{"message":"order not found","code":"404","status":"NOT_FOUND"}';

afterEach(forgetAnswers);

async function created(status: number, body: string, headers: Record<string, string> = {}) {
  const { scope, client } = nockExchange();
  // Read as text: as JSON the amount would be rounded before it is compared.
  scope
    .post(CREATE, (sent: unknown) => typeof sent === 'object')
    .matchHeader('content-type', 'application/json')
    .reply(status, body, headers);
  return await createPreOrder(client, ORDER);
}

describe('create pre-order (§4.9)', () => {
  it('sends what the row says, every digit and no field that is not given', async () => {
    const { answer, client, sent } = nockExchange();
    answer(200, '');
    await createPreOrder(client, ORDER);
    answer(200, '');
    const given = { limit: '1e3', paymentToken: 't', providerType: 'P', cryptoAddress: 'x"y', bonus: '0.10' };
    await createPreOrder(client, { ...ORDER, ...given });
    const more = ',"limit":1e3,"paymentToken":"t","providerType":"P","cryptoAddress":"x\\"y","bonus":0.10}';
    expect(sent.map(({ body }) => body)).toEqual([BODY, `${BODY.slice(0, -1)}${more}`]);
    expect(sent[0]).toEqual({
      method: 'POST',
      path: CREATE,
      headers: {
        host: 'exchange.example',
        connection: 'keep-alive',
        accept: 'application/json',
        'accept-encoding': expect.stringContaining('gzip'),
        'content-type': 'application/json',
        'content-length': String(BODY.length),
        'user-agent': 'order-sync',
        'x-api-key': 'wire-key',
      },
      body: BODY,
    });
  });

  it('ends its turn where the lease lets nothing leave, so that others go on while the outcome is recorded', async () => {
    let isLost = true;
    const lease = {
      ensure: async () => {
        if (isLost) throw new Error('the disk is full');
      },
    };
    const transport = { send: async () => ({ status: 404, body: NOT_FOUND }), close: async () => {} };
    const rate = { requests: 10, intervalMs: 1_000 };
    const client = new ExchangeClient({ transport, clock: systemClock(), concurrency: 1, rate, lease });
    const signal = new AbortController().signal;
    const turn = await client.turnToCreate(signal);
    if (turn === undefined) throw new Error('no turn came');
    expect(await client.createPreOrder(ORDER, turn)).toMatchObject({ kind: 'not-sent' });
    isLost = false;
    expect(await client.lookUpOrder('a', signal)).toMatchObject({ answer: { kind: 'absent' } });
  });

  it('hides a payment token that a refusal quotes', async () => {
    const { answer, client } = nockExchange();
    answer(400, '{"message":"no such token: CANARY-7","code":"1","status":"BAD_REQUEST"}');
    const outcome = await createPreOrder(client, { ...ORDER, paymentToken: 'canary-7' });
    expect(outcome).toEqual({ kind: 'rejected', reason: 'HTTP 400 BAD_REQUEST: no such token: <hidden>' });
  });

  it('is accepted when the echo is equal, unknown fields and all', async () => {
    expect(await created(200, ECHO)).toEqual({
      kind: 'accepted',
      preOrder: { id: 'p1', exchangeType: 'SELL', body: ECHO },
      differences: [],
    });
  });

  it('takes 1.50 for equal to 1.5, and tells of a digit that differs', async () => {
    expect(await created(201, ECHO.replace('345678,', '3456780,'))).toMatchObject({
      kind: 'accepted',
      differences: [],
    });
    expect(await created(200, ECHO.replace('345678,', '345679,'))).toMatchObject({
      kind: 'accepted',
      differences: [
        {
          expected: `asset ${ORDER.asset}`,
          actual: 'asset 12345678901234567.123456789012345679',
        },
      ],
    });
  });

  const FULL = { ...ORDER, limit: '5', paymentToken: 'canary-1', providerType: 'P', cryptoAddress: 'x', bonus: '0.1' };
  const FULL_ECHO = `${BODY.slice(0, -1)},"limit":5.0,"paymentToken":"canary-1","providerType":"P","cryptoAddress":"x","bonus":0.10,"id":"p1"}`;

  it.each([
    ['"assetPosition":"INPUT"', '"assetPosition":"OUTPUT"', 'sent assetPosition INPUT, echoed assetPosition OUTPUT'],
    ['"fromCurrency":"BTC"', '"fromCurrency":"ETH"', 'sent fromCurrency BTC, echoed fromCurrency ETH'],
    ['"toCurrency":"EUR"', '"toCurrency":"eur"', 'sent toCurrency EUR, echoed toCurrency eur'],
    ['"orderType":"DEPOSIT"', '"orderType":null', 'sent orderType DEPOSIT, echoed no orderType'],
    ['"limit":5.0', '"limit":5.01', 'sent limit 5, echoed limit 5.01'],
    [
      '"paymentToken":"canary-1"',
      '"paymentToken":"canary-2"',
      'sent paymentToken (not shown), echoed another paymentToken',
    ],
    ['"providerType":"P"', '"providerType":""', 'sent providerType P, echoed providerType '],
    ['"cryptoAddress":"x",', '', 'sent cryptoAddress x, echoed no cryptoAddress'],
    ['"bonus":0.10', '"bonus":null', 'sent bonus 0.1, echoed no bonus'],
  ])('tells what of a pre-order is not as it was sent: %s', async (sent, echoed, difference) => {
    const { answer, client } = nockExchange();
    const accepted = { kind: 'accepted', preOrder: { id: 'p1' } };
    answer(200, FULL_ECHO);
    expect(await createPreOrder(client, FULL)).toMatchObject({ ...accepted, differences: [] });
    answer(200, FULL_ECHO.replace(sent, echoed));
    const outcome = await createPreOrder(client, FULL);
    expect(outcome).toMatchObject(accepted);
    const differences = outcome.kind === 'accepted' ? outcome.differences : [];
    expect(differences.map(({ expected, actual }) => `sent ${expected}, echoed ${actual}`)).toEqual([difference]);
  });

  it.each([
    [`"asset":${ORDER.asset}`, '"asset":"1.5"', `asset ${ORDER.asset}`, 'asset (a string)'],
    [`"asset":${ORDER.asset},`, '', `asset ${ORDER.asset}`, 'no asset'],
    ['"fromCurrency":"BTC"', '"fromCurrency":null', 'fromCurrency BTC', 'no fromCurrency'],
    ['"toCurrency":"EUR"', '"toCurrency":978', 'toCurrency EUR', 'toCurrency (a number)'],
    ['"orderType":"DEPOSIT"', '"orderType":["DEPOSIT"]', 'orderType DEPOSIT', 'orderType (an array)'],
  ])(
    'keeps the id of a pre-order whose echo is of another type, and tells of it: %s',
    async (sent, echoed, ...values) => {
      const [expected, actual] = values;
      expect(await created(200, ECHO.replace(sent, echoed))).toMatchObject({
        kind: 'accepted',
        preOrder: { id: 'p1' },
        differences: [{ expected, actual }],
      });
    },
  );

  it.each([
    ['"exchangeType":"SELL"', '"exchangeType":{"name":"SELL"}', 'p1'],
    ['"currencyPair":{"fromCurrency":"BTC","toCurrency":"EUR"}', '"currencyPair":"BTC/EUR"', 'p1'],
    ['"currencyPair":{"fromCurrency":"BTC","toCurrency":"EUR"}', '"currencyPair":null', 'p1'],
  ])('keeps the id whatever stands in place of another field: %s', async (sent, echoed, id) => {
    expect(await created(200, ECHO.replace(sent, echoed))).toMatchObject({ kind: 'accepted', preOrder: { id } });
  });

  it('takes what comes back of a field that was not sent for no difference', async () => {
    expect(await created(200, FULL_ECHO)).toMatchObject({ kind: 'accepted', differences: [] });
  });

  it.each([400, 403, 404, 422])('is rejected by a documented error: %i', async (status) => {
    const outcome = await created(status, '{"message":"no","code":"1","status":"BAD_REQUEST"}');
    expect(outcome).toEqual({ kind: 'rejected', reason: `HTTP ${status} BAD_REQUEST: no` });
  });

  it('is not taken by 401', async () => {
    expect(await created(401, '{"message":"invalid x-api-key","code":"401","status":"UNAUTHORIZED"}')).toEqual({
      kind: 'key-refused',
    });
  });

  it.each([
    ['7', 7_000],
    [undefined, 5_000],
    ['soon', 5_000],
    ['999999999', 86_400_000],
  ])('is not taken by 429, and waits: %s', async (retryAfter, ms) => {
    const outcome = await created(429, '', retryAfter === undefined ? {} : { 'retry-after': retryAfter });
    expect(outcome).toEqual({ kind: 'rate-limited', retryAfterMs: ms });
  });

  it.each([
    ['a refusal that is not in the documented shape', 400, '{"error":"no"}'],
    ['two ids, either of which may be that of the pre-order', 200, ECHO.replace('{', '{"id":"p0",')],
    ['a refusal that is a page', 404, '<html></html>'],
    ['408', 408, NOT_FOUND],
    ['409', 409, NOT_FOUND],
    ['a redirect', 302, ''],
    ['a server error in the documented shape', 500, NOT_FOUND],
    ['nothing', 200, ''],
    ['no JSON', 200, '{"id":'],
    ['no id', 200, BODY],
    ['an id that is no text', 200, ECHO.replace('"id":"p1"', '"id":1')],
    ['another order', 200, ECHO.replace('"externalOrderId":"a"', '"externalOrderId":"b"')],
    ['JSON too deep to read', 200, '['.repeat(10_000)],
  ])('does not know the outcome from %s', async (_name, status, body) => {
    expect((await created(status, body)).kind).toBe('unknown');
  });
});

describe('get order by external id (§4.11)', () => {
  async function lookedUp(status: number, body: string, id = 'a') {
    const { scope, client } = nockExchange();
    scope.get(LOOKUP).query({ externalOrderId: id }).reply(status, body);
    return (await client.lookUpOrder(id))?.answer ?? expect.fail();
  }
  const record =
    '{"externalOrderId":"a","order":{"id":"o1","status":"SOMETHING_NEW","cryptoTransaction":{"status":"NEW"},"more":1}}';

  it('finds a record, with any status', async () => {
    expect(await lookedUp(200, record)).toMatchObject({
      kind: 'found',
      body: record,
      record: {
        orderId: 'o1',
        orderStatus: 'SOMETHING_NEW',
        cryptoStatus: 'NEW',
        fiatStatus: null,
        completionDate: null,
      },
    });
  });

  it('encodes the id', async () => {
    expect((await lookedUp(404, NOT_FOUND, 'a&b=c d/é\n')).kind).toBe('absent');
  });

  it.each([
    ['a 404 that is a page', 404, '<html>'],
    ['a record of another order', 200, record.replace('"a"', '"b"')],
    ['an empty answer', 200, ''],
    ['a server error', 503, NOT_FOUND],
    ['another refusal', 400, NOT_FOUND],
  ])('takes no evidence from %s', async (_name, status, body) => {
    expect((await lookedUp(status, body)).kind).toBe('unanswered');
  });

  it.each([
    ['a documented error', 400, NOT_FOUND, false],
    ['an error of no documented shape, wrong for this one alone', 400, '', false],
    ['a server error', 503, NOT_FOUND, true],
    ['a record that cannot be read, wrong for this one alone', 200, '{}', false],
    ['a record of another order, wrong for this one alone', 200, record.replace('"a"', '"b"'), false],
  ])('opens the breaker, or not, when several in a row bring %s', async (_name, status, body, opens) => {
    const { answer, client } = nockExchange();
    for (let asked = 0; asked < FAILURES_TO_OPEN; asked += 1) {
      expect(client.breaker('lookup').isOpen).toBe(false);
      answer(status, body);
      await client.lookUpOrder('a');
    }
    expect(client.breaker('lookup').isOpen).toBe(opens);
  });

  it('takes a status longer than any for a record that cannot be read', async () => {
    const long = (field: string) => record.replace(`"status":"${field}"`, `"status":"${'x'.repeat(1_001)}"`);
    expect((await lookedUp(200, long('SOMETHING_NEW'))).kind).toBe('unanswered');
    expect((await lookedUp(200, long('NEW'))).kind).toBe('unanswered');
    expect((await lookedUp(200, record.replace('SOMETHING_NEW', 'x'.repeat(1_000)))).kind).toBe('found');
  });
});

describe('get pre-order (§4.10)', () => {
  it('gives the body as it came', async () => {
    const { scope, client } = nockExchange();
    scope.get(`${CREATE}/p%2F1`).reply(200, ECHO);
    expect(await client.showPreOrder('p/1')).toMatchObject({ kind: 'ok', body: ECHO });
  });

  it.each(['', '.', '..', 'a\nb', 'x'.repeat(501)])('refuses an id that would change the address: %j', async (id) => {
    await expect(nockExchange().client.showPreOrder(id)).rejects.toBeInstanceOf(UnusableIdError);
  });
});
