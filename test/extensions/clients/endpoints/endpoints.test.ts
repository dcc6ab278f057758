import { endpointsOf } from '../../../../src/extensions/clients/endpoints/endpoints.ts';
import { LosslessNumber } from 'lossless-json';
import { afterEach, describe, expect, it } from 'vitest';
import type { ExchangeClient } from '../../../../src/exchange/client.ts';
import { UnusableIdError } from '../../../../src/exchange/ids.ts';
import { type Reply } from '../../../../src/exchange/reply.ts';
import { forgetAnswers, nockExchange } from '../../../support/nock-exchange.ts';
import { testClock } from '../../../support/test-clock.ts';
import { refusalReason } from '../../../../src/extensions/api/asking/refusal-reason.ts';

const EMAIL = 'ada@shop.example';
const CLIENT = '/api/v1/merchant/client';
const PHOTOS = `${CLIENT}/l1/idv/photos/external/upload`;
const ORDERS = '/api/v1/merchant/orders';
const LINK = `{ "linkId":"l1",\n"status":"SOMETHING_NEW","unheard":{"of":1.10} }`;
const CARD = '"id":"c1","bank":"B","country":"DE","number":"4111","token":"t","type":"VISA"';

/** One way of asking for something: what goes out, and an answer to it with unknown fields. */
interface Call {
  readonly section: string;
  readonly ask: (client: ExchangeClient) => Promise<Reply<unknown>>;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly answer: string;
  readonly value: unknown;
  /** Answers of 200 that are not what the section says. */
  readonly unreadable: readonly string[];
}

const more = { unheard: { of: new LosslessNumber('1.10') } };
const link = { linkId: 'l1', status: 'SOMETHING_NEW', ...more };
const badLinks = ['{"status":"NOT_VERIFIED"}', '{"linkId":"","status":"X"}', '{"linkId":"l1"}', `[${LINK}]`];
const badStatuses = ['{}', '{"status":null}', '{"status":1}', '"OK"'];
const CALLS: Readonly<Record<string, Call>> = {
  createLink: {
    section: '4.1',
    ask: (client) => endpointsOf(client).createLink(EMAIL),
    method: 'POST',
    path: CLIENT,
    body: `{"email":"${EMAIL}"}`,
    answer: LINK,
    value: link,
    unreadable: badLinks,
  },
  validateEmail: {
    section: '4.2',
    ask: (client) => endpointsOf(client).validateEmail(EMAIL),
    method: 'POST',
    path: `${CLIENT}/validate/email`,
    body: `{"email":"${EMAIL}"}`,
    answer: '{"status":"OK","unheard":{"of":1.10}}',
    value: { status: 'OK', ...more },
    unreadable: badStatuses,
  },
  showLink: {
    section: '4.3',
    ask: (client) => endpointsOf(client).showLink('l1'),
    method: 'GET',
    path: `${CLIENT}/l1`,
    answer: LINK,
    value: link,
    unreadable: badLinks,
  },
  'lookUpLink, of a pass': {
    section: '4.3',
    ask: async (client) => (await endpointsOf(client).lookUpLink('l1')) ?? expect.fail(),
    method: 'GET',
    path: `${CLIENT}/l1`,
    answer: LINK,
    value: link,
    unreadable: badLinks,
  },
  verificationToken: {
    section: '4.4',
    ask: (client) => endpointsOf(client).verificationToken('l1', 'LIVENESS'),
    method: 'GET',
    path: `${CLIENT}/l1/idv/LIVENESS`,
    answer: '{"linkId":"l1","token":"t","tokenValidTill":"2026-01-05T12:00:00Z","unheard":{"of":1.10}}',
    value: { linkId: 'l1', token: 't', tokenValidTill: '2026-01-05T12:00:00Z', ...more },
    unreadable: ['{"linkId":"l1","token":"","tokenValidTill":"x"}', '{"linkId":"l1","tokenValidTill":"x"}'],
  },
  requestPhotos: {
    section: '4.5',
    ask: (client) => endpointsOf(client).requestPhotos('l1', { level: 'LIVENESS', actionId: 'a1', token: 'tkn-1' }),
    method: 'POST',
    path: PHOTOS,
    body: '{"kycLevelType":"LIVENESS","actionId":"a1","token":"tkn-1"}',
    answer: '{"status":"ok","unheard":{"of":1.10}}',
    value: { status: 'ok', ...more },
    unreadable: badStatuses,
  },
  showCustomer: {
    section: '4.6',
    ask: (client) => endpointsOf(client).showCustomer('l1'),
    method: 'GET',
    path: `${CLIENT}/l1/cardprov/customer`,
    answer: '{"customerNumber":"7","firstName":"Ada","lastName":null,"linkId":"l1","unheard":{"of":1.10}}',
    value: { customerNumber: '7', firstName: 'Ada', lastName: null, linkId: 'l1', ...more },
    unreadable: ['{"customerNumber":{}}', '[]', 'null'],
  },
  listCards: {
    section: '4.7',
    ask: (client) => endpointsOf(client).listCards('l1'),
    method: 'GET',
    path: `${CLIENT}/l1/cardprov/customer/card`,
    answer: `[ {${CARD},"unheard":{"of":1.10}} ]`,
    value: [{ id: 'c1', bank: 'B', country: 'DE', number: '4111', token: 't', type: 'VISA', ...more }],
    unreadable: [`{${CARD}}`, '[null]', '[{"number":4111}]'],
  },
  sdkToken: {
    section: '4.8',
    ask: (client) => endpointsOf(client).sdkToken('l1'),
    method: 'POST',
    path: '/api/v1/merchant/sdk/token?linkId=l1',
    headers: { linkid: 'l1' },
    answer: '{"token":"t","expiresAt":"2026-01-05T12:00:00.000Z","unheard":{"of":1.10}}',
    value: { token: 't', expiresAt: '2026-01-05T12:00:00.000Z', ...more },
    unreadable: ['{"token":"","expiresAt":"x"}', '{"token":"t"}', '[]'],
  },
  showPreOrder: {
    section: '4.10',
    ask: (client) => client.showPreOrder('p1'),
    method: 'GET',
    path: `${ORDERS}/request/p1`,
    answer: '{"asset":12345678901234567.10,"unheard":{"of":1.10}}',
    value: { asset: new LosslessNumber('12345678901234567.10'), ...more },
    unreadable: [],
  },
  showOrder: {
    section: '4.11',
    ask: (client) => client.showOrder('shop&1'),
    method: 'GET',
    path: `${ORDERS}?externalOrderId=shop%261`,
    answer: '{"reward":0.10,"unheard":{"of":1.10}}',
    value: { reward: new LosslessNumber('0.10'), ...more },
    unreadable: [],
  },
};
const calls = Object.entries(CALLS).map(([name, call]) => ({ name, ...call }));
const ofClients = calls.filter(({ section }) => !['4.10', '4.11'].includes(section));
const errorBody = (message: string, code: string, status?: string) => JSON.stringify({ message, code, status });
const NOT_FOUND = errorBody('link not found', '404', 'NOT_FOUND');
const KEY_REFUSED = errorBody('invalid x-api-key', '401', 'UNAUTHORIZED');

