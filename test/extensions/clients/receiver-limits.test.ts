import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { ConfigError } from '../../../src/settings/config.ts';
import { servePhotos } from '../../../src/extensions/clients/photo-receiver.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { BOUNDARY, detailsPart, filePart, head, multipart, part } from '../../support/multipart.ts';
import { JPEG, photoProgram, PNG } from '../../support/photo-program.ts';
import { rawClient } from '../../support/raw-client.ts';
import { begun, fileIsOpen, isAlive, kept, known, NOTHING, post, photoReceiver } from '../../support/photo-receiver.ts';

const MINUTE = 60_000;

describe('a sender that goes away', () => {
  it.each([
    ['in the middle of a file', (token: string) => Buffer.concat([detailsPart(token), filePart(JPEG).subarray(0, -9)])],
    ['after the last file', (token: string) => Buffer.concat([detailsPart(token), filePart(JPEG)])],
  ])('%s leaves nothing', async (_when, first) => {
    const on = await photoReceiver();
    const client = await begun(on.url, 100_000, first(await on.ask()));
    await fileIsOpen(on);
    const refused = on.log.next(/was refused/);
    client.destroy();
    await refused;
    await on.receiver.close();
    expect(kept(on)).toEqual(NOTHING);
  });

  it('as soon as it is heard, before anything was read, holds no place', async () => {
    const on = await photoReceiver({ CONCURRENCY: '1' });
    const client = rawClient(on.url);
    client.send(`${head('transfer-encoding: chunked')}\r\nno chunk\r\n`);
    expect(await client.closed).toMatch(/^HTTP\/1\.1 400 /);
    while (!(await isAlive(on))) await systemClock().turn();
    await on.receiver.close();
    expect(on.files()).toEqual(known(on));
  });

  it('with half a connection, after less than it promised, leaves nothing', async () => {
    const on = await photoReceiver();
    const client = await begun(on.url, 100_000, Buffer.concat([detailsPart(await on.ask()), filePart(JPEG)]));
    const refused = on.log.next(/was refused/);
    client.end();
    await refused;
    await client.closed;
    await on.receiver.close();
    expect(kept(on)).toEqual(NOTHING);
  });

  it('before it has read the answer does not undo what is stored', async () => {
    const on = await photoReceiver();
    const body = multipart(detailsPart(await on.ask()), filePart(JPEG));
    const client = await begun(on.url, body.length, body.subarray(0, -1));
    await fileIsOpen(on);
    const received = on.log.next(/photos were received/);
    client.send(body.subarray(-1));
    await received;
    client.destroy();
    await on.receiver.close();
    expect([on.rows().length, on.files().length]).toEqual([1, 1]);
  });
});

