import { once } from 'node:events';
import { createConnection } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  DRIP_MS,
  SLOW_MS,
  IS_TAKEN,
  startSandbox,
  type LoggedRequest,
  type Sandbox,
} from '../../../src/extensions/sandbox/server.ts';
import { testClock, type TestClock } from '../../support/test-clock.ts';

const KEY = 'canary-key-91';
const REQUESTS = '/api/v1/merchant/orders/request';

interface Bench {
  readonly sandbox: Sandbox;
  readonly clock: TestClock;
  readonly create: (id: string, signal?: AbortSignal) => Promise<Response>;
  readonly get: (path: string) => Promise<Response>;
  /** Resolves with the next request that arrives. */
  readonly arrival: () => Promise<LoggedRequest>;
}

let sandboxes: Sandbox[] = [];
afterEach(async () => {
  await Promise.all(sandboxes.map((sandbox) => sandbox.close()));
  sandboxes = [];
});

async function setUp(options: Partial<Parameters<typeof startSandbox>[0]> = {}): Promise<Bench> {
  const clock = testClock();
  let next = Promise.withResolvers<LoggedRequest>();
  const onRequest = (request: LoggedRequest) => {
    next.resolve(request);
    next = Promise.withResolvers();
  };
  const sandbox = await startSandbox({ apiKey: KEY, clock, random: () => 0.5, onRequest, ...options });
  sandboxes.push(sandbox);
  return {
    sandbox,
    clock,
    arrival: () => next.promise,
    create: async (id, signal) =>
      await fetch(`${sandbox.url}${REQUESTS}`, {
        method: 'POST',
        headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
        body: `{"externalOrderId":${JSON.stringify(id)},"asset":1.50,"assetPosition":"INPUT","orderType":"DEPOSIT","currencyPair":{"fromCurrency":"BTC","toCurrency":"EUR"}}`,
        redirect: 'manual',
        ...(signal === undefined ? {} : { signal }),
      }),
    get: async (path) => await fetch(`${sandbox.url}${path}`, { headers: { 'x-api-key': KEY }, redirect: 'manual' }),
  };
}

/** The part of an answer that a client sees. */
async function seen(answer: Promise<Response>): Promise<string> {
  try {
    const response = await answer;
    return `${response.status} ${await response.text()}`;
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } };
    return `${message} ${cause?.code ?? ''}`;
  }
}

