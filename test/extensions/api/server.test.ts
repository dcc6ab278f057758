import { CLIENT_OPERATIONS } from '../../../src/extensions/clients/addresses.ts';
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { LONGEST_WAIT_MS, Owner, OwnerGoneError } from '../../../src/extensions/api/asking/client.ts';
import { OPERATE_OPERATIONS } from '../../../src/extensions/operate/addresses.ts';
import { UnusableIdError } from '../../../src/exchange/ids.ts';
import { serveControl } from '../../../src/extensions/api/server.ts';
import { ConfigError } from '../../../src/settings/config.ts';
import { socketTransport } from '../../../src/extensions/api/asking/transport.ts';
import { NoOwnerError } from '../../../src/extensions/shop/transport.ts';
import {
  askSocket,
  controlSocket,
  failureIn,
  scriptedControlSocket,
  served,
  type ServedSocket,
} from '../../support/control-socket.ts';
import type { ScriptedAnswer } from '../../support/scripted-exchange.ts';

/** The owner at a socket. */
function ownerAt(socketPath: string, { account = 'default', graceMs = 60_000 } = {}): Owner {
  return new Owner(socketTransport(socketPath), { account, graceMs });
}

const EMAIL = 'ada@canary.example';
const FOUND: ScriptedAnswer = { status: 200, body: '{"linkId":"link-1","status":"NEW"}' };

const POST_ORDERS = 'POST /orders HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';

/** A connection of a client that does as it likes. */
async function connect({ socketPath }: ServedSocket): Promise<Socket> {
  const socket = createConnection(socketPath);
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Sends a text as it is. Returns the answer, until the other side closes. */
async function raw(on: ServedSocket, text: string): Promise<string> {
  const socket = await connect(on);
  const received: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => received.push(chunk));
  socket.write(text);
  await once(socket, 'close');
  return Buffer.concat(received).toString();
}

