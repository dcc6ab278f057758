import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ConfigError } from '../../src/config.ts';
import { makeLink } from '../../src/flows/links.ts';
import { requestPhotos } from '../../src/flows/photos.ts';
import { servePhotos, type PhotoReceiver } from '../../src/http/photo-receiver.ts';
import { systemClock } from '../../src/clock.ts';
import type { LoggedDelivery } from '../../src/sandbox/delivery.ts';
import { PHOTO_ODDITIES } from '../../src/sandbox/photos.ts';
import { seededRandom } from '../../src/sandbox/random.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { BOUNDARY, detailsPart, filePart, head, multipart, part } from '../support/multipart.ts';
import { JPEG, photoBench, PNG, type PhotoBench } from '../support/photo-bench.ts';
import { rawClient, type RawClient } from '../support/raw-client.ts';

const MINUTE = 60_000;

interface Receiving extends PhotoBench {
  readonly receiver: PhotoReceiver;
  readonly url: string;
  readonly stop: AbortController;
}

/** A receiver that listens on loopback; limits are given as in the environment. */
async function receiving(limits: Readonly<Record<string, string>> = {}): Promise<Receiving> {
  const environment = Object.fromEntries(
    Object.entries(limits).map(([name, value]) => [`ORDER_SYNC_PHOTOS_${name}`, value]),
  );
  const on = await photoBench({ environment });
  const stop = new AbortController();
  const receiver = await servePhotos(on.bench.app, { host: '127.0.0.1', port: 0 }, stop.signal);
  onTestFinished(async () => {
    on.bench.app.giveUp();
    await receiver.close();
  });
  return { ...on, receiver, url: receiver.url, stop };
}

/** Posts a body made by hand. */
async function post(url: string, body: Buffer, type = `multipart/form-data; boundary=${BOUNDARY}`) {
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': type }, body: new Uint8Array(body) });
  return { status: answer.status, text: await answer.text() };
}

/** Parts that are not ours. By default a delivery may have 28 parts. */
function others(count: number): Buffer[] {
  return Array.from({ length: count }, () => part(['Content-Disposition: form-data; name="other"'], 'x'));
}

/** A connection whose request was taken: the rest of its body is awaited. */
async function begun(url: string, length: number, first: Buffer): Promise<RawClient> {
  const client = rawClient(url);
  client.send(`${head(`content-length: ${length}`, 'expect: 100-continue')}\r\n`);
  await client.until(/^HTTP\/1\.1 100 /);
  client.send(first);
  return client;
}

/** Resolves when the receiver has begun to write a file of a delivery that is not whole yet. */
async function fileIsOpen(on: Receiving): Promise<void> {
  while (!on.files().some((path) => /^\.incoming\/[0-9a-f]+\/./.test(path))) await systemClock().turn();
}

/** What is stored, and what is left over. */
function kept(on: PhotoBench): unknown {
  return { rows: on.rows(), files: on.files() };
}
const NOTHING = { rows: [], files: [] };

/** Whether the receiver still takes what is right. */
async function isAlive(on: Receiving): Promise<boolean> {
  const before = on.rows().length;
  const token = await on.ask();
  const { status } = await post(on.url, multipart(detailsPart(token), filePart(JPEG)));
  return status === 200 && on.rows().length === before + 1;
}

/** The files that the table knows. */
function known(on: PhotoBench): string[] {
  return on
    .rows()
    .map((row) => String(row['stored_name']))
    .toSorted();
}

function stored(on: PhotoBench): unknown[] {
  return on
    .rows()
    .map((row) => [row['original_name'], row['type'], readFileSync(join(on.folder, String(row['stored_name'])))]);
}

