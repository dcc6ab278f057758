import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { rawClient } from '../../../support/raw-client.ts';
import { testOps } from '../../../support/ops-endpoint.ts';

const TOKEN = 'canary-token-of-ops';
const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });

/** The status of what is sent as it stands. */
async function statusOf(url: string | undefined, ...lines: string[]): Promise<string | undefined> {
  const client = rawClient(url ?? '');
  client.send(`${[...lines, 'connection: close'].join('\r\n')}\r\n\r\n`);
  return /^HTTP\/1\.1 (\d+)/.exec(await client.closed)?.[1];
}

describe('the ops endpoint without a token', () => {
  it.each(['localhost', '127.0.0.1:9464', '[::1]:1', 'LOCALHOST:80'])('answers who calls it %s', async (host) => {
    const { ops } = await testOps();
    expect(await statusOf(ops.url, 'GET /readyz HTTP/1.1', `host: ${host}`)).not.toBe('421');
  });

  it.each(['shop.example', 'localhost.shop.example', '127.0.0.1.shop.example:9464', '0.0.0.0', ''])(
    'does not answer who calls it by another name: %j',
    async (host) => {
      const { ops } = await testOps();
      expect(await statusOf(ops.url, 'GET /readyz HTTP/1.1', `host: ${host}`)).toBe('421');
    },
  );
});

describe('the ops endpoint with a token', () => {
  it.each([
    ['none', {}],
    ['another', { authorization: 'Bearer canary-token-of-opt' }],
    ['its beginning', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }],
    ['an empty password', basic('ops:')],
    ['it as the name', basic(`${TOKEN}:`)],
  ])('refuses %s, and never shows the token', async (_name, headers) => {
    const { get, program } = await testOps({ token: TOKEN });
    const answer = await get('/', headers);
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('Basic')]);
    expect(await answer.text()).not.toContain(TOKEN);
    expect(JSON.stringify(program.log.lines)).not.toContain(TOKEN);
  });

  it.each([
    ['Bearer', { authorization: `Bearer ${TOKEN}` }],
    ['Basic, with any name', basic(`any:${TOKEN}`)],
  ])('takes it as %s, by each name of ops.hosts', async (_name, { authorization }) => {
    const { ops } = await testOps({ token: TOKEN, hosts: ['shop.example'] });
    const lines = ['GET /nothing HTTP/1.1', 'host: Shop.example:443', `authorization: ${authorization}`];
    expect(await statusOf(ops.url, ...lines)).toBe('404');
  });

  it.each([
    ['GET / HTTP/1.1', 'shop.example', '421'],
    ['GET /nothing HTTP/1.1', '', '421'],
    ['GET /events?account=default HTTP/1.1', '127.0.0.1.shop.example', '421'],
    ['POST /pause HTTP/1.1', 'shop.example', '421'],
    ['POST /metrics HTTP/1.1', 'shop.example', '421'],
    ['GET /readyz HTTP/1.1', 'shop.example', '200'],
    ['GET /metrics?x HTTP/1.1', 'shop.example', '200'],
    ['GET /livez HTTP/1.1', 'shop.example', '200'],
    ['GET / HTTP/1.1', '10.1.2.3:9464', '200'],
    ['GET / HTTP/1.1', '[2001:db8::1]:9464', '200'],
    ['GET / HTTP/1.1', 'localhost', '200'],
  ])('answers to %s by the name %j with %s', async (line, host, status) => {
    const { ops } = await testOps({ token: TOKEN, hosts: ['ops.shop.example'] });
    const headers = [`host: ${host}`, `origin: http://${host}`, `authorization: Bearer ${TOKEN}`];
    expect(await statusOf(ops.url, line, ...headers)).toBe(status);
  });

  it('tells everybody that it lives', async () => {
    const { get } = await testOps({ token: TOKEN });
    const answer = await get('/livez');
    expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok' }]);
  });
});

describe('the ops endpoint', () => {
  it('lets no page of it load, be framed by, or send to another site, nor be kept', async () => {
    const { get } = await testOps();
    for (const path of ['/livez', '/nothing']) {
      const { headers } = await get(path);
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; .*frame-ancestors 'none'/);
      expect(['x-content-type-options', 'referrer-policy', 'cache-control'].map((name) => headers.get(name))).toEqual([
        'nosniff',
        'same-origin',
        'no-store',
      ]);
    }
  });

  it.each([
    ['none', ''],
    ['null', 'null'],
    ['another site', 'https://shop.example'],
    ['another port', 'http://127.0.0.1:1'],
  ])('takes nothing but a GET from %s', async (_name, origin) => {
    const { ops } = await testOps();
    const headers: Record<string, string> = origin === '' ? {} : { origin };
    expect((await fetch(`${ops.url}/livez`, { method: 'POST', headers })).status).toBe(403);
  });

  it('has nothing that a POST of its own page changes', async () => {
    const { ops } = await testOps();
    const headers = { origin: ops.url ?? '' };
    for (const path of ['/', '/livez']) {
      expect((await fetch(`${ops.url}${path}`, { method: 'POST', headers })).status).toBe(404);
    }
  });

  it('answers 431 to a huge header, 400 to what is no HTTP, and continues', async () => {
    const { ops, get } = await testOps();
    expect(await statusOf(ops.url, 'GET /livez HTTP/1.1', 'host: localhost', `x: ${'y'.repeat(20_000)}`)).toBe('431');
    expect(await statusOf(ops.url, '\u0016\u0003\u0001')).toBe('400');
    expect((await get('/livez')).status).toBe(200);
  });

  it('answers others while a body does not come', async () => {
    const { ops, get } = await testOps();
    const slow = rawClient(ops.url ?? '');
    slow.send(`POST / HTTP/1.1\r\nhost: localhost\r\norigin: ${ops.url}\r\ncontent-length: 1000\r\n\r\nx`);
    expect((await get('/livez')).status).toBe(200);
    slow.destroy();
  });

  it('continues to try if another program has its port', async () => {
    const other = createServer();
    await once(other.listen(0, '127.0.0.1'), 'listening');
    const { port } = other.address() as AddressInfo;
    const { ops, program } = await testOps({ listen: { host: '127.0.0.1', port } });
    expect([ops.url, ops.failure]).toEqual([undefined, expect.any(String)]);
    expect(program.log.with(/ops.listen cannot be used/)).toHaveLength(1);
    await once(other.close(), 'close');
    const listening = program.log.next(/listening for ops/);
    program.clock.advance(30_000);
    await listening;
    expect((await fetch(`${ops.url}/livez`)).status).toBe(200);
    expect(ops.failure).toBeUndefined();
    expect(program.log.with(/ops.listen cannot be used/)).toHaveLength(1);
  });
});

it('says that it lives however many look on', async () => {
  const { ops, get } = await testOps();
  for (let viewer = 0; viewer < 140; viewer += 1) {
    const client = rawClient(ops.url ?? '');
    client.send('GET /events?account=default HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await client.until(/ 200 /);
  }
  expect((await get('/livez')).status).toBe(200);
});
