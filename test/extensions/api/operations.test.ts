import { describe, expect, it, vi } from 'vitest';
import { StoreError } from '../../../src/store/errors.ts';
import { controlSocket, failureIn, scriptedControlSocket } from '../../support/control-socket.ts';
import type { ScriptedAnswer } from '../../support/scripted-exchange.ts';

const EMAIL = 'ada@canary.example';
const PREFIX = '/api/v1/merchant';
const DIGITS = '12345678901234567.123456789';
const LINK = `{"linkId":"link-1", "status":"NEW","more":${DIGITS}}`;
const NOTHING = { reason: null, httpStatus: null, code: null, status: null };

interface Case {
  readonly asked: readonly [method: string, path: string, body?: unknown];
  readonly sent: readonly [method: string, path: string, body: string | RegExp];
  readonly answer: string;
}

/** Every operation that asks the exchange: what is asked, what goes to the exchange, and what comes back. */
const CASES: readonly Case[] = [
  {
    asked: ['POST', '/clients', { email: EMAIL, reference: 'customer-7' }],
    sent: ['POST', `${PREFIX}/client`, `{"email":"${EMAIL}"}`],
    answer: LINK,
  },
  {
    asked: ['POST', '/clients/validate', { email: EMAIL }],
    sent: ['POST', `${PREFIX}/client/validate/email`, `{"email":"${EMAIL}"}`],
    answer: `{"status":"OK","more":${DIGITS}}`,
  },
  { asked: ['GET', '/clients/link-1'], sent: ['GET', `${PREFIX}/client/link-1`, ''], answer: LINK },
  {
    asked: ['GET', '/clients/a%2Fb%3F'],
    sent: ['GET', `${PREFIX}/client/a%2Fb%3F`, ''],
    answer: LINK.replace('link-1', 'a/b?'),
  },
  { asked: ['POST', '/clients/link-1/follow'], sent: ['GET', `${PREFIX}/client/link-1`, ''], answer: LINK },
  {
    asked: ['GET', '/clients/link-1/idv/MAIN'],
    sent: ['GET', `${PREFIX}/client/link-1/idv/MAIN`, ''],
    answer: `{"linkId":"link-1","token":"canary-token","tokenValidTill":"2026-01-05T12:00:00Z","more":${DIGITS}}`,
  },
  {
    asked: ['POST', '/clients/link-1/idv/photos', { level: 'LIVENESS', actionId: 'a' }],
    sent: [
      'POST',
      `${PREFIX}/client/link-1/idv/photos/external/upload`,
      /^\{"kycLevelType":"LIVENESS","actionId":"a","token":"[\w-]{43}"\}$/,
    ],
    answer: `{"status":"ok","more":${DIGITS}}`,
  },
  {
    asked: ['POST', '/clients/link-1/idv/photos', { level: 'MAIN' }],
    sent: [
      'POST',
      `${PREFIX}/client/link-1/idv/photos/external/upload`,
      /^\{"kycLevelType":"MAIN","token":"[\w-]{43}"\}$/,
    ],
    answer: '{"status":"ok"}',
  },
  {
    asked: ['GET', '/clients/link-1/customer'],
    sent: ['GET', `${PREFIX}/client/link-1/cardprov/customer`, ''],
    answer: `{"customerNumber":"canary-7","firstName":"Ada","lastName":null,"more":${DIGITS}}`,
  },
  {
    asked: ['GET', '/clients/link-1/cards'],
    sent: ['GET', `${PREFIX}/client/link-1/cardprov/customer/card`, ''],
    answer: `[{"id":"c","number":"4111111111111111","token":"canary-card","more":${DIGITS}}]`,
  },
  {
    asked: ['POST', '/clients/link-1/sdk-token'],
    sent: ['POST', `${PREFIX}/sdk/token?linkId=link-1`, ''],
    answer: `{"token":"canary-sdk","expiresAt":"2026-01-05T12:00:00Z","more":${DIGITS}}`,
  },
  {
    asked: ['GET', '/orders?externalOrderId=shop%261'],
    sent: ['GET', `${PREFIX}/orders?externalOrderId=shop%261`, ''],
    answer: `{"externalOrderId":"shop&1","order":{"exchangeOperation":{"ratio":${DIGITS}}},"reward":-0.10}`,
  },
  {
    asked: ['GET', '/pre-orders/p1'],
    sent: ['GET', `${PREFIX}/orders/request/p1`, ''],
    answer: `{"id":"p1","asset":${DIGITS},"limit":1E+400}`,
  },
];