afterEach(forgetAnswers);

/** The reply that a call makes of one answer. */
async function read(call: Pick<Call, 'ask'>, status: number, body: string, headers: Record<string, string> = {}) {
  const { answer, client } = nockExchange(testClock());
  answer(status, body, headers);
  return await call.ask(client);
}

/** The reason of a refusal, or the kind of any other reply. */
function reasonOf(answer: Reply<unknown>) {
  return answer.kind === 'refused' ? refusalReason(answer) : answer.kind;
}

describe('each endpoint', () => {
  it.each(calls)('of §$section is asked as the interface says: $name', async (call) => {
    const { answer, client, sent } = nockExchange();
    answer(200, call.answer);
    await call.ask(client);
    const length = Buffer.byteLength(call.body ?? '');
    expect(sent).toEqual([
      {
        method: call.method,
        path: call.path,
        headers: {
          host: 'exchange.example',
          connection: 'keep-alive',
          accept: 'application/json',
          'accept-encoding': expect.stringContaining('gzip'),
          'user-agent': 'order-sync',
          'x-api-key': 'wire-key',
          ...(call.body !== undefined && { 'content-type': 'application/json' }),
          ...(call.method === 'POST' && { 'content-length': String(length) }),
          ...call.headers,
        },
        body: call.body ?? '',
      },
    ]);
  });

  it.each(calls)(
    'of §$section returns the value with its unknown fields, and the body as it came: $name',
    async (call) => {
      expect(await read(call, 200, call.answer)).toEqual({ kind: 'ok', value: call.value, body: call.answer });
      // Which status a success has is not shown.
      expect(await read(call, 201, call.answer)).toMatchObject({ kind: 'ok' });
    },
  );

  it.each(calls)('of §$section says when it refuses the key, whatever the body: $name', async (call) => {
    for (const body of [KEY_REFUSED, '', '<html>'])
      expect(await read(call, 401, body)).toEqual({ kind: 'key-refused' });
  });

  it.each(calls)('of §$section may ask to wait, in seconds or until a time: $name', async (call) => {
    const waits = [
      ['7', 7_000],
      ['Mon, 05 Jan 2026 12:01:00 GMT', 60_000],
      ['Mon, 05 Jan 2026 11:00:00 GMT', 0],
      ['soon', 5_000],
      ['999999999', 86_400_000],
    ] as const;
    for (const [retryAfter, retryAfterMs] of waits) {
      const answer = await read(call, 429, '', { 'retry-after': retryAfter });
      expect([retryAfter, answer]).toEqual([retryAfter, { kind: 'rate-limited', retryAfterMs }]);
    }
    expect(await read(call, 429, NOT_FOUND)).toEqual({ kind: 'rate-limited', retryAfterMs: 5_000 });
  });

  it.each(calls)('of §$section leaves it unknown what came of it when the answer is no answer: $name', async (call) => {
    const answers: [number, string][] = [
      [500, NOT_FOUND],
      [502, 'bad gateway'],
      [503, ''],
      [302, ''],
      [404, '<html></html>'],
      [400, '{"error":"no"}'],
      [400, '{"message":"no","code":["400"]}'],
      [404, '{"timestamp":1,"status":404,"error":"Not Found","message":"no"}'],
      [400, NOT_FOUND.slice(0, -3)],
      [200, ''],
      [200, '<html></html>'],
      [200, call.answer.slice(0, -3)],
      [200, '['.repeat(60) + ']'.repeat(60)],
      ...call.unreadable.map((body): [number, string] => [200, body]),
    ];
    for (const [status, body] of answers) {
      expect([status, body, (await read(call, status, body)).kind]).toEqual([status, body, 'unknown']);
    }
  });

  it.each(calls)('of §$section says nothing of an unreadable answer but that it is one: $name', async (call) => {
    for (const [status, body] of [
      [200, `canary {`],
      [500, errorBody('canary', 'canary', 'canary')],
    ] as const) {
      expect(JSON.stringify(await read(call, status, body))).not.toContain('canary');
    }
  });
});

