import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { EXTENSIONS } from '../../../../src/extensions.ts';
import { serveApi } from '../../../../src/extensions/api/door/server.ts';
import { done } from '../../../../src/extensions/api/envelope.ts';
import { operation } from '../../../../src/extensions/api/operation.ts';
import { ConfigError } from '../../../../src/settings/config.ts';
import { askAt, failureIn, served } from '../../../support/control-socket.ts';
import { temporaryFolder } from '../../../support/folders.ts';
import { rawClient } from '../../../support/raw-client.ts';
import { apiSettingsIn, secretOf, servedApi, type ServedApi } from '../../../support/served-api.ts';

const ORDER = { external_order_id: 'shop-1', asset: '0.25', from_currency: 'BTC', to_currency: 'EUR' };
const REFUSED = 'requests without a valid token are refused';

/** Answers with what it is called with. */
const WHO = {
  name: 'who',
  operations: {
    who: {
      method: 'POST',
      scopes: ['orders', 'decide'],
      url: '/who',
      load: async () =>
        operation({
          tag: 'status',
          summary: 's',
          value: z.null(),
          errors: ['422'],
          run: async ({ caller, idempotencyKey = null }) => done({ name: caller.name, idempotencyKey }),
        }),
    },
  },
} as const;

const bearer = (secret: string) => ({ headers: { authorization: `Bearer ${secret}` } });

describe('a request to the API', () => {
  it('is done for who has a token, in the name of the token', async () => {
    const api = await servedApi({
      tokens: [{ name: 'shop' }, { name: 'desk' }],
      instead: { extensions: [...EXTENSIONS, WHO] },
    });
    const key = { headers: { 'idempotency-key': 'key-1' } };
    expect(JSON.parse((await api.ask('POST', '/who', undefined, key)).text)).toEqual({
      ok: true,
      value: { name: 'shop', idempotencyKey: 'key-1' },
    });
    const other = await api.ask('POST', '/who', undefined, {
      headers: { authorization: `bearer ${secretOf('desk')}` },
    });
    expect(JSON.parse(other.text)).toMatchObject({ value: { name: 'desk', idempotencyKey: null } });
  });

  it.each(['', 'a b', 'é', 'x'.repeat(201)])('takes no key that is not visible ASCII: %j', async (key) => {
    const api = await servedApi({ instead: { extensions: [WHO] } });
    const answer = await api.ask('POST', '/who', undefined, { headers: { 'idempotency-key': key } });
    expect([answer.status, failureIn(answer).kind]).toEqual([400, 'invalid']);
  });

  it.each([
    ['none', ''],
    ['another secret', `Bearer ${secretOf('other')}`],
    ['the beginning of a secret', `Bearer ${secretOf('shop').slice(0, -1)}`],
    ['no secret', 'Bearer '],
    ['two secrets', `Bearer ${secretOf('shop')} ${secretOf('shop')}`],
    ['a password', `Basic ${Buffer.from(`x:${secretOf('shop')}`).toString('base64')}`],
  ])('is refused with 401 if its token is %s, whatever it asks for', async (_name, authorization) => {
    const api = await servedApi();
    for (const [method, path] of [
      ['GET', '/status'],
      ['POST', '/orders'],
      ['DELETE', '/orders'],
      ['GET', '/nothing'],
    ] as const) {
      const answer = await api.ask(method, path, undefined, { headers: { authorization } });
      expect([answer.status, failureIn(answer).kind]).toEqual([401, 'unauthorized']);
      expect([answer.headers['www-authenticate'], answer.headers.connection]).toEqual(['Bearer', 'close']);
      expect(answer.text).not.toContain('canary');
    }
    expect(JSON.stringify(api.program.log.lines)).not.toContain('canary');
  });

  it('is named once a minute by its address if it has no token', async () => {
    const api = await servedApi();
    const wrong = bearer(secretOf('other'));
    await api.ask('GET', '/status', undefined, wrong);
    api.program.clock.advance(59_999);
    await api.ask('GET', '/status', undefined, wrong);
    expect(api.program.log.with(REFUSED)).toMatchObject([{ address: '127.0.0.1' }]);
    await askAt({ ...api.to, localAddress: '127.0.0.2' }, 'GET', '/status');
    api.program.clock.advance(1);
    await api.ask('GET', '/status', undefined, wrong);
    expect(api.program.log.with(REFUSED).map(({ address }) => address)).toEqual([
      '127.0.0.1',
      '127.0.0.2',
      '127.0.0.1',
    ]);
  });

  it.each([
    ['GET', '/status', 'read', 200],
    ['GET', '/status', 'orders', 403],
    ['POST', '/orders', 'orders', 201],
    ['POST', '/orders', 'read', 403],
    ['GET', '/links', 'clients', 200],
    ['GET', '/links', 'decide', 403],
    ['POST', '/probe', 'decide', 400],
    ['POST', '/probe', 'orders', 403],
    ['POST', '/sync', 'orders', 200],
    ['POST', '/sync', 'clients', 403],
  ] as const)('%s %s is answered to a token of the scope %s with %i', async (method, path, scope, status) => {
    const api = await servedApi({ tokens: [{ scopes: [scope] }] });
    const answer = await api.ask(method, path, path === '/orders' ? ORDER : undefined);
    expect(answer.status).toBe(status);
    if (status === 403) expect(failureIn(answer)).toMatchObject({ kind: 'forbidden' });
  });

  it.each([
    ['GET', '/status', 403],
    ['GET', '/status?account=all', 403],
    ['GET', '/status?account=shop-2', 200],
    ['GET', '/status?account=shop-2&account=default', 400],
    ['POST', '/orders?account=shop-2', 421],
    ['POST', '/orders?account=default', 403],
    ['POST', '/sync?account=default', 403],
    ['GET', '/events?account=default', 403],
    ['GET', '/events?account=', 400],
    ['GET', '/nothing?account=default', 404],
  ])('%s %s is answered to a token of another account with %3$i', async (method, path, status) => {
    const api = await servedApi({ tokens: [{ accounts: ['shop-2'] }] });
    const answer = await api.ask(method, path, path.startsWith('/orders') ? ORDER : undefined);
    expect(answer.status).toBe(status);
  });

  it.each<[number, string, string, unknown?]>([
    [404, 'GET', '/nothing'],
    [405, 'PUT', '/orders'],
    [413, 'POST', '/orders', { ...ORDER, payment_token: 'canary'.repeat(20_000) }],
    [400, 'POST', '/orders', { ...ORDER, canary: 'canary' }],
    [400, 'POST', '/orders', `{"external_order_id":"canary`],
    [415, 'POST', '/who'],
  ])('is refused with %i as on the socket, and nothing of it is logged', async (status, method, path, body) => {
    const api = await servedApi({ instead: { extensions: [...EXTENSIONS, WHO] } });
    const options = status === 415 ? { headers: { 'content-type': 'text/plain', 'content-length': '1' } } : {};
    const answer = await api.ask(method, path, status === 415 ? 'x' : body, options);
    expect([answer.status, failureIn(answer).kind]).toEqual([status, 'invalid']);
    if (status === 405) expect(answer.headers.allow).toBe('GET, POST');
    expect(JSON.stringify(api.program.log.lines)).not.toContain('canary');
  });
});