describe('an operation of the control socket', () => {
  it.each(CASES.map((one) => [`${one.asked[0]} ${one.asked[1]}`, one] as const))(
    '%s asks the exchange once, and passes its answer on byte for byte',
    async (_name, { asked, sent: [method, path, body], answer }) => {
      const on = await scriptedControlSocket();
      on.exchange.answer = () => ({ status: 200, body: answer });
      const { status, headers, text } = await on.ask(...asked);
      // The id of a request for photos is ours, and the last field.
      const asksForPhotos = path.endsWith('/upload');
      const requestId = asksForPhotos ? /,"requestId":"[0-9a-f]{32}"(?=\}\}$)/.exec(text) : [''];
      expect([status, text.replace(requestId?.[0] ?? expect.fail(text), '')]).toEqual([
        200,
        `{"ok":true,"value":${answer}}`,
      ]);
      expect(headers['content-type']).toMatch(/^application\/json/);
      expect(on.exchange.requests).toMatchObject([{ method, path }]);
      const [{ body: sentBody } = expect.fail()] = on.exchange.requests;
      if (typeof body === 'string') expect(sentBody).toBe(body);
      else expect(sentBody).toMatch(body);
      expect(JSON.stringify(on.log.lines)).not.toMatch(/canary|4111|123456789|[\w-]{43}/);
    },
  );

  it.each([
    ['GET', '/clients/link-1?linkId=link-2'],
    ['GET', '/pre-orders/p1?id=p2'],
    ['POST', '/clients/link-1/follow?linkId=link-2'],
    ['GET', '/merchant-orders?status=final'],
    ['POST', '/sync?scopes=due'],
  ])('refuses a query that it does not have, and does nothing: %s %s', async (method, path) => {
    const on = await scriptedControlSocket();
    const answer = await on.ask(method, path);
    expect([answer.status, failureIn(answer).message]).toEqual([400, expect.stringMatching(/^querystring/)]);
    expect(on.exchange.requests).toEqual([]);
  });

  it('inserts no order with a query that it does not have, and one as its body says', async () => {
    const on = await controlSocket();
    const order = { external_order_id: 'shop-1', asset: '0.25', from_currency: 'BTC', to_currency: 'EUR' };
    expect(await on.ask('POST', '/orders?bonus=7&order_limit=x', order)).toMatchObject({ status: 400 });
    expect(await on.ask('POST', '/orders', order)).toMatchObject({ status: 201 });
  });

  it('is as good with an answer 201 or 202 of the exchange', async () => {
    const on = await scriptedControlSocket();
    on.exchange.answer = () => ({ status: 201, body: LINK });
    expect(await on.ask('POST', '/clients', { email: EMAIL })).toMatchObject({ status: 200 });
  });
});

describe('a remembered link', () => {
  it('is listed without what is not for others, the newest first', async () => {
    const on = await controlSocket();
    await on.ask('POST', '/clients', { email: EMAIL, reference: 'customer-7' });
    on.program.clock.advance(1_000);
    await on.ask('POST', '/clients', { email: 'no-cards@canary.example' });
    await on.ask('POST', '/clients/link-1/follow', { reference: 'customer-8' });
    const { text } = await on.ask('GET', '/links');
    const { value } = JSON.parse(text) as { value: Record<string, unknown>[] };
    expect(value.map(({ link_id, reference, source }) => [link_id, reference, source])).toEqual([
      ['link-2', null, 'created'],
      ['link-1', 'customer-8', 'created'],
    ]);
    expect(Object.keys(value[0] ?? {})).not.toContain('account');
    expect(text).not.toContain('canary');
  });

  it.each([
    ['?limit=1', ['link-2']],
    ['?status=NOT_VERIFIED', ['link-2', 'link-1']],
    ['?status=OTHER', []],
  ])('is listed with %s as asked', async (query, expected) => {
    const on = await controlSocket();
    await on.ask('POST', '/clients', { email: EMAIL });
    on.program.clock.advance(1_000);
    await on.ask('POST', '/clients', { email: `x${EMAIL}` });
    const { value } = JSON.parse((await on.ask('GET', `/links${query}`)).text) as { value: { link_id: string }[] };
    expect(value.map(({ link_id }) => link_id)).toEqual(expected);
  });

  it.each(['?limit=0', '?limit=1001', '?limit=x', '?limit=1.5', '?limit='])('is not listed with %s', async (query) => {
    const on = await controlSocket();
    const answer = await on.ask('GET', `/links${query}`);
    expect([answer.status, failureIn(answer).kind]).toEqual([400, 'invalid']);
  });
});