describe('a documented error (§7)', () => {
  it.each(ofClients.filter(({ section }) => !['4.1', '4.2'].includes(section)))(
    'of §$section is that there is no such link: $name',
    async (call) => {
      const answer = await read(call, 404, NOT_FOUND);
      expect(answer).toEqual({ kind: 'refused', httpStatus: 404, error: JSON.parse(NOT_FOUND) });
      expect(reasonOf(answer)).toBe('not-found');
    },
  );

  it.each([
    ['createLink', 'INVALID_EMAIL', 'invalid-email'],
    ['createLink', 'LINK_ALREADY_EXISTS', 'link-already-exists'],
    ['createLink', 'BAD_REQUEST', 'bad-request'],
    ['validateEmail', 'INVALID_EMAIL', 'invalid-email'],
    ['validateEmail', 'LINK_ALREADY_EXISTS', 'link-already-exists'],
    ['validateEmail', 'BAD_REQUEST', 'bad-request'],
  ] as const)('of %s is %s', async (name, status, reason) => {
    const call = CALLS[name];
    if (call === undefined) throw new Error(name);
    const answer = await read(call, 400, errorBody('validation errors', '400', status));
    expect(answer).toMatchObject({ kind: 'refused', httpStatus: 400, error: { message: 'validation errors', status } });
    expect(reasonOf(answer)).toBe(reason);
  });

  it.each([200, 202, 400, 403, 409, 422, 500, 503])(
    'of requestPhotos is that no address is set, with whatever status: %i',
    async (status) => {
      const call = { ask: (client: ExchangeClient) => endpointsOf(client).requestPhotos('l1', { level: 'MAIN' }) };
      const answer = await read(call, status, errorBody('Upload url was not set', 'INVALID_VALUE'));
      expect(answer).toEqual({
        kind: 'refused',
        httpStatus: status,
        error: { message: 'Upload url was not set', code: 'INVALID_VALUE' },
      });
      expect(reasonOf(answer)).toBe('upload-url-not-set');
    },
  );

  it.each([
    [403, 'FORBIDDEN'],
    [404, 'GONE'],
    [409, 'LINK_ALREADY_EXISTS'],
    [400, 'NOT_FOUND'],
    [400, undefined],
    [422, 'SOMETHING_NEW'],
    [400, 'SOMETHING_NEW', 'INVALID_VALUE'],
  ])('is not what any other refusal is, which stays as received: %i %s', async (httpStatus, status, code = 'X') => {
    const error = { message: 'no', code, ...(status !== undefined && { status }) };
    for (const call of calls) {
      const answer = await read(call, httpStatus, JSON.stringify({ ...error, more: [1, 'two'] }));
      expect(answer).toEqual({ kind: 'refused', httpStatus, error });
      expect(reasonOf(answer)).toBe('other');
    }
  });
});