describe('a request that the control socket cannot use', () => {
  it.each<[string, number, string, string, unknown?, Record<string, string>?]>([
    ['a body that is no JSON', 400, 'POST', '/clients', `{"email":"${EMAIL}`],
    ['a body that is empty', 400, 'POST', '/clients', ''],
    ['no body', 400, 'POST', '/clients'],
    ['a body that nests too deep', 400, 'POST', '/clients', '['.repeat(60_000)],
    ['a body of another kind', 400, 'POST', '/clients', [EMAIL]],
    ['a field that is not known', 400, 'POST', '/clients', { email: EMAIL, phone: '1' }],
    ['a field of another kind', 400, 'POST', '/clients', { email: { canary: EMAIL } }],
    ['a level that does not exist', 400, 'GET', '/clients/a/idv/OTHER'],
    ['an action of the level MAIN', 400, 'POST', '/clients/a/idv/photos', { level: 'MAIN', actionId: 'canary' }],
    ['no id to look for', 400, 'GET', '/orders'],
    ['two ids to look for', 400, 'GET', '/orders?externalOrderId=a&externalOrderId=b'],
    ['a body that is not JSON by its type', 415, 'POST', '/clients', EMAIL, { 'content-type': 'text/plain' }],
    ['a body that is too large', 413, 'POST', '/clients', { email: EMAIL.repeat(10_000) }],
    [
      'a body that is too large and does not say so',
      413,
      'POST',
      '/clients',
      { email: EMAIL.repeat(10_000) },
      { 'transfer-encoding': 'chunked' },
    ],
    ['a path that does not exist', 404, 'GET', '/client/a'],
    ['the root', 404, 'GET', '/'],
    ['a path that goes up', 404, 'GET', '/clients/a/../../links'],
    ['an id that is far too long', 414, 'GET', `/clients/${'a'.repeat(9_000)}`],
    ['a path that cannot be decoded', 400, 'GET', '/clients/%ff'],
  ])('is refused: %s (%i)', async (_name, status, method, path, body, headers = {}) => {
    const on = await controlSocket();
    const answer = await on.ask(method, path, body, { headers });
    const expected = { kind: 'invalid', reason: null, httpStatus: null, code: null, status: null };
    expect([answer.status, failureIn(answer)]).toMatchObject([status, expected]);
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(answer.text).not.toContain('canary');
    expect(on.program.sandbox.requests).toEqual([]);
    expect(on.log.lines).toEqual([]);
  });

  it.each([
    ['DELETE', '/clients/a', 'GET'],
    ['GET', '/clients', 'POST'],
    ['OPTIONS', '/orders?a=b', 'GET, POST'],
    ['HEAD', '/orders/adopt', 'GET, POST'],
  ])('is told the methods that there are: %s %s (405)', async (method, path, allow) => {
    const on = await controlSocket();
    const answer = await on.ask(method, path);
    expect([answer.status, answer.headers.allow]).toEqual([405, allow]);
    if (method !== 'HEAD') expect(failureIn(answer)).toMatchObject({ kind: 'invalid', reason: 'method-not-allowed' });
  });

  it.each(['/clients/link-1/follow', '/clients/link-1/sdk-token', '/sync'])(
    'is none if no body is wanted: POST %s with a type and nothing of it',
    async (path) => {
      const on = await controlSocket();
      await on.ask('POST', '/clients', { email: EMAIL });
      expect((await on.ask('POST', path, '')).status).toBe(200);
    },
  );

  it.each(['a/b', 'x'.repeat(1_000), '\u0001', '..'])(
    'reaches an order by its id, or is refused by itself: %j',
    async (id) => {
      const on = await controlSocket();
      const cancelled = async () =>
        await ownerAt(on.socketPath).ask(OPERATE_OPERATIONS.cancelOrder, { externalOrderId: id, reason: 'r' });
      if (id === '..') return await expect(cancelled()).rejects.toThrow(UnusableIdError);
      on.program.insert({ external_order_id: id });
      expect(await cancelled()).toMatchObject({ kind: 'ok' });
    },
  );

  it('does not reach what every object has', async () => {
    const on = await controlSocket();
    const answer = await on.ask('POST', '/clients', `{"email":"${EMAIL}","__proto__":{"reference":"x"}}`);
    expect(answer.status).toBe(400);
    expect(({} as Record<string, unknown>)['reference']).toBeUndefined();
  });

  it.each([
    ['is no HTTP', 'what is this\r\n\r\n', 400],
    ['has a head that is too large', `GET /links HTTP/1.1\r\nhost: x\r\nmore: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
  ])('is answered when it %s', async (_name, text, status) => {
    const on = await controlSocket();
    const answer = await raw(on, text);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toContain('content-type: application/problem+json\r\n');
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({
      type: 'urn:order-sync:problem:invalid',
      status,
      ok: false,
      error: { kind: 'invalid' },
    });
    expect((await on.ask('GET', '/links')).status).toBe(200);
  });
});

describe('a client that goes away', () => {
  it('before its turn has come: nothing is sent for it', async () => {
    const on = await scriptedControlSocket({ environment: { ORDER_SYNC_EXCHANGE_CONCURRENCY: '1' } });
    const first = Promise.withResolvers<void>();
    const released = Promise.withResolvers<ScriptedAnswer>();
    on.exchange.answer = () => {
      first.resolve();
      return released.promise;
    };
    const asked = on.ask('GET', '/clients/link-1');
    await first.promise;
    const second = handedOver(on);
    const leaving = new AbortController();
    const left = on.ask('GET', '/clients/b', undefined, { signal: leaving.signal });
    const { answer } = await second;
    leaving.abort();
    await expect(left).rejects.toThrow(/abort/);
    expect(await answer).toMatchObject({ kind: 'not-sent' });
    released.resolve(FOUND);
    expect((await asked).status).toBe(200);
    expect((await on.ask('GET', '/clients/link-1')).status).toBe(200);
    expect(on.exchange.requests.map(({ path }) => path.at(-1))).toEqual(['1', '1']);
  });

  it('while the exchange makes its link: the link is remembered all the same', async () => {
    const on = await scriptedControlSocket();
    const arrived = Promise.withResolvers<void>();
    const released = Promise.withResolvers<ScriptedAnswer>();
    on.exchange.answer = () => {
      arrived.resolve();
      return released.promise;
    };
    const leaving = new AbortController();
    const left = on.ask('POST', '/clients', { email: EMAIL }, { signal: leaving.signal });
    await arrived.promise;
    leaving.abort();
    await expect(left).rejects.toThrow(/abort/);
    on.stopping.abort();
    const closed = on.control.close();
    released.resolve(FOUND);
    await closed;
    const links = on.program.merchant.prepare('select link_id, status from links').all();
    expect(links).toEqual([{ link_id: 'link-1', status: 'NEW' }]);
  });

  it('in the middle of its request: others are served', async () => {
    const on = await controlSocket();
    const socket = await connect(on);
    socket.write(
      'POST /orders HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"ext',
    );
    socket.destroy();
    expect((await on.ask('GET', '/links')).status).toBe(200);
    expect(on.log.lines).toEqual([]);
  });

  it('is not needed: connections above 512 are closed, the others are served', async () => {
    const on = await controlSocket();
    const sockets = await Promise.all(Array.from({ length: 512 }, () => connect(on)));
    const closed = once(await connect(on), 'close');
    await closed;
    const [first = expect.fail()] = sockets;
    first.write('GET /links HTTP/1.1\r\nhost: x\r\n\r\n');
    const [chunk] = (await once(first, 'data')) as [Buffer];
    expect(chunk.toString()).toMatch(/^HTTP\/1\.1 200 OK/);
  });
});

describe('a control socket that stops', () => {
  it('answers what is in flight, gives up what waits, and takes nothing new', async () => {
    const on = await scriptedControlSocket({ environment: { ORDER_SYNC_EXCHANGE_CONCURRENCY: '1' } });
    const arrived = Promise.withResolvers<void>();
    const released = Promise.withResolvers<ScriptedAnswer>();
    on.exchange.answer = () => {
      arrived.resolve();
      return released.promise;
    };
    const inFlight = on.ask('GET', '/clients/link-1');
    await arrived.promise;
    const second = handedOver(on);
    const waiting = on.ask('GET', '/clients/b');
    await second;
    on.stopping.abort();
    const closed = on.control.close();
    const givenUp = await waiting;
    expect([givenUp.status, failureIn(givenUp).kind]).toEqual([503, 'not-sent']);
    await expect(on.ask('GET', '/links')).rejects.toMatchObject({ code: 'ENOENT' });
    on.program.clock.advance(10_000);
    released.resolve(FOUND);
    expect((await inFlight).status).toBe(200);
    await closed;
    expect(on.exchange.requests).toHaveLength(1);
    expect(existsSync(on.socketPath)).toBe(false);
  });

  it('sends whoever has just come on to the next owner', async () => {
    const on = await controlSocket();
    const asked = on.ask('GET', '/links');
    on.stopping.abort();
    const closed = on.control.close();
    for (let turns = 0; turns < 20; turns += 1) await on.program.clock.turn();
    on.program.clock.advance(1_000);
    const answer = await asked;
    expect([answer.status, failureIn(answer).kind]).toEqual([421, 'not-owner']);
    await closed;
  });

  it('is not held by half a request, by an idle connection, or by an answer that is not read', async () => {
    const on = await scriptedControlSocket();
    on.exchange.answer = () => ({ status: 200, body: `{"linkId":"a","status":"${'x'.repeat(1_000_000)}"}` });
    const half = await connect(on);
    half.resume().write(`${POST_ORDERS}content-length: 99\r\n\r\n{`);
    const idle = await connect(on);
    idle.resume();
    const unread = await connect(on);
    const asked = handedOver(on);
    unread.write('GET /clients/a HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(await (await asked).answer).toMatchObject({ kind: 'ok' });
    on.stopping.abort();
    const ended = Promise.all([once(half, 'close'), once(idle, 'close')]);
    const closed = on.control.close();
    for (let turns = 0; turns < 4; turns += 1) await on.program.clock.turn();
    on.program.clock.advance(1_000);
    await closed;
    await ended;
  });

  it('ends at once when there is no time left, whatever runs', async () => {
    const on = await scriptedControlSocket();
    const arrived = Promise.withResolvers<void>();
    on.exchange.answer = () => {
      arrived.resolve();
      return 'hang';
    };
    const asked = on.ask('GET', '/clients/a');
    await arrived.promise;
    on.stopping.abort();
    const closed = on.control.close();
    on.program.app.endGracePeriod();
    // The answer may still be on its way when the connection is closed.
    const seen = await asked.catch((error: unknown) => error);
    const { status, code } = seen as { status?: number; code?: string };
    expect([504, 'ECONNRESET']).toContain(status ?? code);
    await closed;
  });
});

describe('an account that the process does not drive', () => {
  it('is refused so that the caller asks its owner, and nothing is done', async () => {
    const on = await controlSocket();
    const row = { external_order_id: 'shop-1', asset: '1', from_currency: 'BTC', to_currency: 'EUR' };
    const answer = await on.ask('POST', '/orders?account=shop-2', row);
    expect([answer.status, failureIn(answer).kind]).toEqual([421, 'not-owner']);
    const other = ownerAt(on.socketPath, { account: 'shop-2' });
    await expect(other.ask(CLIENT_OPERATIONS.listLinks, { limit: 1 })).rejects.toThrow(NoOwnerError);
    await expect(other.sync({ scope: 'all', timeoutMs: 1_000 }).next()).rejects.toThrow(NoOwnerError);
    expect(on.program.merchant.prepare('select count(*) from merchant_orders').pluck().get()).toBe(0);
  });

  it.each([
    ['with its URL, if it has one', async () => 'https://worker-2.example', 'https://worker-2.example'],
    ['also if the database does not tell', () => Promise.reject(new Error('gone')), undefined],
  ])('has an owner that the answer names %s', async (_name, ownerUrl, owner) => {
    const { program } = await controlSocket();
    const [path, stopping] = [`${program.config.database.path}.other.sock`, new AbortController()];
    const control = await serveControl({ ...served(program.app), ownerUrl }, path, stopping.signal);
    onTestFinished(() => control.close());
    for (const [method, route] of [
      ['GET', '/clients/a?account=shop-2'],
      ['POST', '/sync?account=shop-2'],
    ] as const) {
      const answer = await askSocket(path, method, route);
      const told = (JSON.parse(answer.text) as { owner?: string }).owner;
      expect([answer.status, failureIn(answer).kind, told]).toEqual([421, 'not-owner', owner]);
    }
  });
});

describe('the file of the socket', () => {
  it('is a socket that its owner alone can open', async () => {
    const before = process.umask(0);
    onTestFinished(() => void process.umask(before));
    const on = await controlSocket();
    const found = statSync(on.socketPath);
    expect([found.isSocket(), (found.mode & 0o777).toString(8)]).toEqual([true, '600']);
  });

  it('takes the place of no other file, nor of a link to one', async () => {
    const on = await controlSocket();
    const file = `${on.socketPath}.file`;
    writeFileSync(file, 'kept');
    symlinkSync(file, `${file}.link`);
    for (const path of [file, `${file}.link`]) {
      await expect(serveControl(served(on.program.app), path, on.stopping.signal)).rejects.toThrow(/control\.socket/);
    }
    expect(readFileSync(`${file}.link`, 'utf8')).toBe('kept');
  });

  it('is not taken from a process that listens', async () => {
    const on = await controlSocket();
    await expect(serveControl(served(on.program.app), on.socketPath, on.stopping.signal)).rejects.toThrow(ConfigError);
    expect(await askSocket(on.socketPath, 'GET', '/links')).toMatchObject({ status: 200 });
  });

  it('is made anew if a process that is gone has left one', async () => {
    const on = await controlSocket();
    await on.control.close();
    const left = createServer().listen(`${on.socketPath}.old`);
    await once(left, 'listening');
    renameSync(`${on.socketPath}.old`, on.socketPath);
    left.close();
    await once(left, 'close');
    expect(statSync(on.socketPath).isSocket()).toBe(true);
    await expect(ownerAt(on.socketPath).ask(CLIENT_OPERATIONS.listLinks, { limit: 1 })).rejects.toThrow(NoOwnerError);
    const again = await serveControl(served(on.program.app), on.socketPath, on.stopping.signal);
    expect(await askSocket(on.socketPath, 'GET', '/links')).toMatchObject({ status: 200 });
    await again.close();
  });
});

describe('an owner that listens and does not answer to the end', () => {
  const PASS = { scope: 'all', timeoutMs: 1 } as const;

  /** The path of a socket that takes connections and requests, and says this and no more. */
  async function hung(said = '', onClose = () => {}): Promise<string> {
    const folder = mkdtempSync(join(tmpdir(), 'order-sync-'));
    const server = createServer((socket) => {
      socket.resume().on('error', () => {});
      socket.once('data', () => socket.write(said)).once('close', onClose);
    });
    onTestFinished(() => {
      server.close();
      rmSync(folder, { recursive: true, force: true });
    });
    server.listen(join(folder, 'owner.sock'));
    await once(server, 'listening');
    return join(folder, 'owner.sock');
  }

  it('leaves it open what became of the request', async () => {
    expect(
      await ownerAt(await hung(), { graceMs: 1 - LONGEST_WAIT_MS }).ask(CLIENT_OPERATIONS.listLinks, { limit: 1 }),
    ).toMatchObject({
      kind: 'unknown',
      why: expect.stringMatching(/did not answer in time; it is not known whether the operation was done/) as string,
    });
  });

  it('is waited for no longer if the answer comes in lines', async () => {
    const lines = ownerAt(await hung(), { graceMs: 1 }).sync(PASS);
    await expect(lines.next()).rejects.toThrow(new OwnerGoneError('the daemon did not answer in time; try again'));
  });

  it('is left alone by a reader that has read enough of its lines, however it ends then', async () => {
    const closed = Promise.withResolvers<void>();
    const said = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\n[1]\n\r\n';
    const lines = ownerAt(await hung(said, closed.resolve)).sync(PASS);
    expect(await lines.next()).toEqual({ done: false, value: [1] });
    await lines.return(undefined);
    await closed.promise;
  });
});

/** Resolves when the next look-up of a link is handed to the exchange client, with what is to come of it. */
function handedOver({ program }: ServedSocket): Promise<{ answer: Promise<unknown> }> {
  const { exchange } = program.app;
  const send = exchange.sendForPerson.bind(exchange);
  return new Promise((resolve) => {
    vi.spyOn(exchange, 'sendForPerson').mockImplementationOnce((...args) => {
      const answer = send(...args);
      resolve({ answer });
      return answer;
    });
  });
}
