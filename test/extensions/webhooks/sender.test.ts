import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { programVersion } from '../../../src/base/version.ts';
import type { WebhookEndpoint } from '../../../src/extensions/webhooks/settings.ts';
import {
  isPublic,
  publicLookup,
  type Resolve,
  webhookSender,
  type SenderOptions,
} from '../../../src/extensions/webhooks/sender.ts';
import { SELF_SIGNED } from '../../support/self-signed.ts';
import { SECRET } from '../../support/webhooks.ts';

const MESSAGE = { id: 'evt_1', amount: '0.10' };

async function serve(listener: (...exchange: Parameters<RequestListener>) => unknown): Promise<number> {
  const server = createServer((...exchange) => void listener(...exchange)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

function senderTo(url: string, { allowPrivate = true, ...options }: Partial<WebhookEndpoint & SenderOptions> = {}) {
  const endpoint = { name: 'shop', url, secrets: [SECRET], events: [], allowPrivate };
  const sender = webhookSender({ endpoint, clock: systemClock(), ...options });
  onTestFinished(() => sender[Symbol.dispose]());
  return sender;
}

it('sends the message as JSON, signed as Standard Webhooks have it, with the version of the program', async () => {
  const heard = Promise.withResolvers<unknown>();
  const port = await serve(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { headers } = request;
    const verified = new Webhook(SECRET).verify(Buffer.concat(chunks), headers as Record<string, string>);
    heard.resolve([request.method, headers['content-type'], headers['user-agent'], verified]);
    response.end();
  });
  expect(await senderTo(`http://127.0.0.1:${port}/`).send(MESSAGE)).toEqual({ kind: 'taken' });
  expect(await heard.promise).toEqual(['POST', 'application/json', `order-sync/${programVersion()}`, MESSAGE]);
});

it('goes by the status of an answer of 10 MB, of garbage and of one that breaks off', async () => {
  const answers: readonly RequestListener[] = [
    (_request, response) => void response.writeHead(200).end(Buffer.alloc(10_000_000)),
    (_request, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('no gzip'),
    (_request, response) => {
      response.writeHead(200, { 'content-length': '10' }).write('half');
      setImmediate(() => response.destroy());
    },
  ];
  for (const answer of answers) {
    const port = await serve(answer);
    expect(await senderTo(`http://127.0.0.1:${port}/`).send(MESSAGE)).toEqual({ kind: 'taken' });
  }
});

it('follows no redirect, and waits for no answer that does not come', async () => {
  let redirected = 0;
  const port = await serve((request, response) => {
    if (request.url === '/elsewhere') redirected += 1;
    if (request.url === '/') response.writeHead(307, { location: '/elsewhere' }).end();
  });
  expect(await senderTo(`http://127.0.0.1:${port}/`).send(MESSAGE)).toMatchObject({ kind: 'unavailable' });
  const hanging = senderTo(`http://127.0.0.1:${port}/hangs`, { timeoutMs: 50 });
  expect(await hanging.send(MESSAGE)).toMatchObject({ kind: 'unavailable' });
  expect(redirected).toBe(0);
});

it('shows no event to one in between whose certificate nobody has signed', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  let requests = 0;
  const server = createTlsServer(SELF_SIGNED, (_request, response) => {
    requests += 1;
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const sender = senderTo(`https://localhost:${(server.address() as AddressInfo).port}/`);
  expect((await sender.send(MESSAGE)).kind).toBe('unavailable');
  expect(requests).toBe(0);
});

it('sends once more if the endpoint has closed a connection that was kept', async () => {
  let requests = 0;
  const port = await serve((request, response) => {
    requests += 1;
    if (requests === 2) request.socket.destroy();
    else response.end();
  });
  const sender = senderTo(`http://127.0.0.1:${port}/`);
  expect([await sender.send(MESSAGE), await sender.send(MESSAGE)]).toEqual([{ kind: 'taken' }, { kind: 'taken' }]);
  expect(requests).toBe(3);
});

it.each([
  '127.0.0.1',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '169.254.169.254',
  '2130706433',
  '0177.0.0.1',
  '0x7f.1',
  '127.1',
  '0',
])('connects to no address such as %s unless the endpoint allows it', async (host) => {
  const port = await serve((_request, response) => void response.end());
  const sender = senderTo(`http://${host}:${port}/`, { allowPrivate: false });
  expect(await sender.send(MESSAGE)).toMatchObject({
    kind: 'unavailable',
    cause: expect.stringContaining('not public'),
  });
});

it('connects to no private address that a name stands for, also where it stood for a public one before', async () => {
  let connections = 0;
  const port = await serve((_request, response) => {
    connections += 1;
    response.end();
  });
  const resolve: Resolve = (_host, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);
  const sender = senderTo(`http://shop.example:${port}/`, { allowPrivate: false, resolve });
  expect((await sender.send(MESSAGE)).kind).toBe('unavailable');
  expect(connections).toBe(0);
  const answers = [['93.184.215.14'], ['93.184.215.14', '10.0.0.1']];
  const lookup = publicLookup((_host, callback) =>
    callback(
      null,
      (answers.shift() ?? []).map((address) => ({ address, family: 4 })),
    ),
  );
  const codes: unknown[] = [];
  for (let times = 0; times < 2; times += 1) lookup('shop.example', { all: true }, (error) => codes.push(error?.code));
  expect(codes).toEqual([undefined, 'PRIVATE_ADDRESS']);
});

it.each([
  ['8.8.8.8', true],
  ['2606:4700::1111', true],
  ['10.1.2.3', false],
  ['100.64.0.1', false],
  ['172.31.255.255', false],
  ['172.32.0.1', true],
  ['192.168.0.1', false],
  ['169.254.1.1', false],
  ['168.63.129.16', false],
  ['::ffff:168.63.129.16', false],
  ['168.63.129.17', true],
  ['100.100.100.200', false],
  ['192.0.0.192', false],
  ['fd00:ec2::254', false],
  ['fd20:ce::254', false],
  ['fd00:42::42', false],
  ['0.0.0.0', false],
  ['224.0.0.1', false],
  ['255.255.255.255', false],
  ['::', false],
  ['::1', false],
  ['::ffff:8.8.8.8', false],
  ['64:ff9b::a00:1', false],
  ['2002:a00:1::', false],
  ['2001:0:1::', false],
  ['fd00::1', false],
  ['fe80::1', false],
  ['fe80::1%eth0', false],
  ['64:ff9b:1::a00:1', false],
  ['2001:db8::1', false],
  ['ff02::1', false],
  ['no address', false],
])('%s is an address of the internet: %s', (address, expected) => {
  expect(isPublic(address)).toBe(expected);
});