const refused = (status: number, error: Readonly<Record<string, string>>): ScriptedAnswer => ({
  status,
  body: JSON.stringify(error),
});

describe('an error of the control socket', () => {
  it.each<[string, ScriptedAnswer, number, Record<string, unknown>]>([
    [
      'what the exchange does not have',
      refused(404, { message: 'link not found', code: '404', status: 'NOT_FOUND' }),
      404,
      { reason: 'not-found', message: 'link not found', code: '404', status: 'NOT_FOUND' },
    ],
    [
      'a bad address',
      refused(400, { message: 'm', code: '400', status: 'INVALID_EMAIL' }),
      400,
      { reason: 'invalid-email', message: 'm', code: '400', status: 'INVALID_EMAIL' },
    ],
    [
      'no address to deliver to',
      refused(400, { message: 'Upload url was not set', code: 'INVALID_VALUE' }),
      400,
      { reason: 'upload-url-not-set', message: 'Upload url was not set', code: 'INVALID_VALUE', status: null },
    ],
    [
      'a refusal that has a status of ours',
      refused(413, { message: 'm', code: 'c', status: 's' }),
      413,
      { reason: 'other', message: 'm', code: 'c', status: 's' },
    ],
  ])('tells of %s with the HTTP status of the exchange', async (_name, answer, httpStatus, error) => {
    const on = await scriptedControlSocket();
    on.exchange.answer = () => answer;
    const said = await on.ask('POST', '/clients', { email: EMAIL });
    expect([said.status, failureIn(said)]).toEqual([httpStatus, { kind: 'refused', httpStatus, ...error }]);
  });

  it('tells of a refused key with 502', async () => {
    const on = await controlSocket({ apiKey: 'canary-wrong' });
    const said = await on.ask('GET', '/clients/link-1');
    const message = 'the exchange refuses the key (401)';
    expect([said.status, failureIn(said)]).toEqual([
      502,
      { ...NOTHING, kind: 'key-refused', message, httpStatus: 401 },
    ]);
    expect(said.text + JSON.stringify(on.log.lines)).not.toContain('canary');
  });

  it('tells of the rate limit of the exchange with 503 and when to come again', async () => {
    const on = await scriptedControlSocket();
    on.exchange.answer = () => ({ status: 429, headers: { 'retry-after': '7' } });
    const said = await on.ask('GET', '/clients/link-1');
    const message = 'the exchange limits the rate (429)';
    expect([said.status, said.headers['retry-after']]).toEqual([503, '7']);
    expect(failureIn(said)).toEqual({ ...NOTHING, kind: 'rate-limited', message, httpStatus: 429 });
  });

  it('tells of an exchange that cannot be reached with 503, and says that nothing was sent', async () => {
    const environment = { ORDER_SYNC_EXCHANGE_BASE_URL: 'http://127.0.0.1:1' };
    const on = await controlSocket({ environment });
    const said = await on.ask('GET', '/clients/link-1');
    const message = expect.stringContaining('ECONNREFUSED') as string;
    expect([said.status, failureIn(said)]).toEqual([503, { ...NOTHING, kind: 'not-sent', message }]);
  });

  it.each<[string, ScriptedAnswer]>([
    ['404 that is not documented', { status: 404, body: '<html>' }],
    ['connection that breaks', 'reset'],
  ])('tells of an answer %s with 504', async (_name, answer) => {
    const on = await scriptedControlSocket();
    on.exchange.answer = () => answer;
    const said = await on.ask('GET', '/clients/link-1');
    const message = expect.stringMatching(/./) as string;
    expect([said.status, failureIn(said)]).toEqual([504, { ...NOTHING, kind: 'unknown', message }]);
    expect(on.exchange.requests).toHaveLength(1);
  });

  it('says what to do when it is not known whether a link was made', async () => {
    const on = await scriptedControlSocket();
    on.exchange.answer = () => 'reset';
    const said = await on.ask('POST', '/clients', { email: EMAIL });
    expect([said.status, failureIn(said).message]).toEqual([504, expect.stringContaining('client validate')]);
    expect(on.exchange.requests).toHaveLength(1);
  });

  it('names a link that was created but cannot be stored, with 500: asking again would be wrong', async () => {
    const on = await controlSocket();
    const full = new StoreError('unusable', 'the disk is broken');
    vi.spyOn(on.program.app.store.writer, 'writeUntilDurable').mockRejectedValue(full);
    const said = await on.ask('POST', '/clients', { email: EMAIL });
    expect([said.status, failureIn(said).kind]).toEqual([500, 'failed']);
    expect(failureIn(said).message).toMatch(/"link-1" was created but cannot be stored: the disk is broken/);
  });

  it('tells of a database that cannot be written with 503: nothing was done', async () => {
    const on = await controlSocket();
    vi.spyOn(on.program.app.store.writer, 'write').mockRejectedValue(new StoreError('disk', 'the disk is full'));
    const order = { external_order_id: 'a', asset: '1', from_currency: 'BTC', to_currency: 'EUR' };
    for (const said of [await on.ask('POST', '/orders', order), await on.ask('POST', '/clients', { email: EMAIL })]) {
      expect([said.status, failureIn(said)]).toEqual([
        503,
        { ...NOTHING, kind: 'failed', message: 'the disk is full' },
      ]);
    }
    expect(on.program.sandbox.requests).toEqual([]);
    expect(on.log.with('an operation of the API failed')).toHaveLength(2);
  });

  it('tells of a bug with 500, and keeps what it was for the log', async () => {
    const on = await controlSocket();
    vi.spyOn(on.program.app.exchange, 'ask').mockRejectedValue(new TypeError('x is not a function'));
    const said = await on.ask('GET', '/clients/link-1');
    const message = 'the daemon failed; its log says why';
    expect([said.status, failureIn(said)]).toEqual([500, { ...NOTHING, kind: 'failed', message }]);
    expect(on.log.with(/failed/)).toMatchObject([{ cause: 'TypeError: x is not a function' }]);
  });
});

describe('an id that cannot be sent', () => {
  it.each<[method: string, path: string, body?: unknown]>([
    ['GET', '/clients/..'],
    ['GET', '/clients/%2e%2E'],
    ['GET', '/clients/'],
    ['GET', '/clients//customer'],
    ['GET', '/clients/../cards'],
    ['GET', '/clients/a%00b'],
    ['GET', '/clients/a%0D%0Ab'],
    ['POST', '/clients/%2e%2e/follow'],
    ['POST', '/clients/%C3%A9/sdk-token'],
    ['POST', '/clients', { email: '' }],
    ['POST', '/clients/validate', { email: 'canary\u0000@x' }],
    ['POST', '/clients', { email: EMAIL, reference: `of ${EMAIL}` }],
    ['GET', '/orders?externalOrderId='],
    ['GET', '/pre-orders/'],
  ])('is refused before any request: %s %s', async (...asked) => {
    const on = await controlSocket();
    const said = await on.ask(...asked);
    expect([said.status, failureIn(said)]).toMatchObject([400, { ...NOTHING, kind: 'unusable' }]);
    expect(said.text).not.toContain('canary');
    expect(on.program.sandbox.requests).toEqual([]);
    expect(on.log.with(/failed/)).toEqual([]);
  });
});