describe('the photos of §4.5', () => {
  it.each([
    [{ level: 'MAIN' }, '{"kycLevelType":"MAIN"}'],
    [{ level: 'MAIN', actionId: 'a1', token: 't' }, '{"kycLevelType":"MAIN","token":"t"}'],
    [{ level: 'LIVENESS' }, '{"kycLevelType":"LIVENESS"}'],
    [{ level: 'LIVENESS', actionId: 'a1' }, '{"kycLevelType":"LIVENESS","actionId":"a1"}'],
  ] as const)('asked for with %j go with the action only if it is taken', async (request, body) => {
    const { answer, client, sent } = nockExchange();
    answer(200, '{"status":"ok"}');
    await endpointsOf(client).requestPhotos('l1', request);
    expect(sent).toMatchObject([{ path: PHOTOS, body }]);
  });
});

describe('an id', () => {
  const withId: [string, (client: ExchangeClient, id: string) => Promise<unknown>, (encoded: string) => string][] = [
    ['showLink', (client, id) => endpointsOf(client).showLink(id), (id) => `${CLIENT}/${id}`],
    ['lookUpLink', (client, id) => endpointsOf(client).lookUpLink(id), (id) => `${CLIENT}/${id}`],
    [
      'verificationToken',
      (client, id) => endpointsOf(client).verificationToken(id, 'MAIN'),
      (id) => `${CLIENT}/${id}/idv/MAIN`,
    ],
    [
      'requestPhotos',
      (client, id) => endpointsOf(client).requestPhotos(id, { level: 'MAIN' }),
      (id) => `${CLIENT}/${id}/idv/photos/external/upload`,
    ],
    ['showCustomer', (client, id) => endpointsOf(client).showCustomer(id), (id) => `${CLIENT}/${id}/cardprov/customer`],
    ['listCards', (client, id) => endpointsOf(client).listCards(id), (id) => `${CLIENT}/${id}/cardprov/customer/card`],
    ['sdkToken', (client, id) => endpointsOf(client).sdkToken(id), (id) => `/api/v1/merchant/sdk/token?linkId=${id}`],
    ['showPreOrder', (client, id) => client.showPreOrder(id), (id) => `${ORDERS}/request/${id}`],
  ];
  const unusable = ['', '.', '..', 'a\nb', '\r', 'a\u0000', '\u001f', 'a\u007f', '\ud800', 'x'.repeat(501)];

  it.each(withId)('that would change the address is refused by %s before any request', async (_name, ask) => {
    const { answer, client, sent } = nockExchange();
    answer(200, LINK);
    for (const id of unusable) {
      expect([id, await ask(client, id).catch((thrown: unknown) => thrown)]).toEqual([id, expect.any(UnusableIdError)]);
    }
    expect(sent).toEqual([]);
  });

  it.each(withId)('of any other text is one encoded part of the path of %s', async (name, ask, path) => {
    const { answer, client, sent } = nockExchange();
    const ids = ['...', 'a/b', '../../../l2', '%2e%2e', 'a?b#c', 'a&linkId=b', 'a;b', '~', 'x'.repeat(500)];
    const wide = name === 'sdkToken' ? [] : ['a b', 'é', '\u{1f600}', '"'];
    for (const id of [...ids, ...wide]) {
      answer(404, NOT_FOUND);
      await ask(client, id);
      expect(sent.at(-1)?.path).toBe(path(encodeURIComponent(id)));
      if (name === 'sdkToken') expect(sent.at(-1)?.headers['linkid']).toBe(id);
    }
  });

  it.each(['a b', 'é', '\u{1f600}'])(
    'that no header carries as it stands is refused for an SDK token: %j',
    async (id) => {
      const { client, sent } = nockExchange();
      await expect(endpointsOf(client).sdkToken(id)).rejects.toBeInstanceOf(UnusableIdError);
      expect(sent).toEqual([]);
    },
  );

  it("of the merchant's own may be any text, but not empty, broken or endless", async () => {
    const { answer, client, sent } = nockExchange();
    for (const id of ['.', '..', 'a\nb', 'a&b=c d/é', 'x'.repeat(4_000)]) {
      answer(404, NOT_FOUND);
      await client.showOrder(id);
      expect(sent.at(-1)?.path).toBe(`${ORDERS}?externalOrderId=${encodeURIComponent(id)}`);
    }
    const count = sent.length;
    for (const id of ['', '\ud800', 'x'.repeat(4_001), 'é'.repeat(700)]) {
      await expect(client.showOrder(id)).rejects.toBeInstanceOf(UnusableIdError);
    }
    expect(sent.length).toBe(count);
  });
});