describe('the sandbox server', () => {
  it('answers as the exchange does, exact to the byte', async () => {
    const { create, get } = await setUp();
    const created = await create('shop "1"\n');
    expect(created.headers.get('content-type')).toMatch(/^application\/json/);
    const body = await created.text();
    expect(body).toContain('"asset":1.50,');
    expect(await (await get(`${REQUESTS}/pre-1`)).text()).toBe(body);
    expect((await get('/api/v1/merchant/orders')).status).toBe(400);
    expect((await get(`${REQUESTS}/%E0%A4%A`)).status).toBe(400);
  });

  it.each([
    ['fetch failed ECONNRESET', 'reset-before'],
    ['fetch failed ECONNRESET', 'reset-after'],
    ['502 bad gateway', 'error-not-taken'],
    ['502 bad gateway', 'error-taken'],
    ['terminated UND_ERR_SOCKET', 'truncated'],
    ['200 {"answer":42}', 'wrong-json'],
    ['200 <html>', 'html'],
    ['307 ', 'redirect'],
    ['429 ', 'rate-limited'],
  ] as const)('shows %j for the fault %s, on a create and on a look-up, and only once', async (shows, fault) => {
    const { create, get, sandbox, clock } = await setUp();
    const id = `fault-${fault}-1`;
    expect(await seen(create(id))).toContain(shows);
    expect(sandbox.exchange.census().preOrders).toBe(IS_TAKEN[fault] ? 1 : 0);
    expect(await seen(create(id))).toContain('200 {"limit":null');

    const lookedUp = `fault-lookup-${fault}-1`;
    const path = `/api/v1/merchant/orders?externalOrderId=${lookedUp}`;
    expect(await seen(create(lookedUp))).toContain('200 {"limit":null');
    clock.advance(2_000);
    expect(await seen(get(path))).toContain(shows);
    expect(await seen(get(path))).toContain('"status":"REQUEST"');
  });

  it.each(['hang', 'hang-before'] as const)('never answers with the fault %s', async (fault) => {
    const { create, arrival, sandbox, clock } = await setUp();
    const arrived = arrival();
    const answer = seen(create(`fault-${fault}-1`));
    await arrived;
    clock.advance(86_400_000);
    expect(sandbox.exchange.census().preOrders).toBe(fault === 'hang' ? 1 : 0);
    await sandbox.close();
    expect(await answer).toContain('fetch failed');
  });

  it('answers late, and right, with the fault slow', async () => {
    const { create, arrival, clock } = await setUp();
    let isAnswered = false;
    const arrived = arrival();
    const answer = seen(create('fault-slow-1')).finally(() => (isAnswered = true));
    await arrived;
    clock.advance(SLOW_MS - 1);
    await create('shop-2');
    expect(isAnswered).toBe(false);
    clock.advance(1);
    expect(await answer).toContain('"externalOrderId":"fault-slow-1"');
  });

  it('answers a byte at a time with the fault drip, until the client closes the connection', async () => {
    const { create, arrival, clock } = await setUp();
    const client = new AbortController();
    const arrived = arrival();
    const answer = create('fault-drip-1', client.signal);
    await arrived;
    clock.advance(DRIP_MS);
    const reader = (await answer).body!.getReader();
    let text = '';
    for (const wanted of ['{', '{"', '{"l']) {
      text += new TextDecoder().decode((await reader.read()).value);
      expect(text).toBe(wanted);
      clock.advance(DRIP_MS);
    }
    client.abort();
    expect((await create('shop-2')).status).toBe(200);
  });

  it('has faults by likelihood, also on look-ups', async () => {
    const { create, get, sandbox } = await setUp({ faults: { html: 1 } });
    expect(await seen(create('shop-1'))).toContain('<html>');
    expect(await seen(get('/api/v1/merchant/orders?externalOrderId=shop-1'))).toContain('<html>');
    expect(sandbox.exchange.census().preOrders).toBe(1);
  });

  it('logs each request with what the exchange answered, and never the key', async () => {
    const { create, get, sandbox } = await setUp();
    await seen(create('fault-reset-before-1'));
    await seen(create('fault-error-taken-1'));
    await get('/api/v1/merchant/orders?externalOrderId=shop-9');
    expect(
      sandbox.requests.map(({ method, externalOrderId, status, fault }) => [method, externalOrderId, status, fault]),
    ).toEqual([
      ['POST', 'fault-reset-before-1', null, 'reset-before'],
      ['POST', 'fault-error-taken-1', 200, 'error-taken'],
      ['GET', 'shop-9', 404, undefined],
    ]);
    expect(JSON.stringify(sandbox.requests)).not.toContain('canary');
    expect(await (await get('/_sandbox/requests')).json()).toEqual(sandbox.requests);
    expect(await (await get('/_sandbox/census')).json()).toEqual({ preOrders: 1, duplicated: [] });
  });

  it('stays up whatever it is sent', async () => {
    const { create, sandbox } = await setUp();
    const send = async (text: string) => {
      const socket = createConnection(Number(new URL(sandbox.url).port), '127.0.0.1');
      let answer = '';
      socket.on('data', (chunk) => (answer += String(chunk)));
      socket.end(text.replaceAll('\n', '\r\n'));
      await once(socket, 'close');
      return /^HTTP\/1.1 (\d+)/.exec(answer)?.[1];
    };
    const head = (rest: string) => `POST ${REQUESTS} HTTP/1.1\nhost: x\nx-api-key: ${KEY}\nconnection: close\n${rest}`;
    const body = '{"externalOrderId":"a\\q"}';
    expect(await send(head(`content-length: ${body.length}\n\n${body}`))).toBe('400');
    expect(await send(head(`content-type: application/json\ncontent-length: ${body.length}\n\n${body}`))).toBe('400');
    expect(await send(`GET //[ HTTP/1.1\nhost: x\nx-api-key: ${KEY}\nconnection: close\n\n`)).toMatch(/^40[04]$/);
    expect(await send('nonsense\n\n')).toBe('400');
    expect((await create('shop-1')).status).toBe(200);
  });

  it('is the exchange of several merchants, each with its own orders and rate', async () => {
    const { sandbox, create } = await setUp({
      otherKeys: ['canary-key-92'],
      rate: { requests: 1, intervalMs: 60_000 },
    });
    await create('shop-1');
    const ask = async (key: string, path: string) =>
      await fetch(`${sandbox.url}${path}`, { headers: { 'x-api-key': key } }).then((answer) => answer.status);
    const order = '/api/v1/merchant/orders?externalOrderId=shop-1';
    expect([await ask(KEY, order), await ask('canary-key-92', order), await ask('another', order)]).toEqual([
      429, 404, 401,
    ]);
    expect([...sandbox.exchanges.values()].map((exchange) => exchange.census().preOrders)).toEqual([1, 0]);
  });
});