describe('curl -F', () => {
  async function curl(...args: string[]): Promise<{ status: number; text: string }> {
    const child = spawn('curl', ['--silent', '--show-error', '--write-out', '\n%{http_code}', ...args]);
    let output = '';
    child.stdout.on('data', (text) => (output += String(text)));
    child.stderr.on('data', (text) => (output += String(text)));
    const [problem] = (await Promise.race([
      once(child, 'close').then(() => []),
      once(child, 'error').catch((error: unknown) => [error]),
    ])) as [Error?];
    if (problem !== undefined) throw new Error(`this test needs curl on the machine: ${problem.message}`);
    const [, text = '', status = ''] = /^([^]*)\n(\d+)$/.exec(output) ?? [];
    return { status: Number(status), text };
  }

  async function withFiles() {
    const on = await receiving();
    const own = mkdtempSync(join(tmpdir(), 'order-sync-'));
    onTestFinished(() => rmSync(own, { recursive: true, force: true }));
    const large = Buffer.concat([PNG, Buffer.alloc(3_000_000, 7)]);
    writeFileSync(join(own, 'small.jpg'), JPEG);
    writeFileSync(join(own, 'large.png'), large);
    const files = ['-F', `file=@${own}/small.jpg`, '-F', `file=@${own}/large.png;type=image/png`];
    const content = [
      ['small.jpg', 'image/jpeg', JPEG],
      ['large.png', 'image/png', large],
    ];
    return { on, own, files, content };
  }

  it('delivers with details as a field, before or after the files, and once only', async () => {
    const { on, files, content } = await withFiles();
    const details = ['-F', `details={"token":"${await on.ask()}"};type=application/json`];
    expect(await curl(...details, ...files, on.url)).toEqual({ status: 200, text: '{"status":"stored"}' });
    expect(await curl(...files, ...details, on.url)).toEqual({ status: 200, text: '{"status":"repeated"}' });
    expect(stored(on)).toEqual(content);
  });

  it('delivers with details as a file, and with a body in chunks', async () => {
    const { on, own, files, content } = await withFiles();
    writeFileSync(join(own, 'details.json'), JSON.stringify({ token: await on.ask() }));
    const chunked = ['-H', 'transfer-encoding: chunked', '-H', 'expect:'];
    const args = [...chunked, ...files, '-F', `details=@${own}/details.json`, on.url];
    expect(await curl(...args)).toEqual({ status: 200, text: '{"status":"stored"}' });
    expect(stored(on)).toEqual(content);
  });

  it('is told 403 for a token that is not known', async () => {
    const { on, files } = await withFiles();
    expect(await curl(...files, '-F', 'details={"token":"canary"}', on.url)).toMatchObject({ status: 403 });
    expect(kept(on)).toEqual(NOTHING);
  });
});

describe("undici's FormData", () => {
  it('delivers with details as text or as a blob', async () => {
    const on = await receiving();
    for (const asBlob of [false, true]) {
      const form = new FormData();
      form.append('file', new Blob([new Uint8Array(JPEG)], { type: 'image/jpeg' }), 'gesicht ü "1".jpg');
      const details = JSON.stringify({ token: await on.ask() });
      form.append('details', asBlob ? new Blob([details], { type: 'application/json' }) : details);
      const answer = await fetch(on.url, { method: 'POST', body: form });
      expect([answer.status, await answer.json()]).toEqual([200, { status: 'stored' }]);
    }
    expect(stored(on)).toEqual([1, 2].map(() => ['gesicht ü %221%22.jpg', 'image/jpeg', JPEG]));
  });
});