describe('an e-mail address', () => {
  const withEmail = ['createLink', 'validateEmail'] as const;

  it.each(withEmail)('that is none at all is refused by %s before any request, and is not quoted', async (name) => {
    const { client, sent } = nockExchange();
    for (const email of ['', 'canary@a\nb', 'canary\u0000@a', 'canary@\ud800', `canary@${'x'.repeat(248)}`]) {
      const asked = endpointsOf(client)[name](email);
      const thrown: unknown = await asked.catch((reason: unknown) => reason);
      expect(thrown).toBeInstanceOf(UnusableIdError);
      expect(String(thrown)).not.toContain('canary');
    }
    expect(sent).toEqual([]);
  });

  it.each(withEmail)('is left to the exchange to judge otherwise, byte for byte: %s', async (name) => {
    const { answer, client, sent } = nockExchange();
    for (const email of ['ada', ' é"\\@x ', `canary@${'x'.repeat(247)}`]) {
      answer(400, errorBody('validation errors', '400', 'INVALID_EMAIL'));
      await endpointsOf(client)[name](email);
      expect(sent.at(-1)?.body).toBe(JSON.stringify({ email }));
    }
  });
});

describe('a secret of the request', () => {
  const token = 'canary-token';
  const asks: [string, (client: ExchangeClient) => Promise<Reply<unknown>>, string][] = [
    [
      'the address of createLink',
      (client) => endpointsOf(client).createLink('Canary"@shop.example'),
      'canary"@SHOP.example',
    ],
    [
      'the address of validateEmail',
      (client) => endpointsOf(client).validateEmail('canary@shop.example'),
      'CANARY@shop.example',
    ],
    [
      'the token of requestPhotos',
      (client) => endpointsOf(client).requestPhotos('l1', { level: 'MAIN', token }),
      token,
    ],
    ['the key of any', (client) => endpointsOf(client).showLink('l1'), 'wire-key'],
  ];

  it.each(asks)('that an error quotes is hidden in it: %s', async (_name, ask, quoted) => {
    const body = { message: `not ${quoted}, ${quoted}`, code: quoted, status: 'BAD_REQUEST', more: [{ of: quoted }] };
    const answer = await read({ ask }, 400, JSON.stringify(body));
    const error = { message: 'not <hidden>, <hidden>', code: '<hidden>', status: 'BAD_REQUEST' };
    expect(answer).toEqual({ kind: 'refused', httpStatus: 400, error });
  });

  it('that happens to be a word of the exchange leaves the error what it is', async () => {
    const ask = (client: ExchangeClient) => endpointsOf(client).createLink('email');
    const error = { message: 'no <hidden> is this', code: '400', status: 'INVALID_EMAIL' };
    const answer = await read({ ask }, 400, errorBody('no Email is this', '400', 'INVALID_EMAIL'));
    expect(answer).toEqual({ kind: 'refused', httpStatus: 400, error });
    expect(reasonOf(answer)).toBe('invalid-email');
  });
});

describe('what a reply says of the account', () => {
  const served = { kind: 'served' };
  const noAnswer = { kind: 'no-answer' };
  const limited = (retryAfterMs: number) => ({ kind: 'rate-limited', retryAfterMs });
  const after = (seconds: string) => ({ 'retry-after': seconds });

  it.each<[number, string, Record<string, string>, unknown[]]>([
    [200, '{"linkId":"l1","status":"OK"}', {}, [served]],
    [404, NOT_FOUND, {}, [served]],
    [404, '<html>', {}, [served]],
    [401, KEY_REFUSED, {}, [{ kind: 'key-refused' }]],
    [429, '', after('7'), [limited(7_000)]],
    [503, '', after('7'), [limited(7_000)]],
    [503, '', {}, [noAnswer]],
    [500, '', after('7'), [noAnswer]],
    [403, '<html>', {}, []],
  ])('answered %i to a look-up: %s', async (status, body, headers, expected) => {
    const { answer, client, news } = nockExchange(testClock());
    answer(status, body, headers);
    await endpointsOf(client).lookUpLink('l1');
    expect(news).toMatchObject(expected);
  });

  it('is not that the key is refused if a person asked, whose request may be wrong in itself', async () => {
    const { answer, client, news } = nockExchange(testClock());
    answer(401, KEY_REFUSED);
    await endpointsOf(client).showLink('l1');
    expect(news).toEqual([]);
  });
});