describe('the rate of a token', () => {
  it('is a bucket of its own, and says when the next request may come', async () => {
    const api = await servedApi({ tokens: [{ rate: 2 }, { name: 'desk', rate: 1 }] });
    const statuses = async (count: number, options = {}) => {
      const answers = [];
      for (let asked = 0; asked < count; asked += 1) answers.push(await api.ask('GET', '/nothing', undefined, options));
      return answers.map(({ status }) => status);
    };
    expect(await statuses(3)).toEqual([404, 404, 429]);
    expect(await statuses(1, bearer(secretOf('desk')))).toEqual([404]);
    const late = await api.ask('GET', '/status');
    expect([late.headers['retry-after'], failureIn(late).kind]).toEqual(['1', 'limited']);
    api.program.clock.advance(500);
    expect(await statuses(2)).toEqual([404, 429]);
    api.program.clock.advance(60_000);
    expect(await statuses(3)).toEqual([404, 404, 429]);
  });
});

describe('the file of a secret', () => {
  const statusWith = async (api: ServedApi, secret: string) =>
    (await api.ask('GET', '/status', undefined, bearer(secret))).status;
  const NOTICE = 'a token is refused until its file can be used';

  it('is read again when it has changed', async () => {
    const api = await servedApi();
    const [file = ''] = api.files;
    writeFileSync(`${file}.new`, 'another-secret'.repeat(3), { mode: 0o600 });
    renameSync(`${file}.new`, file);
    expect(await statusWith(api, secretOf('shop'))).toBe(200);
    api.program.clock.advance(1_000);
    expect(await statusWith(api, secretOf('shop'))).toBe(401);
    expect(await statusWith(api, 'another-secret'.repeat(3))).toBe(200);
  });

  it.each<[string, (file: string) => void]>([
    ['is gone', (file) => rmSync(file)],
    ['can be read by others', (file) => chmodSync(file, 0o644)],
    ['holds a secret that is too short', (file) => writeFileSync(file, 'short')],
    ['is empty', (file) => writeFileSync(file, '')],
  ])('opens nothing while it %s, and the log says so once', async (_name, spoil) => {
    const api = await servedApi({ tokens: [{}, { name: 'desk' }] });
    const [file = ''] = api.files;
    spoil(file);
    for (let second = 0; second < 3; second += 1) {
      api.program.clock.advance(1_000);
      for (const secret of [secretOf('shop'), 'short']) expect(await statusWith(api, secret)).toBe(401);
    }
    expect(await statusWith(api, secretOf('desk'))).toBe(200);
    expect(api.program.log.with(NOTICE)).toMatchObject([{ token: 'shop' }]);
    writeFileSync(file, secretOf('shop'), { mode: 0o600 });
    chmodSync(file, 0o600);
    api.program.clock.advance(1_000);
    expect(await statusWith(api, secretOf('shop'))).toBe(200);
    expect(JSON.stringify(api.program.log.lines)).not.toContain('canary');
  });

  it('has no secret of another token', async () => {
    await expect(servedApi({ tokens: [{}, { name: 'desk', secret: secretOf('shop') }] })).rejects.toThrow(ConfigError);
  });
});

