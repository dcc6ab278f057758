import { describe, expect, it } from 'vitest';
import { SandboxExchange, type SandboxOptions } from '../../../src/extensions/sandbox/exchange.ts';
import { seededRandom } from '../../../src/extensions/sandbox/random.ts';
import { testClock } from '../../support/test-clock.ts';

const CLIENT = '/api/v1/merchant/client';
const KEY = { 'x-api-key': 'k' };
const JSON_KEY = { ...KEY, 'content-type': 'application/json' };
const NOT_FOUND = [404, { message: 'link not found', code: '404', status: 'NOT_FOUND' }];

function setUp(options: Partial<SandboxOptions> = {}) {
  const clock = testClock();
  const exchange = new SandboxExchange({ apiKey: 'k', clock, random: seededRandom(1), ...options });
  /** Status and body of an answer. */
  const send = (method: string, path: string, headers: Record<string, string>, body?: string): [number, unknown] => {
    const answer = exchange.handle({ method, path, headers, ...(body === undefined ? {} : { body }) });
    expect(answer.headers['content-type']).toBe('application/json');
    return [answer.status, JSON.parse(answer.body)];
  };
  const post = (path: string, body: unknown) => send('POST', path, JSON_KEY, JSON.stringify(body));
  const get = (path: string) => send('GET', path, KEY);
  const link = (email = 'ada@shop.example') => {
    const [status, body] = post(CLIENT, { email });
    expect(status).toBe(200);
    return (body as { linkId: string }).linkId;
  };
  const sdkToken = (header: string | undefined, query: string, body?: string) =>
    send(
      'POST',
      `/api/v1/merchant/sdk/token${query}`,
      { ...KEY, ...(header !== undefined && { linkid: header }) },
      body,
    );
  return { clock, exchange, send, post, get, link, sdkToken };
}

const refusal = (status: string, message: unknown = 'validation errors') => [400, { message, code: '400', status }];

describe('client links of the sandbox', () => {
  it('are made of an e-mail address, not verified, and shown again by their id', () => {
    const { post, get } = setUp();
    const made = post(CLIENT, { email: 'ada@shop.example' });
    expect(made).toEqual([200, { linkId: 'link-1', status: 'NOT_VERIFIED' }]);
    expect(get(`${CLIENT}/link-1`)).toEqual(made);
    expect(post(CLIENT, { email: 'boris@shop.example' })).toEqual([200, { linkId: 'link-2', status: 'NOT_VERIFIED' }]);
  });

  it.each([
    ['ada.shop.example', 'INVALID_EMAIL'],
    ['', 'INVALID_EMAIL'],
    ['@shop.example', 'INVALID_EMAIL'],
    ['ada@', 'INVALID_EMAIL'],
    ['ada@b@shop.example', 'INVALID_EMAIL'],
    ['ada b@shop.example', 'INVALID_EMAIL'],
    [`${'a'.repeat(250)}@shop.example`, 'INVALID_EMAIL'],
    ['bad-request@shop.example', 'BAD_REQUEST'],
    ['bad-request-7@shop.example', 'BAD_REQUEST'],
    ['linked@shop.example', 'LINK_ALREADY_EXISTS'],
    ['Linked@Shop.Example', 'LINK_ALREADY_EXISTS'],
  ])('are refused for %j with %s, which validation says before', (email, status) => {
    const { post, get, link } = setUp();
    link('linked@shop.example');
    expect(post(`${CLIENT}/validate/email`, { email })).toEqual(refusal(status));
    expect(post(CLIENT, { email })).toEqual(refusal(status));
    expect(get(`${CLIENT}/link-2`)).toEqual(NOT_FOUND);
  });

  it('are not made by a validation that finds nothing wrong', () => {
    const { post, link } = setUp();
    const validate = () => post(`${CLIENT}/validate/email`, { email: 'ada@shop.example' });
    expect([validate(), validate()]).toEqual([
      [200, { status: 'OK' }],
      [200, { status: 'OK' }],
    ]);
    expect(link()).toBe('link-1');
  });

  it.each([
    ['', 'body: must be a JSON object'],
    ['"ada@shop.example"', 'body: must be a JSON object'],
    ['{"email":', 'body: must be a JSON object'],
    ['{}', expect.stringMatching(/^email: /)],
    ['{"email":7}', expect.stringMatching(/^email: /)],
    ['{"email":null}', expect.stringMatching(/^email: /)],
    ['{"email":"ada@shop.example","name":"Ada"}', 'body: Unrecognized key: "name"'],
  ])('are refused for the body %s', (body, message) => {
    const { send } = setUp();
    for (const path of [CLIENT, `${CLIENT}/validate/email`]) {
      expect(send('POST', path, JSON_KEY, body)).toEqual(refusal('BAD_REQUEST', message));
      expect(send('POST', path, { ...KEY, 'content-type': 'text/plain' }, '{"email":"a@b"}')).toEqual(
        refusal('BAD_REQUEST', 'content-type: must be application/json'),
      );
    }
  });

  it.each([
    ['ada@shop.example', ['NOT_VERIFIED', 'PENDING', 'VERIFIED', 'VERIFIED']],
    ['verification-verified-1@shop.example', ['NOT_VERIFIED', 'PENDING', 'VERIFIED', 'VERIFIED']],
    ['verification-refused-1@shop.example', ['NOT_VERIFIED', 'PENDING', 'REFUSED', 'REFUSED']],
    ['verification-lapsed-1@shop.example', ['NOT_VERIFIED', 'PENDING', 'VERIFIED', 'NOT_VERIFIED']],
    ['verification-not-begun-1@shop.example', ['NOT_VERIFIED', 'NOT_VERIFIED', 'NOT_VERIFIED', 'NOT_VERIFIED']],
  ])('of %s live the verification that the address asks for', (email, statuses) => {
    for (const speed of [1, 10]) {
      const { clock, get, link } = setUp({ speed });
      const linkId = link(email);
      const seen = [4_999, 1, 10_000, 3_600_000].map((ms) => {
        clock.advance(ms / speed);
        return get(`${CLIENT}/${linkId}`);
      });
      expect(seen).toEqual(statuses.map((status) => [200, { linkId, status }]));
    }
  });
});

