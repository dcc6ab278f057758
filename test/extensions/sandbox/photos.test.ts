import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { inflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type LoggedDelivery, PHOTO_ODDITIES } from '../../../src/extensions/sandbox/photos.ts';
import { seededRandom } from '../../../src/extensions/sandbox/random.ts';
import { startSandbox } from '../../../src/extensions/sandbox/server.ts';
import { testClock } from '../../support/test-clock.ts';

const CLIENT = '/api/v1/merchant/client';
const TOKEN = 'canary-token-73';
const JPEG_START = 'ffd8ffe0';
const PNG_START = '89504e470d0a1a0a';

interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly contentType: string;
  readonly apiKey: unknown;
  readonly body: Buffer<ArrayBuffer>;
}

/** The merchant's side: keeps what arrives. */
async function receiver(status = 200) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const { method, url, headers } = request;
      const [contentType = '', apiKey] = [headers['content-type'], headers['x-api-key']];
      received.push({ method, url, contentType, apiKey, body: Buffer.from(body) });
      response.writeHead(status, { location: '/elsewhere' }).end('{"taken":true}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    received,
    url: `http://127.0.0.1:${port}/photos`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function setUp(photoUrl: string | undefined) {
  const ended: LoggedDelivery[] = [];
  let awaited = { count: 0, done: () => {} };
  const onDelivery = (delivery: LoggedDelivery) => {
    ended.push(delivery);
    if (ended.length >= awaited.count) awaited.done();
  };
  const options = { apiKey: 'k', clock: testClock(), random: seededRandom(1), onDelivery };
  const sandbox = await startSandbox({ ...options, photoUrl });
  const post = async (path: string, body: unknown, type = 'application/json') => {
    const headers = { 'x-api-key': 'k', 'content-type': type };
    const answer = await fetch(`${sandbox.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  return {
    sandbox,
    ask: (linkId: string, body: unknown, type?: string) =>
      post(`${CLIENT}/${linkId}/idv/photos/external/upload`, body, type),
    link: async (email: string) => String((await post(CLIENT, { email })).body['linkId']),
    /** Waits until this many deliveries have ended, and returns them. */
    async deliveries(count: number) {
      const { promise, resolve } = Promise.withResolvers<void>();
      awaited = { count, done: resolve };
      if (ended.length < count) await promise;
      return ended;
    },
    [Symbol.asyncDispose]: () => sandbox.close(),
  };
}

async function formOf({ body, contentType }: Received): Promise<FormData> {
  return await new Response(body, { headers: { 'content-type': contentType } }).formData();
}

async function filesOf(form: FormData): Promise<[name: string, type: string, content: Buffer][]> {
  return await Promise.all(
    form.getAll('file').map(async (file) => {
      if (!(file instanceof File)) throw new Error('a photo is no file');
      return [file.name, file.type, Buffer.from(await file.arrayBuffer())] as [string, string, Buffer];
    }),
  );
}

const textOf = ({ body }: Received) => body.toString('latin1');

describe('the photo delivery of the sandbox', () => {
  it('posts two images and the token to the delivery address, without the key', async () => {
    await using merchant = await receiver();
    await using program = await setUp(merchant.url);
    const linkId = await program.link('ada@shop.example');
    expect(await program.ask(linkId, { kycLevelType: 'MAIN', actionId: 'ignored-1', token: TOKEN })).toEqual({
      status: 200,
      body: { status: 'ok' },
    });
    expect(await program.deliveries(1)).toEqual([
      { at: '2026-01-05T12:00:00.000Z', linkId, level: 'MAIN', status: 200 },
    ]);
    const [received] = merchant.received;
    if (received === undefined) throw new Error('nothing arrived');
    expect(received).toMatchObject({ method: 'POST', url: '/photos', apiKey: undefined });
    const form = await formOf(received);
    expect([...form.keys()]).toEqual(['details', 'file', 'file']);
    expect(form.get('details')).toBe(`{"token":"${TOKEN}"}`);
    const files = await filesOf(form);
    expect(files.map(([name, type]) => [name, type])).toEqual([
      ['document.jpg', 'image/jpeg'],
      ['portrait.png', 'image/png'],
    ]);
    const [jpeg, png] = files.map(([, , content]) => content);
    expect(jpeg?.toString('hex')).toMatch(new RegExp(`^${JPEG_START}.*ffd9$`));
    expect(png?.toString('hex')).toMatch(new RegExp(`^${PNG_START}`));
    const idat = png?.indexOf('IDAT') ?? 0;
    expect(inflateSync(png?.subarray(idat + 4) ?? '').length).toBe(8 * (1 + 8 * 3));
    for (const content of [jpeg, png]) {
      expect(content?.toString('latin1')).toContain('sandbox link-1 MAIN');
      expect(content?.toString('latin1')).not.toContain('ignored');
    }
  });

  it('applies the action with LIVENESS, and forwards no token if none was given', async () => {
    await using merchant = await receiver();
    await using program = await setUp(merchant.url);
    const linkId = await program.link('ada@shop.example');
    await program.ask(linkId, { kycLevelType: 'LIVENESS', actionId: 'action-1' });
    await program.ask(linkId, { kycLevelType: 'LIVENESS', actionId: null, token: null });
    await program.deliveries(2);
    const forms = await Promise.all(merchant.received.map(formOf));
    expect(forms.map((form) => form.get('details'))).toEqual(['{}', '{}']);
    const names = (await Promise.all(forms.map(filesOf))).map((files) => files.map(([name]) => name));
    expect(names).toEqual([
      ['liveness-1.jpg', 'liveness-2.png'],
      ['liveness-1.jpg', 'liveness-2.png'],
    ]);
    const withAction = merchant.received.map((received) => textOf(received).includes('LIVENESS action-1'));
    expect(withAction.filter(Boolean).length).toBe(1);
  });

  it.each(PHOTO_ODDITIES)('can be odd by the e-mail address of the client: %s', async (oddity) => {
    await using merchant = await receiver();
    await using program = await setUp(merchant.url);
    const linkId = await program.link(`photos-${oddity}-1@shop.example`);
    await program.ask(linkId, { kycLevelType: 'MAIN', token: TOKEN });
    const ended = await program.deliveries(oddity === 'repeated' ? 2 : 1);
    expect(ended[0]).toMatchObject({ linkId, oddity, status: 200 });
    const [first, second] = merchant.received;
    if (first === undefined) throw new Error('nothing arrived');
    const lastBoundary = /\r\n--[\w-]+--\r\n$/;
    expect(lastBoundary.test(textOf(first))).toBe(oddity !== 'unfinished');
    expect(merchant.received.length).toBe(oddity === 'repeated' ? 2 : 1);
    if (second !== undefined) expect(second).toEqual(first);
    if (oddity === 'unfinished') return;
    const form = await formOf(first);
    expect([...form.keys()]).toEqual(
      oddity === 'details-last' ? ['file', 'file', 'details'] : ['details', 'file', 'file'],
    );
    const details = form.get('details');
    expect(details instanceof File).toBe(oddity === 'details-file');
    expect(details instanceof File ? await details.text() : details).toBe(`{"token":"${TOKEN}"}`);
    const [, , png] = (await filesOf(form))[1] ?? [];
    expect(png?.toString('hex').startsWith(PNG_START)).toBe(oddity !== 'not-an-image');
  });

  it('is refused if no delivery address is set, which the merchant may do later', async () => {
    await using merchant = await receiver();
    await using program = await setUp(undefined);
    const linkId = await program.link('ada@shop.example');
    const refused = await program.ask(linkId, { kycLevelType: 'MAIN', token: TOKEN });
    expect(refused).toEqual({ status: 400, body: { message: 'Upload url was not set', code: 'INVALID_VALUE' } });
    program.sandbox.exchange.photoUrl = merchant.url;
    expect((await program.ask(linkId, { kycLevelType: 'MAIN', token: TOKEN })).status).toBe(200);
    await program.deliveries(1);
    expect(merchant.received.length).toBe(1);
  });

  it.each([
    [{}, /^kycLevelType: /],
    [{ kycLevelType: 'OTHER' }, /^kycLevelType: /],
    [{ kycLevelType: null }, /^kycLevelType: /],
    [{ kycLevelType: 'MAIN', token: 7 }, /^token: /],
    [{ kycLevelType: 'LIVENESS', actionId: {} }, /^actionId: /],
    [{ kycLevelType: 'MAIN', url: 'http://elsewhere.example' }, /^body: Unrecognized key: "url"/],
    [[], /^body: must be a JSON object/],
  ])('is refused for the body %j', async (body, message) => {
    await using program = await setUp(undefined);
    const linkId = await program.link('ada@shop.example');
    expect(await program.ask(linkId, body)).toEqual({
      status: 400,
      body: { message: expect.stringMatching(message), code: '400', status: 'BAD_REQUEST' },
    });
    expect((await program.ask(linkId, { kycLevelType: 'MAIN' }, 'text/plain')).body['message']).toMatch(
      /^content-type/,
    );
  });

  it.each([
    [403, 403],
    [503, 503],
    [307, 307],
  ])('is made once, whatever the answer is: %i', async (status, logged) => {
    await using merchant = await receiver(status);
    await using program = await setUp(merchant.url);
    await program.ask(await program.link('ada@shop.example'), { kycLevelType: 'MAIN', token: TOKEN });
    expect((await program.deliveries(1)).map((delivery) => delivery.status)).toEqual([logged]);
    expect(merchant.received.length).toBe(1);
  });

  it('that reaches no receiver is logged without a status, and the token is in no log', async () => {
    const gone = await receiver();
    await gone[Symbol.asyncDispose]();
    await using program = await setUp(gone.url);
    await program.ask(await program.link('ada@shop.example'), { kycLevelType: 'MAIN', token: TOKEN });
    const ended = await program.deliveries(1);
    expect(ended).toMatchObject([{ status: null }]);
    const logs = await fetch(`${program.sandbox.url}/_sandbox/deliveries`);
    expect(await logs.json()).toEqual(ended);
    expect(program.sandbox.deliveries).toEqual(ended);
    expect(JSON.stringify([ended, program.sandbox.requests])).not.toMatch(/canary|ada@/);
  });

  it('is broken off when the sandbox is closed', async () => {
    const arrived = Promise.withResolvers<void>();
    const silent = createServer(() => arrived.resolve());
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const program = await setUp(`http://127.0.0.1:${(silent.address() as AddressInfo).port}/`);
    await program.ask(await program.link('ada@shop.example'), { kycLevelType: 'MAIN' });
    await arrived.promise;
    await program.sandbox.close();
    expect(await program.deliveries(1)).toMatchObject([{ status: null }]);
    silent.closeAllConnections();
    silent.close();
  });
});