describe('a body made by hand', () => {
  it.each([
    ['details last', (token: string) => [filePart(JPEG), filePart(PNG), detailsPart(token)]],
    ['details between', (token: string) => [filePart(JPEG), detailsPart(token), filePart(PNG)]],
    [
      'details as a file part',
      (token: string) => [
        part(['Content-Disposition: form-data; name="details"; filename="blob"'], JSON.stringify({ token })),
        filePart(JPEG),
        filePart(PNG),
      ],
    ],
    [
      'details that say they are JSON',
      (token: string) => [detailsPart(token, 'Content-Type: application/json'), filePart(JPEG), filePart(PNG)],
    ],
    [
      'files without a name or a type',
      (token: string) => [
        detailsPart(token),
        ...[JPEG, PNG].map((content) => part(['content-disposition: form-data; name=file'], content)),
      ],
    ],
    [
      'parts that are not ours',
      (token: string) => [
        part(['Content-Disposition: form-data; name="__proto_"'], 'x'),
        part(['X-No-Disposition: 1'], 'x'),
        filePart(JPEG),
        part(['Content-Disposition: form-data; name="other"; filename="a.jpg"'], JPEG),
        detailsPart(token),
        filePart(PNG),
      ],
    ],
    [
      'as many other parts as there may be',
      (token: string) => [detailsPart(token), ...others(25), filePart(JPEG), filePart(PNG)],
    ],
    [
      'a long head of a part',
      (token: string) => [
        detailsPart(token),
        filePart(JPEG),
        part(['Content-Disposition: form-data; name="file"', `X-Pad: ${'x'.repeat(1_000_000)}`], PNG),
      ],
    ],
    [
      'text before the first part and after the last',
      (token: string) => [Buffer.from('hello\r\n'), detailsPart(token), filePart(JPEG), filePart(PNG)],
    ],
  ])('delivers with %s', async (_what, parts) => {
    const on = await receiving();
    const body = Buffer.concat([multipart(...parts(await on.ask())), Buffer.from('goodbye')]);
    expect(await post(on.url, body)).toEqual({ status: 200, text: '{"status":"stored"}' });
    expect(on.rows().map(({ type }) => type)).toEqual(['image/jpeg', 'image/png']);
    expect(on.files()).toHaveLength(2);
  });

  it('delivers in chunks of one byte', async () => {
    const on = await receiving();
    const body = multipart(filePart(JPEG), detailsPart(await on.ask()), filePart(PNG));
    const client = rawClient(on.url);
    client.send(`${head('transfer-encoding: chunked')}\r\n`);
    for (const byte of body) client.send(Buffer.from([0x31, 13, 10, byte, 13, 10]));
    client.send('0\r\n\r\n');
    await client.until(/^HTTP\/1\.1 200 [^]*"stored"/);
    expect(on.files()).toHaveLength(2);
    client.destroy();
  });

  it.each([
    ['../../x', 'x'],
    ['..', ''],
    ['C:\\\\windows\\\\x.jpg', 'x.jpg'],
    ['CON', 'CON'],
    ['CON.jpg', 'CON.jpg'],
    ['.htaccess', '.htaccess'],
    ['a\0.php', 'a\\u0000.php'],
    ['\x1b[2J.jpg', '\\u001b[2J.jpg'],
    ['\xe2\x80\xaegpj.exe', '\\u202egpj.exe'],
    ['\xff\xfe.jpg', '\ufffd\ufffd.jpg'],
    ['x'.repeat(5_000), 'x'.repeat(255)],
  ])('may name its file %j, which only becomes text', async (name, text) => {
    const on = await receiving();
    const body = multipart(detailsPart(await on.ask()), filePart(JPEG, name));
    expect(await post(on.url, body)).toMatchObject({ status: 200 });
    expect(stored(on)).toEqual([[text, 'image/jpeg', JPEG]]);
    expect(on.files()).toEqual([expect.stringMatching(/^[0-9a-f]{32}\/[0-9a-f]{32}\/[0-9a-f]{32}\.jpg$/)]);
  });

  it.each<[string, number, (token: string) => Buffer]>([
    ['no last boundary', 400, (token) => Buffer.concat([detailsPart(token), filePart(JPEG)])],
    ['a last part that is cut off', 400, (token) => multipart(detailsPart(token), filePart(JPEG)).subarray(0, -40)],
    [
      'a head of a part that is cut off',
      400,
      (token) => Buffer.concat([detailsPart(token), filePart(JPEG).subarray(0, 30)]),
    ],
    ['a last boundary with one dash', 400, (token) => multipart(detailsPart(token), filePart(JPEG)).subarray(0, -3)],
    ['nothing', 400, () => Buffer.alloc(0)],
    ['only a boundary', 400, () => multipart()],
    [
      'another boundary',
      400,
      (token) => Buffer.from(multipart(detailsPart(token)).toString().replaceAll(BOUNDARY, 'x')),
    ],
    ['no details', 400, () => multipart(filePart(JPEG))],
    ['no files', 400, (token) => multipart(detailsPart(token))],
    ['two details', 400, (token) => multipart(detailsPart(token), detailsPart(token), filePart(JPEG))],
    [
      'details that are no JSON',
      400,
      () => multipart(part(['Content-Disposition: form-data; name="details"'], '{"token":'), filePart(JPEG)),
    ],
    [
      'details that nest deeply',
      400,
      () => multipart(part(['Content-Disposition: form-data; name="details"'], '['.repeat(4_000)), filePart(JPEG)),
    ],
    [
      'a part called toString',
      400,
      (token) =>
        multipart(part(['Content-Disposition: form-data; name="toString"'], 'x'), detailsPart(token), filePart(JPEG)),
    ],
    [
      'a part called __proto__',
      400,
      (token) =>
        multipart(
          part(['Content-Disposition: form-data; name="__proto__"; filename="a"'], 'x'),
          detailsPart(token),
          filePart(JPEG),
        ),
    ],
    [
      'an SVG called .jpg',
      400,
      (token) => multipart(detailsPart(token), filePart('<svg onload="alert(1)"/>', 'face.jpg')),
    ],
    [
      'a good file and a script',
      400,
      (token) => multipart(detailsPart(token), filePart(JPEG), filePart('#!/bin/sh', 'a.png', 'image/png')),
    ],
    ['an empty file', 400, (token) => multipart(detailsPart(token), filePart(''))],
    [
      '10,000 empty parts',
      413,
      (token) =>
        multipart(
          detailsPart(token),
          ...Array<Buffer>(10_000).fill(part(['Content-Disposition: form-data; name="x"'], '')),
        ),
    ],
    [
      '10,000 parts without a head',
      413,
      (token) => multipart(detailsPart(token), ...Array<Buffer>(10_000).fill(part([], 'x'))),
    ],
    ['10,000 files', 413, (token) => multipart(detailsPart(token), ...Array<Buffer>(10_000).fill(filePart(JPEG)))],
    ['one part too many', 413, (token) => multipart(detailsPart(token), filePart(JPEG), ...others(27))],
    [
      'a head of a part that hides its name',
      400,
      (token) =>
        multipart(
          detailsPart(token),
          part([`X-Pad: ${'x'.repeat(100_000)}`, 'Content-Disposition: form-data; name="file"'], JPEG),
        ),
    ],
    ['details as long as a book', 413, () => multipart(detailsPart('x'.repeat(1_000_000)), filePart(JPEG))],
  ])('with %s is answered %d and leaves nothing', async (_what, status, body) => {
    const on = await receiving();
    const token = await on.ask();
    const answer = await post(on.url, body(token));
    expect(answer).toMatchObject({ status, text: expect.stringContaining('"refused"') });
    expect(kept(on)).toEqual(NOTHING);
    expect(on.log.with(/was refused/)).toHaveLength(1);
    expect(answer.text + JSON.stringify(on.log.lines)).not.toContain(token);
    expect(await isAlive(on)).toBe(true);
  });

  it.each([
    ['application/json', 415],
    ['multipart/mixed; boundary=frontier-7', 415],
    ['multipart/form-data', 400],
    ['multipart/form-data; boundary=', 400],
    [`multipart/form-data; boundary=${'x'.repeat(300)}`, 400],
    ['multipart/form-data; boundary="', 400],
  ])('of type %s is answered %d', async (type, status) => {
    const on = await receiving();
    const body = multipart(detailsPart(await on.ask()), filePart(JPEG));
    expect(await post(on.url, body, type)).toMatchObject({ status });
    expect(kept(on)).toEqual(NOTHING);
    expect(await isAlive(on)).toBe(true);
  });

  it('may be damaged in any way: the receiver answers, and stores all of it or nothing', async () => {
    const on = await receiving();
    const token = await on.ask();
    const whole = multipart(detailsPart(token), filePart(JPEG), filePart(PNG, 'b.png', 'image/png'));
    const cut = fc.record({
      from: fc.nat(whole.length),
      to: fc.nat(whole.length),
      put: fc.uint8Array({ maxLength: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(cut, { minLength: 1, maxLength: 3 }), async (cuts) => {
        let body = whole;
        for (const { from, to, put } of cuts) body = Buffer.concat([body.subarray(0, from), put, body.subarray(to)]);
        const { status } = await post(on.url, body);
        expect([200, 400, 403, 413]).toContain(status);
        expect(on.files()).toEqual(known(on));
      }),
      { numRuns: 200 },
    );
    expect(await isAlive(on)).toBe(true);
  });
});

describe('a sender that goes away', () => {
  it.each([
    ['in the middle of a file', (token: string) => Buffer.concat([detailsPart(token), filePart(JPEG).subarray(0, -9)])],
    ['after the last file', (token: string) => Buffer.concat([detailsPart(token), filePart(JPEG)])],
  ])('%s leaves nothing', async (_when, first) => {
    const on = await receiving();
    const client = await begun(on.url, 100_000, first(await on.ask()));
    await fileIsOpen(on);
    const refused = on.log.next(/was refused/);
    client.destroy();
    await refused;
    await on.receiver.close();
    expect(kept(on)).toEqual(NOTHING);
  });

  it('as soon as it is heard, before anything was read, holds no place', async () => {
    const on = await receiving({ CONCURRENCY: '1' });
    const client = rawClient(on.url);
    client.send(`${head('transfer-encoding: chunked')}\r\nno chunk\r\n`);
    expect(await client.closed).toMatch(/^HTTP\/1\.1 400 /);
    while (!(await isAlive(on))) await systemClock().turn();
    await on.receiver.close();
    expect(on.files()).toEqual(known(on));
  });

  it('with half a connection, after less than it promised, leaves nothing', async () => {
    const on = await receiving();
    const client = await begun(on.url, 100_000, Buffer.concat([detailsPart(await on.ask()), filePart(JPEG)]));
    const refused = on.log.next(/was refused/);
    client.end();
    await refused;
    await client.closed;
    await on.receiver.close();
    expect(kept(on)).toEqual(NOTHING);
  });

  it('before it has read the answer does not undo what is stored', async () => {
    const on = await receiving();
    const body = multipart(detailsPart(await on.ask()), filePart(JPEG));
    const client = await begun(on.url, body.length, body.subarray(0, -1));
    await fileIsOpen(on);
    const received = on.log.next(/photos are received/);
    client.send(body.subarray(-1));
    await received;
    client.destroy();
    await on.receiver.close();
    expect([on.rows().length, on.files().length]).toEqual([1, 1]);
  });
});

describe('the limits', () => {
  it('of time end a delivery with 408 and leave nothing', async () => {
    const on = await receiving({ TIMEOUT: '2m' });
    const client = await begun(on.url, 100_000, Buffer.concat([detailsPart(await on.ask()), filePart(JPEG)]));
    await fileIsOpen(on);
    on.bench.clock.advance(2 * MINUTE - 1);
    client.send('still here');
    on.bench.clock.advance(1);
    await client.until(/takes too long/);
    on.bench.clock.advance(1_000);
    expect(await client.closed).toMatch(/\r\nHTTP\/1\.1 408 [^]*takes too long/);
    expect(kept(on)).toEqual(NOTHING);
    expect(await isAlive(on)).toBe(true);
  });

  it('of size refuse what is announced as too large before it comes', async () => {
    const on = await receiving({ MAX_TOTAL_BYTES: '1 MiB' });
    const client = rawClient(on.url);
    client.send(`${head('content-length: 2097153')}\r\n`);
    expect(await client.until(/^HTTP\/1\.1 413 /)).toContain('the body has more than 2097152 bytes');
    client.destroy();
    const atLimit = await begun(on.url, 2_097_152, Buffer.alloc(0));
    atLimit.destroy();
    expect(await isAlive(on)).toBe(true);
  });

  it('of size end a body in chunks that has no end', async () => {
    const on = await receiving({ MAX_TOTAL_BYTES: '1 MiB' });
    const cases: [Buffer, RegExp][] = [
      [filePart(JPEG).subarray(0, -2), /^HTTP\/1\.1 413 [^]*the files have more than 1048576 bytes/],
      [
        part(['Content-Disposition: form-data; name="other"'], '').subarray(0, -2),
        /^HTTP\/1\.1 413 [^]*the body has more than 2097152 bytes/,
      ],
      [Buffer.from('text before the first part'), /^HTTP\/1\.1 413 [^]*the body has more than 2097152 bytes/],
    ];
    for (const [first, answer] of cases) {
      const client = rawClient(on.url);
      client.send(`${head('transfer-encoding: chunked')}\r\n${first.length.toString(16)}\r\n`);
      client.send(first);
      client.send('\r\n');
      for (let count = 0; count < 48; count += 1) client.send(`10000\r\n${'x'.repeat(0x10000)}\r\n`);
      expect(await client.until(/\}$/)).toMatch(answer);
      // It has a second to read that.
      client.send('1\r\nx\r\n');
      on.bench.clock.advance(1_000);
      await client.closed;
    }
    expect(kept(on)).toEqual(NOTHING);
    expect(await isAlive(on)).toBe(true);
  });

  it('of a file and of all files let no more onto the disk, and the sender reads why', async () => {
    const on = await receiving({ MAX_FILE_BYTES: '100 KiB', MAX_TOTAL_BYTES: '150 KiB' });
    const token = await on.ask();
    const large = Buffer.alloc(102_401, JPEG);
    const cases: [Buffer, RegExp][] = [
      [multipart(filePart(large), detailsPart(token)), /a file has more than 102400 bytes/],
      [
        multipart(...[1, 2].map(() => filePart(large.subarray(0, -1))), detailsPart(token)),
        /the files have more than 153600/,
      ],
    ];
    for (const [body, reason] of cases) {
      expect(await post(on.url, body)).toEqual({ status: 413, text: expect.stringMatching(reason) });
      expect(kept(on)).toEqual(NOTHING);
    }
  });

  it('of the number at the same time answer 503 with Retry-After, until one of them is done', async () => {
    const on = await receiving({ CONCURRENCY: '2' });
    const body = multipart(detailsPart(await on.ask()), filePart(JPEG));
    const first = await begun(on.url, body.length, body.subarray(0, 60));
    const second = await begun(on.url, body.length, body.subarray(0, 60));
    const refused = await fetch(on.url, {
      method: 'POST',
      headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
      body: new Uint8Array(body),
    });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10']);
    await refused.text();
    first.send(body.subarray(60));
    await first.until(/HTTP\/1\.1 200 /);
    expect(await isAlive(on)).toBe(true);
    second.destroy();
    first.destroy();
  });

  it('let a connection be used again after what was refused is read to its end', async () => {
    const on = await receiving();
    const bad = multipart(filePart('<svg>'), filePart(Buffer.alloc(300_000)));
    const good = multipart(detailsPart(await on.ask()), filePart(JPEG));
    const client = rawClient(on.url);
    client.send(`${head(`content-length: ${bad.length}`)}\r\n`);
    client.send(bad.subarray(0, 200_000));
    await client.until(/^HTTP\/1\.1 400 /);
    client.send(bad.subarray(200_000));
    client.send(`${head(`content-length: ${good.length}`)}\r\n`);
    client.send(good);
    expect(await client.until(/HTTP\/1\.1 200 /)).toContain('"stored"');
    client.destroy();
  });

  it('of time also hold for what is refused and goes on sending', async () => {
    const on = await receiving({ TIMEOUT: '2m' });
    const client = await begun(on.url, 1_000_000, multipart(filePart('<svg>')));
    await client.until(/HTTP\/1\.1 400 /);
    on.bench.clock.advance(2 * MINUTE);
    expect(await client.closed).toContain('"refused"');
    expect(await isAlive(on)).toBe(true);
  });
});

describe('the receiver', () => {
  it.each([
    ['GET', '/photos'],
    ['HEAD', '/photos'],
    ['PUT', '/photos'],
    ['DELETE', '/photos'],
    ['OPTIONS', '/photos'],
    ['GET', '/'],
    ['POST', '/'],
    ['POST', '/photos/'],
    ['POST', '/Photos'],
    ['POST', '/photos/../photos2'],
    ['POST', '/sync'],
    ['GET', '/metrics'],
  ])('has no %s %s', async (method, path) => {
    const on = await receiving();
    const form = multipart(detailsPart(await on.ask()), filePart(JPEG));
    const answer = await fetch(new URL(path, on.url), {
      method,
      ...(['POST', 'PUT'].includes(method) && {
        headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
        body: new Uint8Array(form),
      }),
    });
    expect(answer.status).toBe(404);
    expect(kept(on)).toEqual(NOTHING);
  });

  it.each([
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['a head without end', head(`x-large: ${'x'.repeat(100_000)}`), 431],
    ['many headers', `${head(...Array<string>(5_000).fill('a: b'))}\r\n`, 431],
    ['two lengths', `${head('content-length: 5', 'content-length: 6')}\r\n`, 400],
    ['a length and chunks', `${head('content-length: 5', 'transfer-encoding: chunked')}\r\n`, 400],
    ['a length that is no number', `${head('content-length: -1')}\r\n`, 400],
    ['a chunk that is no chunk', `${head('transfer-encoding: chunked')}\r\nzz\r\n`, 400],
    ['an address that cannot be decoded', 'POST /%zz HTTP/1.1\r\nhost: a\r\n\r\n', 400],
    ['an expectation that is not known', `${head('content-length: 5', 'expect: a-wonder')}\r\n`, 417],
    ['a tunnel', 'CONNECT example.org:443 HTTP/1.1\r\nhost: a\r\n\r\n', undefined],
  ])('answers %s, and goes on', async (_what, request, status) => {
    const on = await receiving();
    const client = rawClient(on.url);
    client.send(request);
    if (status === undefined) await client.closed;
    else await client.until(new RegExp(`^HTTP/1\\.1 ${status} `));
    client.destroy();
    expect(await isAlive(on)).toBe(true);
    await on.receiver.close();
    expect(on.files()).toEqual(known(on));
  });

  it('answers 507 when the disk is full, leaves nothing, and takes the delivery when there is space', async () => {
    const on = await receiving();
    const token = await on.ask();
    const body = multipart(detailsPart(token), filePart(JPEG), filePart(PNG));
    await using handle = await open('/dev/null', 'r');
    const prototype = Object.getPrototypeOf(handle) as typeof handle;
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', errno: -28 });
    for (const method of ['writeFile', 'sync'] as const) {
      const disk = vi.spyOn(prototype, method).mockRejectedValue(full);
      expect(await post(on.url, body)).toMatchObject({ status: 507 });
      disk.mockRestore();
      expect(kept(on)).toEqual(NOTHING);
    }
    const problem = 'Error: ENOSPC: no space left on device, write';
    expect(on.log.with(/could not be stored/)).toMatchObject([{ problem }, { problem }]);
    expect(await post(on.url, body)).toMatchObject({ status: 200 });
    expect(JSON.stringify(on.log.lines)).not.toContain(token);
  });

  it('answers 503 with Retry-After when the database is full or the folder is gone, and leaves nothing', async () => {
    const on = await receiving();
    const { db } = on.bench.app.store;
    const body = multipart(detailsPart(await on.ask()), filePart(JPEG, 'x'.repeat(255)));
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(db);
    await sql.raw(`pragma max_page_count = ${rows[0]?.page_count}`).execute(db);
    on.bench.merchant.exec(
      `create table filler (id integer); create trigger fill before insert on photos begin
       insert into filler select value from json_each('[' || replace(hex(zeroblob(5000)), '00', '1,') || '1]'); end`,
    );
    expect(await post(on.url, body)).toMatchObject({ status: 503 });
    expect(kept(on)).toEqual(NOTHING);
    on.bench.merchant.exec('drop trigger fill');
    await sql.raw('pragma max_page_count = 1000000').execute(db);
    rmSync(on.folder, { recursive: true });
    writeFileSync(on.folder, '');
    const answer = await fetch(on.url, {
      method: 'POST',
      headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
      body: new Uint8Array(body),
    });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '10']);
    rmSync(on.folder);
    expect(await isAlive(on)).toBe(true);
  });

  it('lets what is arriving arrive when it stops, takes nothing new, and then closes', async () => {
    const on = await receiving();
    const body = multipart(detailsPart(await on.ask()), filePart(JPEG));
    const client = await begun(on.url, body.length, body.subarray(0, -1));
    const waiting = rawClient(on.url);
    waiting.send('POST /photos HTTP/1.1\r\nhost: a\r\n');
    await fileIsOpen(on);
    on.stop.abort();
    const closed = on.receiver.close();
    waiting.send('content-type: multipart/form-data; boundary=x\r\ncontent-length: 100\r\n\r\n');
    expect(await waiting.until(/^HTTP\/1\.1 503 /)).toMatch(/\r\nretry-after: 10\r\n/);
    waiting.destroy();
    client.send(body.subarray(-1));
    expect(await client.closed).toMatch(/HTTP\/1\.1 200 [^]*connection: close/i);
    await closed;
    await expect(fetch(on.url, { method: 'POST' })).rejects.toThrow('fetch failed');
    expect([on.rows().length, on.files().length]).toEqual([1, 1]);
  });

  it('cuts off what has not arrived when there is no time left, and leaves nothing of it', async () => {
    const on = await receiving();
    const client = await begun(on.url, 100_000, Buffer.concat([detailsPart(await on.ask()), filePart(JPEG)]));
    await fileIsOpen(on);
    on.stop.abort();
    const closed = on.receiver.close();
    on.bench.app.giveUp();
    await closed;
    await client.closed;
    expect(kept(on)).toEqual(NOTHING);
  });

  it('sweeps before it listens', async () => {
    const on = await receiving();
    await on.receiver.close();
    writeFileSync(join(on.folder, '.incoming', 'left'), JPEG);
    await using again = await servePhotos(on.bench.app, { host: '127.0.0.1', port: 0 }, on.stop.signal);
    expect([again.url, on.files()]).toEqual([expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/photos$/), []]);
  });

  it('says what is wrong with an address where it cannot listen', async () => {
    const on = await photoBench();
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const listen = async (host: string) =>
      await servePhotos(on.bench.app, { host, port }, new AbortController().signal);
    await expect(listen('127.0.0.1')).rejects.toThrow(
      new ConfigError(`photos.listen 127.0.0.1:${port} cannot be used: another program listens there`),
    );
    await expect(listen('localhost')).rejects.toThrow(/another program listens there/);
    await expect(listen('no-such-host.invalid')).rejects.toThrow(/no address of this machine \(E[A-Z_]+\)/);
    await expect(listen('192.0.2.1')).rejects.toThrow(/photos\.listen 192\.0\.2\.1:\d+ .* no address of this machine/);
    other.close();
  });

  it('logs neither tokens nor names nor the content of files', async () => {
    const on = await receiving();
    const token = await on.ask();
    await post(on.url, multipart(detailsPart(token), filePart(JPEG, 'canary-name.jpg')));
    await post(on.url, multipart(detailsPart(token), filePart(PNG, 'canary-name.jpg')));
    await post(on.url, multipart(detailsPart('canary-token'), filePart('<svg>canary</svg>', 'canary.jpg')));
    await fetch(`${on.url}/canary`, { method: 'POST', headers: { 'content-type': 'canary/canary' }, body: 'canary' });
    const lines = JSON.stringify(on.log.lines);
    expect(on.log.lines.length).toBeGreaterThan(2);
    expect(lines).not.toMatch(/canary/);
    expect(lines).not.toContain(token);
  });
});