describe('what belongs to a link of the sandbox', () => {
  it('are verification tokens for both flows, each another, with their expiry to the second', () => {
    const { get, link, clock } = setUp();
    const path = `${CLIENT}/${link()}/idv`;
    clock.advance(1_234);
    const tokens = [get(`${path}/MAIN`), get(`${path}/LIVENESS`)];
    const wanted = {
      linkId: 'link-1',
      token: expect.stringMatching(/^sandbox-verification-token-[0-9a-f]{32}$/),
      tokenValidTill: '2026-01-05T12:20:01Z',
    };
    expect(tokens).toEqual([
      [200, wanted],
      [200, wanted],
    ]);
    expect(tokens[0]).not.toEqual(tokens[1]);
  });

  it.each(['main', 'OTHER', 'MAIN%20'])('is no verification token for the flow %s', (level) => {
    const { get, link } = setUp();
    expect(get(`${CLIENT}/${link()}/idv/${level}`)).toEqual(
      refusal('BAD_REQUEST', 'level_type: must be MAIN or LIVENESS'),
    );
  });

  it('is an SDK token with its expiry, when header and parameter name the link', () => {
    const { sdkToken, link } = setUp();
    const linkId = link();
    expect(sdkToken(linkId, `?linkId=${linkId}`)).toEqual([
      200,
      {
        token: expect.stringMatching(/^sandbox-sdk-token-[0-9a-f]{32}$/),
        expiresAt: '2026-01-05T12:05:00.000Z',
      },
    ]);
  });

  it.each([
    [undefined, '?linkId=link-1', undefined],
    ['', '?linkId=link-1', undefined],
    ['link-2', '?linkId=link-1', undefined],
    ['link-1, link-1', '?linkId=link-1', undefined],
    ['link-1', '', undefined],
    ['link-1', '?linkId=', undefined],
    ['link-1', '?linkId=link-1&linkId=link-1', undefined],
    ['link-1', '?linkId=link-1&level=MAIN', undefined],
    ['link-1', '?linkId=link-1', '{}'],
  ])('is no SDK token for the header %s, the parameters %j and the body %s', (header, query, body) => {
    const { sdkToken, link } = setUp();
    link();
    expect(sdkToken(header, query, body)).toEqual(refusal('BAD_REQUEST', expect.any(String)));
  });

  it('is a customer with one to three cards, decided by the seed and the id', () => {
    const of = (seed: number) => {
      const { get, link } = setUp({ seed });
      return Array.from({ length: 20 }, (_, index) => {
        const linkId = link(`client-${index}@shop.example`);
        const customer = get(`${CLIENT}/${linkId}/cardprov/customer`);
        expect(customer).toEqual([
          200,
          {
            customerNumber: expect.stringMatching(/^sandbox-customer-\d+$/),
            firstName: expect.any(String),
            lastName: 'Sandbox',
            linkId,
          },
        ]);
        const [status, cards] = get(`${CLIENT}/${linkId}/cardprov/customer/card`);
        expect(status).toBe(200);
        return { customer, cards: cards as Record<string, string>[] };
      });
    };
    const clients = of(1);
    expect(new Set(clients.map(({ cards }) => cards.length))).toEqual(new Set([1, 2, 3]));
    expect(of(1)).toEqual(clients);
    expect(of(2)).not.toEqual(clients);
    const cards = clients.flatMap((client) => client.cards);
    for (const card of cards) {
      expect(Object.keys(card).toSorted()).toEqual(['bank', 'country', 'id', 'number', 'token', 'type']);
      expect(card).toMatchObject({ bank: 'Sandbox Bank', country: 'ZZ' });
      expect(passesLuhn(card['number'] ?? '')).toBe(true);
    }
    expect(new Set(cards.map(({ token }) => token)).size).toBe(cards.length);
  });

  it('is no card at all for an address that asks for none', () => {
    const { get, link } = setUp();
    expect(get(`${CLIENT}/${link('no-cards-1@shop.example')}/cardprov/customer/card`)).toEqual([200, []]);
  });

  it('is nothing if the link is unknown', () => {
    const { get, post, sdkToken } = setUp({ photoUrl: 'http://127.0.0.1:9/photos' });
    const path = `${CLIENT}/link-9`;
    expect([
      get(path),
      get(`${path}/idv/MAIN`),
      post(`${path}/idv/photos/external/upload`, { kycLevelType: 'MAIN' }),
      get(`${path}/cardprov/customer`),
      get(`${path}/cardprov/customer/card`),
      sdkToken('link-9', '?linkId=link-9'),
    ]).toEqual(Array.from({ length: 6 }, () => NOT_FOUND));
  });
});