describe('the limits', () => {
  it('of time end a delivery with 408 and leave nothing', async () => {
    const on = await photoReceiver({ TIMEOUT: '2m' });
    const client = await begun(on.url, 100_000, Buffer.concat([detailsPart(await on.ask()), filePart(JPEG)]));
    await fileIsOpen(on);
    on.program.clock.advance(2 * MINUTE - 1);
    client.send('still here');
    on.program.clock.advance(1);
    await client.until(/takes too long/);
    on.program.clock.advance(1_000);
    expect(await client.closed).toMatch(/\r\nHTTP\/1\.1 408 [^]*takes too long/);
    expect(kept(on)).toEqual(NOTHING);
    expect(await isAlive(on)).toBe(true);
  });

  it('of size refuse what is announced as too large before it comes', async () => {
    const on = await photoReceiver({ MAX_TOTAL_BYTES: '1 MiB' });
    const client = rawClient(on.url);
    client.send(`${head('content-length: 2097153')}\r\n`);
    expect(await client.until(/^HTTP\/1\.1 413 /)).toContain('the body has more than 2097152 bytes');
    client.destroy();
    const atLimit = await begun(on.url, 2_097_152, Buffer.alloc(0));
    atLimit.destroy();
    expect(await isAlive(on)).toBe(true);
  });

  it('of size end a body in chunks that has no end', async () => {
    const on = await photoReceiver({ MAX_TOTAL_BYTES: '1 MiB' });
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
      on.program.clock.advance(1_000);
      await client.closed;
    }
    expect(kept(on)).toEqual(NOTHING);
    expect(await isAlive(on)).toBe(true);
  });

  it('of a file and of all files let no more onto the disk, and the sender reads why', async () => {
    const on = await photoReceiver({ MAX_FILE_BYTES: '100 KiB', MAX_TOTAL_BYTES: '150 KiB' });
    const token = await on.ask();
    const large = Buffer.alloc(102_401, JPEG);
    const cases: [Buffer, RegExp][] = [
      [multipart(filePart(large), detailsPart(token)), /the file has more than 102400 bytes/],
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
    const on = await photoReceiver({ CONCURRENCY: '2' });
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
    const on = await photoReceiver();
    const bad = multipart(detailsPart(''), filePart(Buffer.alloc(300_000)));
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

  it('of time also hold for a sender that is refused and still sends', async () => {
    const on = await photoReceiver({ TIMEOUT: '2m' });
    const client = await begun(on.url, 1_000_000, multipart(detailsPart('')));
    await client.until(/HTTP\/1\.1 400 /);
    on.program.clock.advance(2 * MINUTE);
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
    const on = await photoReceiver();
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
  ])('answers %s, and serves the next request', async (_what, request, status) => {
    const on = await photoReceiver();
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
    const on = await photoReceiver();
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
    const cause = 'Error: ENOSPC: no space left on device, write';
    expect(on.log.with(/could not be stored/)).toMatchObject([{ cause }, { cause }]);
    expect(await post(on.url, body)).toMatchObject({ status: 200 });
    expect(JSON.stringify(on.log.lines)).not.toContain(token);
  });

  it('answers 503 with Retry-After when the database is full or the folder is gone, and leaves nothing', async () => {
    const on = await photoReceiver();
    const { db } = on.program.app.store;
    const body = multipart(detailsPart(await on.ask()), filePart(JPEG, 'x'.repeat(255)));
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(db);
    await sql.raw(`pragma max_page_count = ${rows[0]?.page_count}`).execute(db);
    on.program.merchant.exec(
      `create table filler (id integer); create trigger fill before insert on photos begin
       insert into filler select value from json_each('[' || replace(hex(zeroblob(5000)), '00', '1,') || '1]'); end`,
    );
    expect(await post(on.url, body)).toMatchObject({ status: 503 });
    expect(kept(on)).toEqual(NOTHING);
    on.program.merchant.exec('drop trigger fill');
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
    const on = await photoReceiver();
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
    const on = await photoReceiver();
    const client = await begun(on.url, 100_000, Buffer.concat([detailsPart(await on.ask()), filePart(JPEG)]));
    await fileIsOpen(on);
    on.stop.abort();
    const closed = on.receiver.close();
    on.program.app.endGracePeriod();
    await closed;
    await client.closed;
    expect(kept(on)).toEqual(NOTHING);
  });

  it('has swept before it answers', async () => {
    const on = await photoReceiver();
    await on.receiver.close();
    writeFileSync(join(on.folder, '.incoming', 'left'), JPEG);
    await using again = await servePhotos(on.program.app, { host: '127.0.0.1', port: 0 }, on.stop.signal);
    expect([again.url, on.files()]).toEqual([expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/photos$/), []]);
  });

  it('says what is wrong with an address at which it cannot listen', async () => {
    const on = await photoProgram();
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const listen = async (host: string) =>
      await servePhotos(on.program.app, { host, port }, new AbortController().signal);
    await expect(listen('127.0.0.1')).rejects.toThrow(
      new ConfigError(`photos.listen 127.0.0.1:${port} cannot be used: another program listens there`),
    );
    await expect(listen('localhost')).rejects.toThrow(/another program listens there/);
    await expect(listen('no-such-host.invalid')).rejects.toThrow(/no address of this machine \(E[A-Z_]+\)/);
    await expect(listen('192.0.2.1')).rejects.toThrow(/photos\.listen 192\.0\.2\.1:\d+ .* no address of this machine/);
    other.close();
  });

  it('logs neither tokens nor names nor the content of files', async () => {
    const on = await photoReceiver();
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
