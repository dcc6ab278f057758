import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { FAILURES_TO_OPEN } from '../../src/exchange/transport/breaker.ts';
import { ExchangeClient } from '../../src/exchange/client.ts';
import { RateWindow } from '../../src/exchange/transport/rate-window.ts';
import { UnusableIdError } from '../../src/exchange/ids.ts';
import { TransportError, type Transport } from '../../src/exchange/transport/http.ts';
import type { AbsenceShape } from '../../src/orders/rules/lookup.ts';
import type { MerchantOrder } from '../../src/orders/rules/record.ts';
import { createPreOrder, unheld } from '../support/exchange-client.ts';
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

async function created(
  status: number,
  body: string,
  headers: Record<string, string> = {},
  refusedBy: 'documented' | 'status' = 'documented',
) {
  const { scope, client } = nockExchange(systemClock(), { reading: { absence: [], refusedBy } });
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

  it('ends its turn if the lease lets nothing leave, so that others continue while the outcome is recorded', async () => {
    let isLost = true;
    const lease = {
      ensure: async () => {
        if (isLost) throw new Error('the disk is full');
      },
      isTrusted: () => true,
    };
    const transport = { send: async () => ({ status: 404, body: NOT_FOUND }), close: async () => {} };
    const window = new RateWindow({ requests: 10, intervalMs: 1_000 });
    const reading = { absence: [], refusedBy: 'documented' } as const;
    const client = new ExchangeClient({
      transport,
      clock: systemClock(),
      concurrency: 1,
      window,
      lease,
      reading,
      account: unheld(),
    });
    const signal = new AbortController().signal;
    const turn = await client.turnToCreate('a', signal);
    if (turn === undefined) throw new Error('no turn came');
    expect(await client.createPreOrder(ORDER, turn)).toMatchObject({ kind: 'not-sent' });
    isLost = false;
    expect(await client.lookUpOrder('a', signal)).toMatchObject({ answer: { kind: 'absent' } });
  });

  it('lets no create leave that gets its connection after another process may own the account', async () => {
    let isTrusted = true;
    const transport: Transport = {
      async send(_request, _signal, mayLeave) {
        isTrusted = false;
        if (mayLeave?.() === false) throw new TransportError('not the owner', { sent: 'never', code: 'NOT_OWNER' });
        return { status: 200, body: '{}' };
      },
      close: async () => {},
    };
    const client = new ExchangeClient({
      transport,
      clock: systemClock(),
      concurrency: 1,
      window: new RateWindow({ requests: 10, intervalMs: 1_000 }),
      lease: { ensure: async () => {}, isTrusted: () => isTrusted },
      reading: { absence: [], refusedBy: 'documented' },
      account: unheld(),
    });
    expect(await createPreOrder(client, ORDER)).toEqual({ kind: 'not-sent', why: 'not the owner' });
  });

  it('hides a payment token that a refusal quotes', async () => {
    const { answer, client } = nockExchange();
    answer(400, '{"message":"no such token: CANARY-7","code":"1","status":"BAD_REQUEST"}');
    const outcome = await createPreOrder(client, { ...ORDER, paymentToken: 'canary-7' });
    expect(outcome).toEqual({ kind: 'rejected', reason: 'HTTP 400 BAD_REQUEST: no such token: <hidden>' });
  });

  it('hides a payment token that looks like a word, and addresses, and cuts what is too long', async () => {
    const { answer, client } = nockExchange();
    const refused = async (body: Record<string, string>) => {
      answer(400, JSON.stringify({ message: 'no', code: '1', ...body }));
      return await createPreOrder(client, { ...ORDER, paymentToken: 'CANARY_7_TOKEN' });
    };
    const token = 'CANARY_7_TOKEN';
    const hidden = { kind: 'rejected', reason: 'HTTP 400 <hidden>: <hidden>' };
    expect(await refused({ message: token, code: token, status: token })).toEqual(hidden);
    expect(await refused({ message: 'no a@shop.example' })).toMatchObject({ reason: 'HTTP 400 1: no <hidden>' });
    const long = await refused({ message: 'm'.repeat(5_000), status: 's'.repeat(5_000) });
    expect(long).toEqual({ kind: 'rejected', reason: `HTTP 400 ${'s'.repeat(100)}: ${'m'.repeat(500)}` });
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
    ['"toCurrency":"EUR"', '"toCurrency":"USD"', 'sent toCurrency EUR, echoed toCurrency USD'],
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

  it('tells nothing of a currency that is echoed in other letters', async () => {
    const echo = ECHO.replace('"toCurrency":"EUR"', '"toCurrency":"eur"');
    expect(await created(200, echo)).toMatchObject({ kind: 'accepted', differences: [] });
  });

  it.each([
    ['SELL', [{ expected: 'bonus less than the crypto amount 100', actual: 'bonus 101' }]],
    ['BUY', []],
    [undefined, []],
  ])(
    'compares the bonus with the amount if the pre-order says that it is crypto: %s',
    async (exchangeType, expected) => {
      const { answer, client } = nockExchange();
      const order = { ...ORDER, asset: '100', bonus: '101' };
      const { externalOrderId, assetPosition, orderType, fromCurrency, toCurrency } = order;
      const currencyPair = { fromCurrency, toCurrency };
      const echo = { id: 'p1', externalOrderId, asset: 100, bonus: 101, assetPosition, orderType, currencyPair };
      answer(200, JSON.stringify({ ...echo, exchangeType }));
      expect(await createPreOrder(client, order)).toMatchObject({ kind: 'accepted', differences: expected });
    },
  );

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

  it.each([400, 404, 422])('is rejected by a documented error: %i', async (status) => {
    const outcome = await created(status, '{"message":"no","code":"1","status":"BAD_REQUEST"}');
    expect(outcome).toEqual({ kind: 'rejected', reason: `HTTP ${status} BAD_REQUEST: no` });
  });

  it('is forbidden by a documented 403, which may speak of the account', async () => {
    const outcome = await created(403, '{"message":"no","code":"1","status":"FORBIDDEN"}');
    expect(outcome).toEqual({ kind: 'forbidden', reason: 'HTTP 403 FORBIDDEN: no' });
  });

  it.each([
    ['null for a status', '{"message":"no","code":"1","status":null}', 'HTTP 400 1: no'],
    ['a number for a code', '{"message":"no","code":4001}', 'HTTP 400 4001: no'],
  ])('is rejected by a documented error with %s', async (_name, body, reason) => {
    expect(await created(400, body)).toEqual({ kind: 'rejected', reason });
  });

  it.each([
    [400, '', 'rejected'],
    [404, '{"timestamp":1,"status":404,"error":"Not Found"}', 'rejected'],
    [422, '<html>', 'rejected'],
    [403, '', 'unknown'],
    [409, NOT_FOUND, 'unknown'],
    [500, '', 'unknown'],
    [200, '', 'unknown'],
  ])('is rejected by the status alone if the merchant says so: %i %s', async (status, body, kind) => {
    expect((await created(status, body, {}, 'status')).kind).toBe(kind);
    if (status < 403) expect((await created(status, body)).kind).toBe('unknown');
  });

  it.each([
    [200, '{"data":{"id":"p1"}}'],
    [201, ECHO.replace('"externalOrderId":"a"', '"externalOrderId":"b"')],
    [409, '{"id":"p1"}'],
  ])('whose outcome is not known brings the answer along, as it came: %i %s', async (httpStatus, body) => {
    expect(await created(httpStatus, body)).toMatchObject({ kind: 'unknown', answer: { httpStatus, body } });
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
    ['an id that is no text', 200, ECHO.replace('"id":"p1"', '"id":true')],
    ['another order', 200, ECHO.replace('"externalOrderId":"a"', '"externalOrderId":"b"')],
    ['JSON too deep to read', 200, '['.repeat(10_000)],
  ])('does not know the outcome from %s', async (_name, status, body) => {
    expect((await created(status, body)).kind).toBe('unknown');
  });
});

describe('get order by external id (§4.11)', () => {
  async function lookedUp(status: number, body: string, id = 'a', absence: readonly AbsenceShape[] = []) {
    const { scope, client } = nockExchange(systemClock(), { reading: { absence, refusedBy: 'documented' } });
    scope.get(LOOKUP).query({ externalOrderId: id }).reply(status, body);
    return (await client.lookUpOrder(id))?.answer ?? expect.fail();
  }
  const record =
    '{"externalOrderId":"a","order":{"id":"o1","status":"SOMETHING_NEW","cryptoTransaction":{"status":"NEW"},"more":1}}';

  it('names a refusal without its message, which may quote what the order holds', async () => {
    const message = 'bad token CANARY-7';
    const body = JSON.stringify({ message, code: '7', status: 'BAD_REQUEST' });
    expect(await lookedUp(400, body)).toEqual({ kind: 'unanswered', why: 'HTTP 400 BAD_REQUEST' });
  });

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
    ['the documented 404', NOT_FOUND],
    ['one without a status', '{"message":"order not found","code":"404"}'],
    ['one whose status is null and whose code is a number', '{"message":"no","code":404,"status":null}'],
  ])('finds by %s that there is no order', async (_name, body) => {
    expect(await lookedUp(404, body)).toEqual({ kind: 'absent', evidence: 'documented' });
  });

  const LIKELY: readonly (readonly [number, string])[] = [
    [404, '<html>'],
    [404, ''],
    [404, '{"timestamp":"2026-01-05T12:00:00Z","status":404,"error":"Not Found","path":"/api/v1/merchant/orders"}'],
    [204, ''],
    [200, ''],
    [200, ' \n'],
    [200, 'null'],
    [200, '[]'],
    [200, '{}'],
    [200, '{"order":null}'],
    [200, '{"externalOrderId":"a","order":null,"message":"none"}'],
    [200, '{"externalOrderId":null,"merchant":null,"percent":1,"percentEnabled":true,"reward":0}'],
  ];

  it.each(LIKELY)('takes it for likely that there is no order: %i %s', async (status, body) => {
    expect(await lookedUp(status, body)).toEqual({ kind: 'absent', evidence: 'likely' });
  });

  it.each(LIKELY)('takes it for documented if the merchant has confirmed the status: %i %s', async (status, body) => {
    expect(await lookedUp(status, body, 'a', [{ status }])).toEqual({ kind: 'absent', evidence: 'documented' });
  });

  it.each<[number, string, AbsenceShape]>([
    [
      400,
      '{"message":"no","code":"NO_ORDER","status":"BAD_REQUEST"}',
      { pointer: '/code', value: 'NO_ORDER', status: 400 },
    ],
    [400, '{"error":{"code":17}}', { pointer: '/error/code', value: '17', status: 400 }],
    [200, '{"data":null}', { pointer: '/data', value: 'null', status: 200 }],
    [200, '{"data":[]}', { pointer: '/data', value: '[]', status: 200 }],
    [200, '{"found":false}', { pointer: '/found', value: 'false', status: 200 }],
    [200, '[{"a/b":{"~":1.10}}]', { pointer: '/0/a~1b/~0', value: '1.10', status: 200 }],
    [200, '"none"', { pointer: '', value: 'none', status: 200 }],
    [410, '<html>', { status: 410 }],
    [200, '{"error":{}}', { pointer: '/error', status: 200 }],
  ])('knows a shape that the merchant has confirmed, and without that takes no evidence: %i %s', async (...given) => {
    const [status, body, shape] = given;
    expect(await lookedUp(status, body, 'a', [{ status: 418 }, shape])).toEqual({
      kind: 'absent',
      evidence: 'documented',
    });
    expect((await lookedUp(status, body)).kind).toBe('unanswered');
    expect((await lookedUp(status, body, 'a', [{ ...shape, pointer: '/code/more' }])).kind).toBe('unanswered');
    expect((await lookedUp(status, body, 'a', [{ pointer: '', ...shape, value: 'other' }])).kind).toBe('unanswered');
  });

  const ANY: readonly AbsenceShape[] = [{ status: 200 }, { status: 404 }, { status: 200, pointer: '' }];

  it.each([
    ['a record', 200, record],
    ['a record that cannot be read', 200, record.replace('"o1"', '{}')],
    ['a record of another order', 200, record.replace('"a"', '"b"')],
    ['no order of another id', 200, '{"externalOrderId":"b","order":null}'],
    ['an order in a list', 200, `[${record}]`],
    ['an order beside null in its place', 200, `{"order":{"id":"o1"},"order":null}`],
    ['a record with another status', 404, record.replace('"o1"', '7')],
  ])('never finds by the settings that there is no order in %s', async (_name, status, body) => {
    expect((await lookedUp(status, body, 'a', ANY)).kind).not.toBe('absent');
  });

  it.each(['A', ' a', 'a\n', '\uff21', '\u00a0a'])('finds a record whose id is another spelling: %j', async (id) => {
    const body = record.replace('"a"', JSON.stringify(id));
    expect(await lookedUp(200, body)).toMatchObject({ kind: 'found', record: { externalOrderId: id }, body });
  });

  it('reads ids that are written as numbers by their digits', async () => {
    const [long, other] = ['12345678901234567890', record.replace('"a"', '7')];
    const body = record.replace('"o1"', long);
    expect(await lookedUp(200, body)).toMatchObject({ kind: 'found', record: { orderId: long } });
    expect(await lookedUp(200, other)).toMatchObject({ kind: 'unanswered', answeredFor: '7' });
    const echo = ECHO.replace('"id":"p1"', `"id":${long}`);
    expect(await created(200, echo)).toMatchObject({ kind: 'accepted', preOrder: { id: long } });
  });

  it.each([
    ['a record of another order', 200, record.replace('"a"', '"b"')],
    ['a record of an id that has ours in it', 200, record.replace('"a"', '"a a"')],
    ['a record that cannot be read', 200, record.replace('"o1"', '{}')],
    ['an object of no known kind', 200, '{"message":"maintenance"}'],
    ['text', 200, 'none'],
    ['a redirect', 302, ''],
    ['a server error', 503, NOT_FOUND],
    ['another refusal', 400, NOT_FOUND],
    ['409', 409, ''],
  ])('takes no evidence from %s', async (_name, status, body) => {
    expect((await lookedUp(status, body)).kind).toBe('unanswered');
  });

  it.each([
    ['a documented error', 400, NOT_FOUND, false],
    ['an error of no documented shape, wrong for this one alone', 400, '', false],
    ['a server error', 503, NOT_FOUND, true],
    ['a record that cannot be read, wrong for this one alone', 200, '{"order":7}', false],
    ['nothing', 204, '', false],
    ['a record of another order, wrong for this one alone', 200, record.replace('"a"', '"b"'), false],
  ])('opens the breaker, or not, when several in a row bring %s', async (_name, status, body, opens) => {
    const { answer, client } = nockExchange();
    for (let asked = 0; asked < FAILURES_TO_OPEN; asked += 1) {
      expect(client.breaker('lookup').isOpen).toBe(false);
      answer(status, body);
      await client.lookUpOrder(`x${asked}`);
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
  it('returns the body as it came', async () => {
    const { scope, client } = nockExchange();
    const body = ECHO.replace('"p1"', '"p/1"');
    scope.get(`${CREATE}/p%2F1`).reply(200, body);
    expect(await client.showPreOrder('p/1')).toMatchObject({ kind: 'ok', body });
  });

  it.each(['', '.', '..', 'a\nb', 'x'.repeat(501)])('refuses an id that would change the address: %j', async (id) => {
    await expect(nockExchange().client.showPreOrder(id)).rejects.toBeInstanceOf(UnusableIdError);
  });
});
