import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { getEventListeners, once } from 'node:events';
import { createServer, type ClientRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { createServer as createSecureServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { inspect } from 'node:util';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock, type Clock } from '../../../src/base/clock.ts';
import { REUSE_WITHIN_MS } from '../../../src/exchange/transport/connections.ts';
import { httpTransport } from '../../../src/exchange/transport/transport.ts';
import { TransportError, type Transport } from '../../../src/exchange/transport/http.ts';
import { SELF_SIGNED } from '../../support/self-signed.ts';
import { testClock } from '../../support/test-clock.ts';

const KEY = 'canary-key-5b1f';
const closing: (() => void | Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function listen(server: Server | ReturnType<typeof createTcpServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function transportTo(
  baseUrl: string,
  options: { timeoutMs?: number; maxResponseBytes?: number; apiKey?: () => string } = {},
  clock: Clock = systemClock(),
): Transport {
  const settings = { baseUrl, apiKey: () => KEY, timeoutMs: 60_000, maxResponseBytes: 1_000, ...options };
  const transport = httpTransport(settings, clock);
  closing.push(() => transport.close());
  return transport;
}

/** A server that notes the port each request came from: the same port is the same connection. */
async function portsOfRequests(
  answer: (response: ServerResponse) => void = (response) => response.end('{}'),
): Promise<{ url: string; ports: (number | undefined)[] }> {
  const ports: (number | undefined)[] = [];
  const url = await listen(
    createServer((request, response) => {
      ports.push(request.socket.remotePort);
      answer(response);
    }),
  );
  return { url, ports };
}

async function failure(sending: Promise<unknown>): Promise<TransportError> {
  const error = await sending.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(TransportError);
  return error as TransportError;
}

const GET = { method: 'GET', path: '/api/v1/merchant/orders?externalOrderId=a%2Fb' } as const;
const POST = { method: 'POST', path: '/api/v1/merchant/orders/request', body: '{"asset":1.50}' } as const;

describe('the transport', () => {
  it.each([GET, POST])(
    'takes no answer that switches protocols ($method), and keeps no socket of it',
    async (request) => {
      const { promise: closed, resolve } = Promise.withResolvers<void>();
      const server = createTcpServer((socket) => {
        socket.once('data', () =>
          socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
        );
        socket.once('close', () => resolve()).on('error', () => {});
      });
      const error = await failure(transportTo(await listen(server)).send(request));
      expect([error.sent, error.code]).toEqual(['perhaps', 'SWITCHED_PROTOCOLS']);
      await closed;
    },
  );

  it('reads a body with or without a byte order mark, and says of one that is no UTF-8 that it is none', async () => {
    const bodies = [Buffer.from('\uFEFF{"a":"é"}'), Buffer.from('{"a":"é"}', 'latin1')];
    const url = await listen(createServer((_request, response) => response.end(bodies.shift())));
    const transport = transportTo(url);
    expect(await transport.send(GET)).toEqual({ status: 200, body: '{"a":"é"}' });
    expect(await transport.send(GET)).toEqual({ status: 200, body: '{"a":"é"}', isUtf8: false });
  });

  it('sends the key, the path as encoded, and the body byte for byte', async () => {
    const seen: unknown[] = [];
    const url = await listen(
      createServer((request, response) => {
        let body = '';
        request.on('data', (chunk) => (body += String(chunk)));
        request.on('end', () => {
          seen.push([request.method, request.url, request.headers['x-api-key'], request.headers['content-type'], body]);
          response.end('{}');
        });
      }),
    );
    const transport = transportTo(`${url}/base/`);
    expect(await transport.send(GET)).toEqual({ status: 200, body: '{}' });
    await transport.send(POST);
    expect(seen).toEqual([
      ['GET', '/base/api/v1/merchant/orders?externalOrderId=a%2Fb', KEY, undefined, ''],
      ['POST', '/base/api/v1/merchant/orders/request', KEY, 'application/json', '{"asset":1.50}'],
    ]);
  });

  it('says never sent when the connection is refused', async () => {
    const server = createTcpServer();
    const url = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    expect((await failure(transportTo(url).send(POST))).sent).toBe('never');
  });

  it('says never sent when the name does not resolve', async () => {
    expect((await failure(transportTo('http://no-such-host.invalid').send(POST))).sent).toBe('never');
  });

  it('says never sent when TLS cannot be agreed on', async () => {
    const url = await listen(createTcpServer((socket) => socket.on('error', () => {}).end('this is not TLS\r\n')));
    expect((await failure(transportTo(url.replace('http:', 'https:')).send(POST))).sent).toBe('never');
  });

  it.each([POST, GET])('says perhaps sent when the connection is reset after it was made: $method', async (request) => {
    const url = await listen(createServer((_request, response) => response.socket?.resetAndDestroy()));
    expect((await failure(transportTo(url).send(request))).sent).toBe('perhaps');
  });

  it('says perhaps sent when no answer comes before the deadline', async () => {
    const url = await listen(createServer(() => {}));
    const error = await failure(transportTo(url, { timeoutMs: 50 }).send(POST));
    expect([error.sent, error.code]).toEqual(['perhaps', 'ETIMEDOUT']);
  });

  it.each(['http:', 'https:'])(
    'resets a connection of %s whose request got no answer, so that nothing of it arrives later',
    async (protocol) => {
      const authorities = getCACertificates();
      setDefaultCACertificates([...authorities, SELF_SIGNED.cert]);
      closing.push(() => setDefaultCACertificates(authorities));
      const isReset = Promise.withResolvers<unknown>();
      const server = protocol === 'http:' ? createServer(() => {}) : createTlsServer(SELF_SIGNED, () => {});
      server.on(protocol === 'http:' ? 'connection' : 'secureConnection', (socket: Socket) => {
        socket.on('error', (error) => isReset.resolve(error)).on('close', () => isReset.resolve('closed in order'));
      });
      const url = new URL(await listen(server));
      const transport = transportTo(`${protocol}//localhost:${url.port}`, { timeoutMs: 300 });
      const error = await failure(transport.send(POST));
      expect([error.sent, error.code]).toEqual(['perhaps', 'ETIMEDOUT']);
      expect(await isReset.promise).toMatchObject({ code: 'ECONNRESET' });
    },
  );

  it.each(['http:', 'https:'])(
    'sends no byte of a POST over %s that may leave no more once the connection is made',
    async (protocol) => {
      const authorities = getCACertificates();
      setDefaultCACertificates([...authorities, SELF_SIGNED.cert]);
      closing.push(() => setDefaultCACertificates(authorities));
      const [isOver, received] = [Promise.withResolvers<void>(), new Array<string>()];
      const server = protocol === 'http:' ? createTcpServer() : createSecureServer(SELF_SIGNED);
      server.on(protocol === 'http:' ? 'connection' : 'secureConnection', (socket: Socket) => {
        socket.on('data', (bytes) => received.push(bytes.toString()));
        socket.on('error', () => {}).on('close', () => isOver.resolve());
      });
      const url = new URL(await listen(server));
      const transport = transportTo(`${protocol}//localhost:${url.port}`);
      const error = await failure(transport.send({ ...POST, body: '{"asset":1}' }, undefined, () => false));
      expect([error.sent, error.code]).toEqual(['never', 'NOT_OWNER']);
      await isOver.promise;
      expect(received).toEqual([]);
    },
  );

  it('sends no byte of a POST on a kept connection that may leave no more', async () => {
    const { url, ports } = await portsOfRequests();
    const transport = transportTo(url, {}, testClock());
    await transport.send(POST);
    expect((await failure(transport.send(POST, undefined, () => false))).sent).toBe('never');
    await transport.send(POST);
    expect(ports).toHaveLength(2);
  });

  it('asks right before the bytes of each POST leave whether it may, also if several leave together', async () => {
    const { url } = await portsOfRequests();
    const transport = transportTo(url, {}, testClock());
    const made: ClientRequest[] = [];
    const note = (message: unknown) => void made.push((message as { request: ClientRequest }).request);
    subscribe('http.client.request.created', note);
    closing.push(() => void unsubscribe('http.client.request.created', note));
    const four = async (mayLeave: () => boolean) =>
      await Promise.all(['a', 'b', 'c', 'd'].map((body) => transport.send({ ...POST, body }, undefined, mayLeave)));
    await four(() => true);
    const waiting: number[] = [];
    // Right after a request was asked about, no byte of any may wait: the process may stand still at any time.
    const mayLeave = () => {
      const asked = made.slice(4);
      process.nextTick(() => waiting.push(...asked.map(({ socket }) => socket?.writableLength ?? 0)));
      return true;
    };
    await four(mayLeave);
    expect(new Set(made.map(({ socket }) => socket)).size).toBe(4);
    expect(waiting).toEqual(Array.from({ length: 16 }, () => 0));
  });

  it('asks whether a POST may leave only after the server was heard', async () => {
    const isConnected = new AbortController();
    const url = await listen(createTcpServer((socket) => isConnected.abort(socket.on('error', () => {}))));
    const mayLeave = vi.fn<() => boolean>(() => true);
    const sending = transportTo(url.replace('http:', 'https:')).send(POST, isConnected.signal, mayLeave);
    expect((await failure(sending)).sent).toBe('never');
    expect(mayLeave).not.toHaveBeenCalled();
  });

  it('says perhaps sent when the body stops short', async () => {
    const url = await listen(
      createServer((_request, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('{"id":', () => response.socket?.destroy());
      }),
    );
    expect((await failure(transportTo(url).send(POST))).sent).toBe('perhaps');
  });

  it('stops reading an answer at the size limit', async () => {
    const url = await listen(
      createServer((_request, response) => {
        response.on('error', () => {});
        const more = () => {
          while (!response.destroyed && response.write('x'.repeat(1_000)));
          if (!response.destroyed) response.once('drain', more);
        };
        more();
      }),
    );
    expect((await failure(transportTo(url).send(GET))).code).toBe('TOO_LARGE');
  });

  const answering = async (encoding: string, bytes: Buffer) =>
    await listen(
      createServer((_request, response) => response.writeHead(200, { 'content-encoding': encoding }).end(bytes)),
    );

  it.each([
    ['gzip', gzipSync('{"a":"é"}')],
    ['X-GZIP', gzipSync('{"a":"é"}')],
    ['br', brotliCompressSync('{"a":"é"}')],
    ['deflate', deflateSync('{"a":"é"}')],
    ['constructor', Buffer.from('{"a":"é"}')],
  ])('reads an answer whose encoding is %s', async (encoding, bytes) => {
    const { body } = await transportTo(await answering(encoding, bytes)).send(GET);
    expect(body).toBe('{"a":"é"}');
  });

  it.each([
    ['gzip', gzipSync(Buffer.alloc(1_000_000, ' ')), 'TOO_LARGE'],
    ['br', brotliCompressSync(Buffer.alloc(2_001, ' ')), 'TOO_LARGE'],
    ['gzip', Buffer.from('{"a":1}'), 'Z_DATA_ERROR'],
    ['gzip', gzipSync('{"a":1}').subarray(0, 12), 'Z_BUF_ERROR'],
  ])('keeps no more of an answer in %s than the limit, and none that is broken', async (encoding, bytes, code) => {
    const transport = transportTo(await answering(encoding, bytes), { maxResponseBytes: 2_000 });
    const error = await failure(transport.send(POST));
    expect([error.code, error.sent]).toEqual([code, 'perhaps']);
  });

  it('sends nothing to one in between whose certificate no authority has signed, whatever NODE_TLS_REJECT_UNAUTHORIZED says', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    let requests = 0;
    const server = createTlsServer(SELF_SIGNED, (_request, response) => {
      requests += 1;
      response.end('{}');
    });
    const url = (await listen(server)).replace('http:', 'https:');
    for (const request of [GET, POST]) expect((await failure(transportTo(url).send(request))).sent).toBe('never');
    expect(requests).toBe(0);
  });

  it('takes a redirect for an answer and does not follow it', async () => {
    const paths: unknown[] = [];
    const url = await listen(
      createServer((request, response) => {
        paths.push(request.url);
        response.writeHead(307, { location: '/elsewhere' }).end();
      }),
    );
    expect((await transportTo(url).send(POST)).status).toBe(307);
    expect(paths).toEqual([POST.path]);
  });

  describe('a request that has ended', () => {
    interface Ended {
      readonly request: ClientRequest;
      readonly response: IncomingMessage & { readonly request: Readonly<Record<string, unknown>> };
    }

    function endedRequests(): Ended[] {
      const ended: Ended[] = [];
      const note = (message: unknown) => ended.push(message as Ended);
      subscribe('http.client.response.finish', note);
      closing.push(() => void unsubscribe('http.client.response.finish', note));
      return ended;
    }

    function reachedFrom(start: object): ReadonlySet<unknown> {
      const reached = new Set<unknown>([start]);
      for (const one of reached) {
        for (const part of Object.values(one as object)) if (typeof part === 'object' && part) reached.add(part);
      }
      return reached;
    }

    it.each([GET, POST])('lets go of its options, its request and its answer ($method)', async (request) => {
      const ended = endedRequests();
      const { url } = await portsOfRequests();
      await transportTo(url).send(request);
      await systemClock().turn();
      const [{ request: sent, response } = expect.fail()] = ended;
      const { request: stream } = response;
      const reached = reachedFrom(stream);
      expect([stream['options'], reached.has(sent), reached.has(response)]).toEqual([undefined, false, false]);
    });

    it('keeps them while it is still being written, and fails nothing when it cannot be', async () => {
      const ended = endedRequests();
      const server = createTcpServer((socket) => {
        socket.once('data', () => {
          socket.pause();
          socket.write('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}');
        });
        socket.on('error', () => {});
        closing.push(() => void socket.destroy());
      });
      const transport = transportTo(await listen(server));
      expect(await transport.send({ ...POST, body: 'x'.repeat(20_000_000) })).toEqual({ status: 200, body: '{}' });
      const [{ request: sent, response } = expect.fail()] = ended;
      const isClosed = once(sent, 'close');
      for (const close of closing.splice(0).toReversed()) await close();
      await isClosed;
      await systemClock().turn();
      expect(response.request['options']).toBeDefined();
    });
  });

  it('sends a create on a kept connection only a moment after the last answer on it', async () => {
    const { url, ports } = await portsOfRequests();
    const clock = testClock();
    const transport = transportTo(url, {}, clock);
    await transport.send(POST);
    clock.advance(REUSE_WITHIN_MS);
    await transport.send(POST);
    clock.advance(REUSE_WITHIN_MS + 1);
    await transport.send(POST);
    const [first, second, third] = ports;
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });

  it('counts the idle time of a connection from its last answer', async () => {
    const { url, ports } = await portsOfRequests();
    const clock = testClock();
    const transport = transportTo(url, {}, clock);
    for (let sent = 0; sent < 3; sent += 1) {
      await transport.send(POST);
      clock.advance(REUSE_WITHIN_MS);
    }
    expect(new Set(ports).size).toBe(1);
  });

  it('never sends a create on a connection that look-ups keep', async () => {
    const { url, ports } = await portsOfRequests();
    const transport = transportTo(url, {}, testClock());
    await transport.send(GET);
    await transport.send(POST);
    expect(ports[1]).not.toBe(ports[0]);
  });

  it('sends look-ups on a kept connection, however long it was idle', async () => {
    const { url, ports } = await portsOfRequests();
    const clock = testClock();
    const transport = transportTo(url, {}, clock);
    await transport.send(GET);
    clock.advance(60_000);
    await transport.send(GET);
    expect(ports[1]).toBe(ports[0]);
  });

  it('says perhaps sent when a kept connection is reset', async () => {
    let requests = 0;
    const url = await listen(
      createServer((_request, response) => {
        requests += 1;
        if (requests === 1) response.end('{}');
        else response.socket?.resetAndDestroy();
      }),
    );
    const transport = transportTo(url, {}, testClock());
    await transport.send(POST);
    expect((await failure(transport.send(POST))).sent).toBe('perhaps');
    expect(requests).toBe(2);
  });

  it('keeps no connection on which an answer was not read to its end', async () => {
    const { url, ports } = await portsOfRequests((response) => response.end('x'.repeat(2_000)));
    const transport = transportTo(url, {}, testClock());
    await failure(transport.send(POST));
    await failure(transport.send(POST));
    expect(ports[1]).not.toBe(ports[0]);
  });

  it('says perhaps sent when the signal aborts after the connection was made', async () => {
    const stopping = new AbortController();
    const url = await listen(createServer(() => stopping.abort()));
    expect((await failure(transportTo(url).send(POST, stopping.signal))).sent).toBe('perhaps');
  });

  it('says never sent when the signal had aborted before', async () => {
    const { url, ports } = await portsOfRequests();
    expect((await failure(transportTo(url).send(POST, AbortSignal.abort()))).sent).toBe('never');
    expect(ports).toEqual([]);
  });

  it('leaves no listener on the signal', async () => {
    const { url } = await portsOfRequests();
    const { signal } = new AbortController();
    await transportTo(url).send(GET, signal);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it.each([
    ['as it is', (body: string) => body],
    ['with escaped slashes', (body: string) => body.replaceAll('/', String.raw`\/`)],
    [
      'with escaped signs',
      (body: string) => body.replaceAll('=', String.raw`\u003d`).replaceAll('+', String.raw`\u002B`),
    ],
    ['as in an address', (body: string) => body.replaceAll('/', '%2f').replaceAll('=', '%3D').replaceAll('+', '%2B')],
  ])('hides a key that the exchange quotes %s', async (_, encode) => {
    const keys = ['kV9/x2Qm+8sT0pLw4zR1uA==', '1/5=+'];
    const statuses = [200, 400];
    for (const key of keys) {
      for (const status of statuses) {
        const quoting = (text: string) => JSON.stringify({ message: `limit of ${text} reached` });
        const server = createServer((_request, response) => response.writeHead(status).end(encode(quoting(key))));
        const { body } = await transportTo(await listen(server), { apiKey: () => key }).send(GET);
        // In an ordinary answer a short key may be part of an amount.
        const isKept = key.length < 12 && status === 200;
        expect(body).toBe(isKept ? encode(quoting(key)) : quoting('<hidden>'));
      }
    }
  });

  it('carries no key and no body in its errors', async () => {
    const url = await listen(createServer((_request, response) => response.socket?.resetAndDestroy()));
    const error = await failure(transportTo(url).send({ ...POST, body: '"canary-body"' }));
    const shown = inspect(error, { depth: 20, showHidden: true }) + JSON.stringify(error);
    expect(shown).not.toMatch(/canary/);
  });
});