describe('with a certificate, the API', () => {
  it('speaks TLS, and nothing to who does not', async () => {
    const api = await servedApi({ isTls: true });
    expect(api.url).toMatch(/^https:/);
    expect((await api.ask('GET', '/status')).status).toBe(200);
    await expect(askAt({ ...api.to, protocol: 'http:' }, 'GET', '/status')).rejects.toThrow(/hang up|ECONNRESET/);
  });

  it('does not begin if the files cannot be used', async () => {
    const { program } = await servedApi();
    const folder = temporaryFolder();
    const settings = apiSettingsIn(folder, [{}], true);
    writeFileSync(join(folder, 'cert.pem'), 'no certificate');
    const { signal } = new AbortController();
    await expect(serveApi(served(program.app), settings, signal)).rejects.toThrow(ConfigError);
    chmodSync(join(folder, 'key.pem'), 0o644);
    await expect(serveApi(served(program.app), settings, signal)).rejects.toThrow(/chmod 600/);
  });
});

describe('an id in a path', () => {
  it.each(['a/b', 'a%2Fb', 'a b+c', '..', 'adopt', '__proto__', "a'--", 'é', '🙂', 'x'.repeat(1_000)])(
    'reaches the row that it names: %j',
    async (external_order_id) => {
      const api = await servedApi();
      api.program.insert({ external_order_id }, { external_order_id: 'other' });
      const answer = await api.ask('GET', `/orders/${encodeURIComponent(external_order_id)}`);
      expect([answer.status, JSON.parse(answer.text)]).toMatchObject([
        200,
        { value: { order: { external_order_id } } },
      ]);
    },
  );

  it.each([
    ['%00', 404],
    ['a%00b', 404],
    ['%ED%A0%80', 400],
    ['%', 400],
    ['x'.repeat(8_001), 414],
  ])('is refused if it names none: %s', async (id, status) => {
    const api = await servedApi();
    expect((await api.ask('GET', `/orders/${id}`)).status).toBe(status);
  });
});

describe('a client of the API', () => {
  it('that takes nothing of its answer is cut', async () => {
    const wait = Reflect.get(Socket.prototype, 'setTimeout');
    vi.spyOn(Socket.prototype, 'setTimeout').mockImplementation(function (this: Socket, ms, then) {
      return wait.call(this, ms === 30_000 ? 50 : ms, then);
    });
    const api = await servedApi({ instead: { extensions: [LARGE] } });
    const client = new Socket().connect(Number(api.to.port), '127.0.0.1');
    onTestFinished(() => void client.destroy());
    client.on('error', () => {});
    client.pause();
    client.write(`GET /large HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${secretOf('shop')}\r\n\r\n`);
    expect(await cut.promise).toBe('gone');
  });

  it('that has begun to ask, or follows events, does not hold up the stop', async () => {
    const api = await servedApi();
    const head = `authorization: Bearer ${secretOf('shop')}\r\nhost: x\r\n`;
    const follower = rawClient(api.url);
    follower.send(`GET /events HTTP/1.1\r\n${head}accept: text/event-stream\r\n\r\n`);
    await follower.until(/text\/event-stream/);
    const half = rawClient(api.url);
    half.send(`POST /orders HTTP/1.1\r\n${head}content-type: application/json\r\ncontent-length: 99\r\n\r\n{`);
    expect((await api.ask('GET', '/status')).status).toBe(200);
    const closed = api.close();
    for (let turns = 0; turns < 4; turns += 1) await api.program.clock.turn();
    api.program.clock.advance(1_000);
    await Promise.all([closed, follower.closed, half.closed]);
    await expect(api.ask('GET', '/status')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});

const cut = Promise.withResolvers<'gone'>();
/** Answers with more than a connection holds by itself. */
const LARGE = {
  name: 'large',
  operations: {
    large: {
      method: 'GET',
      scopes: ['read'],
      url: '/large',
      load: async () =>
        operation({
          tag: 'status',
          summary: 's',
          value: z.string(),
          errors: [],
          run: async (_deps, _input, signal) => {
            signal?.addEventListener('abort', () => cut.resolve('gone'));
            return done('x'.repeat(50_000_000));
          },
        }),
    },
  },
} as const;