describe("the sandbox's delivery (§6)", () => {
  it('arrives with every oddity: all of it once, or nothing', async () => {
    const ended: LoggedDelivery[] = [];
    let onEnd = () => {};
    const sandbox = await startSandbox({
      apiKey: 'test-key',
      clock: systemClock(),
      random: seededRandom(5),
      onDelivery: (delivery) => {
        ended.push(delivery);
        onEnd();
      },
    });
    onTestFinished(() => sandbox.close());
    const on = await photoBench({ environment: { ORDER_SYNC_EXCHANGE_BASE_URL: sandbox.url } });
    const receiver = await servePhotos(on.bench.app, { host: '127.0.0.1', port: 0 }, new AbortController().signal);
    onTestFinished(() => receiver.close());
    sandbox.exchange.photoUrl = receiver.url;
    const expected = {
      'details-last': [200],
      'details-file': [200],
      repeated: [200, 200],
      'not-an-image': [400],
      unfinished: [400],
    };
    for (const oddity of [undefined, ...PHOTO_ODDITIES]) {
      const link = await makeLink(on.bench.app, { email: `photos-${oddity}-a@shop.example`, reference: null });
      const linkId = link.kind === 'ok' ? link.value.linkId : '';
      const statuses = oddity === undefined ? [200] : expected[oddity];
      ended.length = 0;
      const all = new Promise<void>((resolve) => {
        onEnd = () => ended.length === statuses.length && resolve();
      });
      const answer = await requestPhotos(on.bench.app, { linkId, level: 'LIVENESS', actionId: 'a7' });
      expect(answer).toMatchObject({ kind: 'ok', value: { status: 'ok' } });
      await all;
      expect([oddity, ended.map(({ status }) => status)]).toEqual([oddity, statuses]);
      const rows = on.rows().filter((row) => row['link_id'] === linkId);
      const files = [
        { level: 'LIVENESS', action_id: 'a7', original_name: 'liveness-1.jpg', type: 'image/jpeg' },
        { level: 'LIVENESS', action_id: 'a7', original_name: 'liveness-2.png', type: 'image/png' },
      ];
      expect(rows).toMatchObject(statuses.includes(200) ? files : []);
      expect(on.files()).toEqual(known(on));
    }
  });
});