describe('the paths of the sandbox', () => {
  it.each(['.', '..', '%2e%2e', '%2E', 'a%00b', 'a%0Ab', '%E0%A4%A', 'x'.repeat(501)])(
    'hold no id written %.20s',
    (id) => {
      const { get, link } = setUp();
      link();
      for (const path of [`${CLIENT}/${id}`, `${CLIENT}/${id}/idv/MAIN`, `${CLIENT}/${id}/cardprov/customer`]) {
        expect(get(path)).toEqual(refusal('BAD_REQUEST', 'linkId: cannot be an id'));
      }
    },
  );

  it.each([
    ['GET', CLIENT],
    ['GET', `${CLIENT}/`],
    ['POST', `${CLIENT}/link-1`],
    ['GET', `${CLIENT}//idv/MAIN`],
    ['GET', `${CLIENT}/link-1/idv`],
    ['GET', `${CLIENT}/link-1/../link-1`],
    ['GET', `${CLIENT}/link-1/cardprov/customer/card/1`],
    ['GET', '/api/v1/merchant/sdk/token?linkId=link-1'],
  ])('lead nowhere for %s %s', (method, path) => {
    const { send, link } = setUp();
    link();
    expect(send(method, path, JSON_KEY, '{}')).toEqual([
      404,
      { message: 'no such endpoint', code: '404', status: 'NOT_FOUND' },
    ]);
  });

  it('take no parameters if the interface shows none', () => {
    const { get, link } = setUp();
    expect(get(`${CLIENT}/${link()}?full=1`)).toEqual(refusal('BAD_REQUEST', 'this endpoint has no parameters'));
  });

  it('want the key everywhere', () => {
    const { send, link } = setUp();
    link();
    for (const [method, path] of [
      ['POST', CLIENT],
      ['GET', `${CLIENT}/link-1`],
      ['GET', `${CLIENT}/link-9`],
      ['POST', '/api/v1/merchant/sdk/token'],
      ['GET', '/nowhere'],
    ] as const) {
      expect(send(method, path, { 'x-api-key': 'K' })).toEqual([
        401,
        { message: 'invalid x-api-key', code: '401', status: 'UNAUTHORIZED' },
      ]);
    }
  });
});

/** The checksum of card numbers. */
function passesLuhn(number: string): boolean {
  const digits = number.split('').toReversed().map(Number);
  const sum = digits.reduce((total, digit, index) => {
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
}
