import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeLink } from '../../../src/extensions/clients/links.ts';
import { requestPhotos } from '../../../src/extensions/clients/photos.ts';
import { servePhotos } from '../../../src/extensions/clients/photo-receiver.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { type LoggedDelivery, PHOTO_ODDITIES } from '../../../src/extensions/sandbox/photos.ts';
import { seededRandom } from '../../../src/extensions/sandbox/random.ts';
import { startSandbox } from '../../../src/extensions/sandbox/server.ts';
import { BOUNDARY, detailsPart, filePart, head, multipart, part } from '../../support/multipart.ts';
import { JPEG, photoProgram, PNG } from '../../support/photo-program.ts';
import { rawClient } from '../../support/raw-client.ts';
import { photoReceiver, post, others, kept, NOTHING, isAlive, known, stored } from '../../support/photo-receiver.ts';
import { temporaryFolder } from '../../support/folders.ts';

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
    const on = await photoReceiver();
    const own = temporaryFolder();
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
    const on = await photoReceiver();
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
    const on = await photoReceiver();
    const body = Buffer.concat([multipart(...parts(await on.ask())), Buffer.from('goodbye')]);
    expect(await post(on.url, body)).toEqual({ status: 200, text: '{"status":"stored"}' });
    expect(on.rows().map(({ type }) => type)).toEqual(['image/jpeg', 'image/png']);
    expect(on.files()).toHaveLength(2);
  });

  it('delivers in chunks of one byte', async () => {
    const on = await photoReceiver();
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
    const on = await photoReceiver();
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
    const on = await photoReceiver();
    const token = await on.ask();
    const answer = await post(on.url, body(token));
    expect(answer).toMatchObject({ status, text: expect.stringContaining('"refused"') });
    expect(kept(on)).toEqual(NOTHING);
    const refused = { 400: 'unreadable', 403: 'forbidden', 408: 'too-slow', 413: 'too-large' }[status];
    expect(on.log.with(/was refused/)).toMatchObject([{ refused }]);
    expect(on.log.with(/was refused/)[0]).not.toHaveProperty('requestId');
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
    const on = await photoReceiver();
    const body = multipart(detailsPart(await on.ask()), filePart(JPEG));
    expect(await post(on.url, body, type)).toMatchObject({ status });
    expect(kept(on)).toEqual(NOTHING);
    expect(await isAlive(on)).toBe(true);
  });

  it('may be damaged in any way: the receiver answers, and stores all of it or nothing', async () => {
    const on = await photoReceiver();
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
    const on = await photoProgram({ environment: { ORDER_SYNC_EXCHANGE_BASE_URL: sandbox.url } });
    const receiver = await servePhotos(on.program.app, { host: '127.0.0.1', port: 0 }, new AbortController().signal);
    onTestFinished(() => receiver.close());
    sandbox.exchange.photoUrl = receiver.url;
    const expected = {
      'details-last': [200],
      'details-file': [200],
      repeated: [200, 200],
      'not-an-image': [200],
      unfinished: [400],
    };
    for (const oddity of [undefined, ...PHOTO_ODDITIES]) {
      const link = await makeLink(on.program.app, { email: `photos-${oddity}-a@shop.example`, reference: null });
      const linkId = link.kind === 'ok' ? link.value.linkId : '';
      const statuses = oddity === undefined ? [200] : expected[oddity];
      ended.length = 0;
      const all = new Promise<void>((resolve) => {
        onEnd = () => ended.length === statuses.length && resolve();
      });
      const answer = await requestPhotos(on.program.app, { linkId, level: 'LIVENESS', actionId: 'a7' });
      expect(answer).toMatchObject({ kind: 'ok', value: { status: 'ok' } });
      await all;
      expect([oddity, ended.map(({ status }) => status)]).toEqual([oddity, statuses]);
      const rows = on.rows().filter((row) => row['link_id'] === linkId);
      const files = [
        { level: 'LIVENESS', action_id: 'a7', original_name: 'liveness-1.jpg', type: 'image/jpeg' },
        {
          level: 'LIVENESS',
          action_id: 'a7',
          original_name: 'liveness-2.png',
          ...(oddity === 'not-an-image' ? { type: null, stored_name: null } : { type: 'image/png', refusal: null }),
        },
      ];
      expect(rows).toMatchObject(statuses.includes(200) ? files : []);
      expect(on.files()).toEqual(known(on));
    }
  });
});
