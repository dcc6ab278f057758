import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { feedEventOf, type EventRow } from '../../../src/extensions/feed/event.ts';
import { UnusableIdError } from '../../../src/exchange/ids.ts';
import { DeliveryRefusal, PhotoFolder, type DeliveryPart } from '../../../src/extensions/clients/photo-delivery.ts';
import { acceptDelivery, purgePhotos, requestPhotos, sweepPhotos } from '../../../src/extensions/clients/photos.ts';
import { purgeAccount } from '../../../src/extensions/intake/retention.ts';
import { StoreError } from '../../../src/store/errors.ts';
import { listAwaited, listPhotos } from '../../../src/extensions/clients/tables/photos.ts';
import { JPEG, photoProgram, PNG, type PhotoProgram } from '../../support/photo-program.ts';
import { purgesOf } from '../../support/purges.ts';
import { temporaryFolder } from '../../support/folders.ts';
import { settingsOf } from '../../support/test-program.ts';
import { runProgram } from '../../support/cli-function.ts';
import { refusal } from '../../support/scripted-exchange.ts';
import { DAY, HOUR } from '../../support/tracking.ts';
import { ofSqlite } from '../../support/database.ts';

const NEVER = new AbortController().signal;
const FORBIDDEN = { kind: 'refused', why: 'forbidden' };
const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');

async function* inPieces(content: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += 5) yield content.subarray(at, at + 5);
}

const file = (content: Buffer, filename = 'photo.jpg'): DeliveryPart => ({
  name: 'file',
  filename,
  bytes: inPieces(content),
});
const details = (token: unknown): DeliveryPart => ({
  name: 'details',
  filename: undefined,
  bytes: inPieces(Buffer.from(JSON.stringify({ token }))),
});

async function* form(...parts: DeliveryPart[]): AsyncGenerator<DeliveryPart> {
  yield* parts;
}

async function accepted(on: PhotoProgram, parts: AsyncIterable<DeliveryPart>) {
  try {
    return { kind: await acceptDelivery(on.program.app, parts) };
  } catch (error) {
    if (!(error instanceof DeliveryRefusal)) throw error;
    return { kind: 'refused', why: error.kind };
  }
}

/** Delivers two files with a token. */
async function deliver(on: PhotoProgram, token: string, contents: readonly Buffer[] = [JPEG, PNG]) {
  return await accepted(on, form(details(token), ...contents.map((content) => file(content))));
}

describe('asking for photos (§4.5)', () => {
  it('sends a new token of 256 bits each time, and stores nothing but its hash', ofSqlite('its files'), async () => {
    const on = await photoProgram();
    const first = await on.ask('l1');
    const second = await on.ask('l2', { level: 'LIVENESS', actionId: 'a1' });
    expect([first, second].map((token) => Buffer.from(token, 'base64url').length)).toEqual([32, 32]);
    expect(first).not.toBe(second);
    const now = on.program.clock.now();
    const same = {
      account: 'default',
      created_at: now.toISOString(),
      expires_at: new Date(now.getTime() + DAY).toISOString(),
      delivery: null,
      request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    };
    const rows = [
      { ...same, token_hash: sha256(first), link_id: 'l1', level: 'MAIN', action_id: null },
      { ...same, token_hash: sha256(second), link_id: 'l2', level: 'LIVENESS', action_id: 'a1' },
    ];
    expect(on.tokens()).toHaveLength(2);
    expect(on.tokens()).toEqual(expect.arrayContaining(rows));
    const everything = ['', '-wal'].map((ending) =>
      readFileSync(`${on.program.config.database.path}${ending}`, 'latin1'),
    );
    for (const token of [first, second])
      expect(everything.join('') + JSON.stringify(on.log.lines)).not.toContain(token);
  });

  it('has stored the hash before the request leaves: the delivery may come before the answer', async () => {
    const on = await photoProgram();
    on.exchange.answer = async ({ body }) => {
      const { token } = JSON.parse(body) as { token: string };
      expect(await deliver(on, token)).toEqual({ kind: 'stored' });
      return { status: 200, body: '{"status":"ok"}' };
    };
    const answer = await requestPhotos(on.program.app, { linkId: 'l1', level: 'MAIN' });
    expect(answer).toMatchObject({ kind: 'ok' });
    expect(on.rows()).toHaveLength(2);
  });

  it('forgets the token when the exchange refuses, and keeps it when the outcome is not known', async () => {
    const on = await photoProgram();
    on.exchange.answer = () => refusal(404, 'link not found');
    const refused = await requestPhotos(on.program.app, { linkId: 'l1', level: 'MAIN' });
    expect([refused.kind, on.tokens().length]).toEqual(['refused', 0]);
    on.exchange.answer = () => 'reset';
    const unknown = await requestPhotos(on.program.app, { linkId: 'l1', level: 'MAIN' });
    expect([unknown.kind, on.tokens().length]).toEqual(['unknown', 1]);
  });

  it("sends the merchant's own token once, and the delivery that brings it is taken", async () => {
    const on = await photoProgram();
    const asked = { linkId: 'l1', level: 'MAIN', token: 'a token of the shop' } as const;
    expect(await requestPhotos(on.program.app, asked)).toMatchObject({ kind: 'ok' });
    expect(JSON.parse(on.exchange.requests.at(-1)?.body ?? '')).toMatchObject({ token: asked.token });
    await expect(requestPhotos(on.program.app, { ...asked, linkId: 'l2' })).rejects.toThrow(UnusableIdError);
    expect(on.exchange.requests).toHaveLength(1);
    expect(await deliver(on, asked.token)).toEqual({ kind: 'stored' });
    expect(JSON.stringify([on.log.lines, on.tokens()])).not.toContain(asked.token);
  });

  it.each([
    ['a token that was made', undefined],
    ['an own token', 'a token of the shop'],
  ])('makes an id for a request with %s, which its photos and their event bear', async (_what, own) => {
    const on = await photoProgram();
    const { app } = on.program;
    const requests: string[] = [];
    for (const linkId of ['other', 'l1']) {
      const asked = { linkId, level: 'MAIN', token: linkId === 'l1' ? own : undefined } as const;
      const answer = await requestPhotos(app, asked);
      if (answer.kind !== 'ok') throw new Error(answer.kind);
      expect(JSON.parse(answer.body)).toEqual({ status: 'ok', requestId: answer.value.requestId });
      requests.push(answer.value.requestId);
    }
    const { token } = JSON.parse(on.exchange.requests.at(-1)?.body ?? '') as { token: string };
    const [other, requestId = ''] = requests;
    expect(requestId).not.toBe(other);
    expect(sha256(token)).not.toContain(requestId);
    const awaited = await listAwaited(app.store.db, { account: app.account, linkId: 'l1', limit: 9 });
    expect(awaited).toMatchObject([{ request_id: requestId }]);
    expect(await deliver(on, 'a token that no request had')).toMatchObject(FORBIDDEN);
    expect(await deliver(on, token)).toEqual({ kind: 'stored' });
    expect(on.rows().map((row) => row['request_id'])).toEqual([requestId, requestId]);
    const listed = await listPhotos(app.store.db, { account: app.account, linkId: 'l1', limit: 9 });
    expect(listed.map((row) => row.request_id)).toEqual([requestId, requestId]);
    const events = await app.store.db.selectFrom('events').selectAll().where('type', '=', 'photos').execute();
    expect(events.map((row) => feedEventOf(row as EventRow).data)).toEqual([
      { linkId: 'l1', level: 'MAIN', requestId, delivery: on.rows()[0]?.['delivery'] },
    ]);
    expect(on.log.with(/^photos were received/)).toMatchObject([{ requestId }]);
  });

  it.each(['', ' ', 'a\nb', 'x'.repeat(1_001)])('refuses the own token %j', async (token) => {
    const on = await photoProgram();
    const asked = requestPhotos(on.program.app, { linkId: 'l1', level: 'MAIN', token });
    await expect(asked).rejects.toThrow(UnusableIdError);
    expect([on.tokens(), on.exchange.requests]).toEqual([[], []]);
  });

  it('refuses an own token that can be guessed if deliveries are received here', async () => {
    const asked = { linkId: 'l1', level: 'MAIN', token: 'client-7' } as const;
    const elsewhere = await photoProgram();
    expect(await requestPhotos(elsewhere.program.app, asked)).toMatchObject({ kind: 'ok' });
    const here = await photoProgram({ environment: { ORDER_SYNC_PHOTOS_LISTEN: '127.0.0.1:0' } });
    await expect(requestPhotos(here.program.app, asked)).rejects.toThrow(UnusableIdError);
  });

  it('lists what was asked for and has not come, until a month after it can come', async () => {
    const on = await photoProgram();
    const { app, clock } = on.program;
    await deliver(on, await on.ask('came'));
    await on.ask('late');
    const awaited = async (linkId?: string) =>
      (await listAwaited(app.store.db, { account: app.account, linkId, limit: 9 })).map(({ link_id: id }) => id);
    clock.advance(2 * DAY);
    await sweepPhotos(app);
    expect([await awaited(), await awaited('came')]).toEqual([['late'], []]);
    clock.advance(30 * DAY);
    await sweepPhotos(app);
    expect(await awaited()).toEqual([]);
  });

  it('refuses an id that cannot be sent before anything is stored or sent', async () => {
    const on = await photoProgram();
    await expect(requestPhotos(on.program.app, { linkId: '..', level: 'MAIN' })).rejects.toThrow(UnusableIdError);
    expect([on.tokens(), on.exchange.requests]).toEqual([[], []]);
  });

  it('refuses an e-mail address that was typed for a link before anything is stored, sent or logged', async () => {
    const on = await photoProgram();
    const asked = requestPhotos(on.program.app, { linkId: 'ada@canary.example', level: 'MAIN' });
    await expect(asked).rejects.toThrow(
      new UnusableIdError('an e-mail address cannot be a link id; check the id and try again'),
    );
    expect([on.tokens(), on.exchange.requests, on.log.lines]).toEqual([[], [], []]);
  });

  it('warns when photos.listen is off', async () => {
    const off = await photoProgram();
    await off.ask();
    expect(off.log.with(/photos.listen is off/)).toHaveLength(1);
    expect(off.log.with(/photos.listen is off/)[0]).not.toHaveProperty('linkId');
    const on = await photoProgram({ environment: { ORDER_SYNC_PHOTOS_LISTEN: '127.0.0.1:0' } });
    await on.ask();
    expect(on.log.with(/photos.listen is off/)).toEqual([]);
  });
});

describe('a delivery', () => {
  it('is stored with one row a file, under random names, for this user alone', async () => {
    const on = await photoProgram();
    const token = await on.ask('l1', { level: 'LIVENESS', actionId: 'a1' });
    const outcome = await accepted(
      on,
      form(file(JPEG, 'face.png'), details(token), file(PNG, '../../x\0\u202egpj.exe')),
    );
    expect(outcome).toEqual({ kind: 'stored' });
    const same = {
      account: 'default',
      link_id: 'l1',
      level: 'LIVENESS',
      action_id: 'a1',
      request_id: on.tokens()[0]?.['request_id'],
      delivery: expect.stringMatching(/^[0-9a-f]{32}$/),
      received_at: on.program.clock.now().toISOString(),
    };
    const place = '[0-9a-f]{32}/[0-9a-f]{32}/[0-9a-f]{32}';
    expect(on.rows()).toEqual([
      {
        ...same,
        id: 1,
        original_name: 'face.png',
        type: 'image/jpeg',
        size: JPEG.length,
        sha256: sha256(JPEG),
        refusal: null,
        stored_name: expect.stringMatching(new RegExp(`^${place}\\.jpg$`)),
      },
      {
        ...same,
        id: 2,
        original_name: '../../x\\u0000\\u202egpj.exe',
        type: 'image/png',
        size: PNG.length,
        sha256: sha256(PNG),
        refusal: null,
        stored_name: expect.stringMatching(new RegExp(`^${place}\\.png$`)),
      },
    ]);
    const names = on.rows().map((row) => String(row['stored_name']));
    expect(on.files()).toEqual(names.toSorted());
    expect(names.map((name) => readFileSync(join(on.folder, name)))).toEqual([JPEG, PNG]);
    for (const name of names) {
      const modes = [name, dirname(name), dirname(dirname(name)), '.'].map(
        (path) => statSync(join(on.folder, path)).mode & 0o777,
      );
      expect(modes).toEqual([0o600, 0o700, 0o700, 0o700]);
    }
  });

  it('is stored once when it comes again with the same files, also later and in another order', async () => {
    const on = await photoProgram();
    const token = await on.ask();
    expect(await deliver(on, token)).toEqual({ kind: 'stored' });
    const [rows, files] = [on.rows(), on.files()];
    on.program.clock.advance(30 * DAY);
    expect(await deliver(on, token, [PNG, JPEG])).toEqual({ kind: 'repeated' });
    expect([on.rows(), on.files()]).toEqual([rows, files]);
  });

  it('is stored once when it comes several times at the same time', async () => {
    const on = await photoProgram();
    const token = await on.ask();
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => deliver(on, token)));
    expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual([
      'repeated',
      'repeated',
      'repeated',
      'repeated',
      'stored',
    ]);
    expect([on.rows().length, on.files().length]).toEqual([2, 2]);
  });

  it('uses its token up for one of two with different files at the same time', async () => {
    const on = await photoProgram();
    const token = await on.ask();
    const outcomes = await Promise.all([deliver(on, token, [JPEG]), deliver(on, token, [PNG])]);
    expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['refused', 'stored']);
    expect([on.rows().length, on.files().length]).toEqual([1, 1]);
  });

  it('leaves nothing when its token is unknown, expired, or used with other files', async () => {
    const on = await photoProgram();
    expect(await deliver(on, 'canary-token')).toMatchObject(FORBIDDEN);
    const late = await on.ask();
    on.program.clock.advance(DAY);
    expect(await deliver(on, late)).toMatchObject(FORBIDDEN);
    expect([on.rows(), on.files()]).toEqual([[], []]);
    const used = await on.ask();
    await deliver(on, used, [JPEG]);
    const [rows, files] = [on.rows(), on.files()];
    expect(await deliver(on, used, [JPEG, PNG])).toMatchObject(FORBIDDEN);
    expect([on.rows(), on.files()]).toEqual([rows, files]);
    expect(JSON.stringify(on.log.lines)).not.toMatch(/canary/);
  });

  it.each([
    ['is empty', Buffer.alloc(0), null],
    ['is of no known type', Buffer.from('<svg>'), null],
    ['is of a type that is not accepted', Buffer.from('GIF89a'), 'image/gif'],
    ['is too large', Buffer.alloc(101, JPEG), 'image/jpeg'],
  ])('keeps the others if one file %s, and records that one as refused', async (_what, odd, type) => {
    const environment = {
      ORDER_SYNC_PHOTOS_MAX_FILE_BYTES: '100',
      ORDER_SYNC_PHOTOS_TYPES: 'image/jpeg,image/png',
    };
    const on = await photoProgram({ environment });
    const token = await on.ask();
    expect(await deliver(on, token, [JPEG, odd, PNG])).toEqual({ kind: 'stored' });
    const [first, refused, last] = on.rows();
    expect([first, last]).toMatchObject([
      { type: 'image/jpeg', refusal: null },
      { type: 'image/png', refusal: null },
    ]);
    const facts = { type, size: odd.length, stored_name: null, refusal: expect.stringMatching(/file/) };
    expect(refused).toMatchObject(facts);
    expect(on.files()).toEqual([first, last].map((row) => String(row?.['stored_name'])).toSorted());
    expect(await deliver(on, token, [JPEG, odd, PNG])).toEqual({ kind: 'repeated' });
    expect(on.rows()).toHaveLength(3);
    on.program.clock.advance(DAY);
    expect(await purgePhotos(on.program.app, HOUR)).toEqual({ purged: 3, notFound: 0 });
    expect([on.rows(), on.files()]).toEqual([[], []]);
  });

  it('replaces stored files that are missing if it comes again', async () => {
    const on = await photoProgram();
    const token = await on.ask();
    await deliver(on, token, [JPEG, PNG, JPEG]);
    const [rows, files] = [on.rows(), on.files()];
    rmSync(join(on.folder, String(rows[1]?.['stored_name'])));
    expect(await deliver(on, token, [JPEG, PNG, JPEG])).toEqual({ kind: 'repeated' });
    expect([on.rows(), on.files()]).toEqual([rows, files]);
    rmSync(on.folder, { recursive: true });
    expect(await deliver(on, token, [JPEG, PNG, JPEG])).toEqual({ kind: 'repeated' });
    expect([on.rows(), on.files()]).toEqual([rows, files]);
    for (const row of rows) {
      const content = readFileSync(join(on.folder, String(row['stored_name'])));
      expect(sha256(content)).toBe(row['sha256']);
    }
    const outside = join(dirname(on.folder), 'not-a-photo');
    on.program.merchant
      .prepare('update photos set stored_name = ? where id = ?')
      .run('../not-a-photo', rows[0]?.['id']);
    expect(await deliver(on, token, [JPEG, PNG, JPEG])).toEqual({ kind: 'repeated' });
    expect(existsSync(outside)).toBe(false);
  });

  it('is refused once the token has expired while it was arriving', async () => {
    const on = await photoProgram();
    const token = await on.ask();
    async function* slowly() {
      yield* form(details(token), file(JPEG));
      on.program.clock.advance(DAY);
    }
    expect(await accepted(on, slowly())).toMatchObject(FORBIDDEN);
    expect([on.rows(), on.files()]).toEqual([[], []]);
  });

  it('leaves nothing when what it comes from breaks off', async () => {
    const on = await photoProgram();
    const token = await on.ask();
    async function* broken() {
      yield* form(details(token), file(JPEG));
      throw new Error('the line is cut');
    }
    await expect(accepted(on, broken())).rejects.toThrow('the line is cut');
    expect([on.rows(), on.files()]).toEqual([[], []]);
    expect(await deliver(on, token)).toEqual({ kind: 'stored' });
  });

  it.each([
    ['no details', 'unreadable', () => [file(JPEG)]],
    ['no files', 'unreadable', (token: string) => [details(token)]],
    ['two parts of details', 'unreadable', (token: string) => [details(token), details(token), file(JPEG)]],
    ['an empty token', 'unreadable', () => [details(''), file(JPEG)]],
    ['a token that is no text', 'unreadable', () => [details(7), file(JPEG)]],
    ['details as long as a book', 'too-large', () => [details('x'.repeat(5_000)), file(JPEG)]],
    ['nothing but an empty file', 'unreadable', (token: string) => [details(token), file(Buffer.alloc(0))]],
    ['nothing but an SVG', 'unreadable', (token: string) => [details(token), file(Buffer.from('<svg>'), 'a.jpg')]],
    ['a file too many', 'too-large', (token: string) => [details(token), file(JPEG), file(PNG), file(JPEG), file(PNG)]],
    [
      'nothing but a file that is too large',
      'too-large',
      (token: string) => [details(token), file(Buffer.alloc(101, JPEG))],
    ],
    [
      'files that are too large together',
      'too-large',
      (token: string) => [details(token), file(Buffer.alloc(100, JPEG)), file(Buffer.alloc(51, JPEG))],
    ],
  ])('with %s is refused as %s and leaves nothing', async (_what, why, parts) => {
    const environment = {
      ORDER_SYNC_PHOTOS_MAX_FILES: '3',
      ORDER_SYNC_PHOTOS_MAX_FILE_BYTES: '100',
      ORDER_SYNC_PHOTOS_MAX_TOTAL_BYTES: '150',
    };
    const on = await photoProgram({ environment });
    const token = await on.ask();
    expect(await accepted(on, form(...parts(token)))).toMatchObject({ kind: 'refused', why });
    expect([on.rows(), on.files()]).toEqual([[], []]);
    expect(JSON.stringify(on.log.lines)).not.toContain(token);
  });

  it('may have parts that are not ours, and exactly as many and as large files as the limits say', async () => {
    const environment = { ORDER_SYNC_PHOTOS_MAX_FILES: '2', ORDER_SYNC_PHOTOS_MAX_FILE_BYTES: '100' };
    const on = await photoProgram({ environment: { ...environment, ORDER_SYNC_PHOTOS_MAX_TOTAL_BYTES: '150' } });
    const token = await on.ask();
    const other = { ...file(Buffer.alloc(2_000)), name: 'signature' };
    const parts = form(other, file(Buffer.alloc(100, JPEG)), details(token), file(Buffer.alloc(50, JPEG)));
    expect(await accepted(on, parts)).toEqual({ kind: 'stored' });
    expect(on.rows().map(({ size }) => size)).toEqual([100, 50]);
  });

  it('goes to a place that no id of a link can choose', async () => {
    const on = await photoProgram();
    const token = await on.ask('../../../etc/a\u0301');
    expect(await deliver(on, token, [JPEG])).toEqual({ kind: 'stored' });
    const [row] = on.rows();
    expect(row).toMatchObject({ link_id: '../../../etc/a\u0301', stored_name: on.files()[0] });
  });

  it('leaves nothing when its rows cannot be written', async () => {
    const on = await photoProgram();
    const token = await on.ask();
    on.program.merchant.exec(
      `create trigger no_png before insert on photos when new.type = 'image/png' begin select raise(abort, 'no'); end`,
    );
    await expect(deliver(on, token)).rejects.toThrow(StoreError);
    expect([on.rows(), on.files()]).toEqual([[], []]);
    on.program.merchant.exec('drop trigger no_png');
    expect(await deliver(on, token)).toEqual({ kind: 'stored' });
  });
});

describe('a delivery that comes again after it was recorded and not moved', () => {
  it('is moved to its place, though the program runs without a sweep', async () => {
    const on = await photoProgram();
    const token = await on.ask();
    const failure = vi.spyOn(PhotoFolder.prototype, 'move').mockRejectedValueOnce(new Error('the disk fails here'));
    await expect(deliver(on, token)).rejects.toThrow('the disk fails here');
    failure.mockRestore();
    expect(await deliver(on, token)).toEqual({ kind: 'repeated' });
    expect(on.files()).toEqual(
      on
        .rows()
        .map((row) => String(row['stored_name']))
        .toSorted(),
    );
  });
});

describe('the sweep', () => {
  it('moves what a crash left between the commit and the rename, and takes away what was not recorded', async () => {
    const on = await photoProgram();
    const token = await on.ask();
    const crash = vi.spyOn(PhotoFolder.prototype, 'move').mockRejectedValueOnce(new Error('the process dies here'));
    await expect(deliver(on, token)).rejects.toThrow('the process dies here');
    crash.mockRestore();
    mkdirSync(join(on.folder, '.incoming', 'half'));
    writeFileSync(join(on.folder, '.incoming', 'half', 'a'), JPEG);
    writeFileSync(join(on.folder, '.incoming', 'astray'), JPEG);
    const names = on.rows().map((row) => String(row['stored_name']));
    expect(names).toHaveLength(2);
    expect(on.files().filter((path) => names.includes(path))).toEqual([]);
    await sweepPhotos(on.program.app);
    expect(on.files()).toEqual(names.toSorted());
    expect(on.log.with(/were cleaned up/)).toMatchObject([{ deliveries: 3 }]);
    expect(await deliver(on, token)).toEqual({ kind: 'repeated' });
  });

  it('belong to the account for which they were asked: the token knows it', async () => {
    const on = await photoProgram();
    const token = 'a-token-of-the-second-shop';
    await requestPhotos({ ...on.program.app, account: 'shop-2' }, { linkId: 'l1', level: 'MAIN', token });
    const again = requestPhotos(on.program.app, { linkId: 'l1', level: 'MAIN', token });
    await expect(again).rejects.toThrow(UnusableIdError);
    expect(await deliver(on, token)).toEqual({ kind: 'stored' });
    expect(on.rows().map(({ account }) => account)).toEqual(['shop-2', 'shop-2']);
    await sweepPhotos(on.program.app);
    expect(await deliver(on, token)).toEqual({ kind: 'repeated' });
  });

  it('does nothing when there is nothing to do', async () => {
    const on = await photoProgram();
    const token = await on.ask();
    await deliver(on, token);
    const [rows, files, lines] = [on.rows(), on.files(), on.log.lines.length];
    await sweepPhotos(on.program.app);
    expect([on.rows(), on.files(), on.log.lines.length]).toEqual([rows, files, lines]);
  });

  it('says how many photos of the table are not in the folder', async () => {
    const on = await photoProgram();
    await deliver(on, await on.ask());
    rmSync(join(on.folder, on.files()[0] ?? ''));
    await sweepPhotos(on.program.app);
    expect(on.log.with(/not in photos.folder/)).toMatchObject([{ photos: 1 }]);
    renameSync(on.folder, `${on.folder}-moved`);
    await sweepPhotos(on.program.app);
    expect(on.log.with(/not in photos.folder/)).toMatchObject([{ photos: 1 }, { photos: 2 }]);
  });

  it('forgets tokens that expired unused 30 days ago, and no others', async () => {
    const on = await photoProgram();
    await on.ask('l1');
    const used = await on.ask('l2');
    await deliver(on, used);
    on.program.clock.advance(31 * DAY - 1);
    await on.ask('l3');
    await sweepPhotos(on.program.app);
    expect(on.tokens()).toHaveLength(3);
    on.program.clock.advance(1);
    await sweepPhotos(on.program.app);
    expect(on.tokens().map((row) => row['link_id'])).toEqual(expect.arrayContaining(['l2', 'l3']));
    expect(on.tokens()).toHaveLength(2);
  });
});

describe('the purge', () => {
  it('is done by retention.photos, files and rows', async () => {
    const on = await photoProgram();
    await deliver(on, await on.ask('l1'), [JPEG]);
    on.program.clock.advance(2 * HOUR);
    const deps = (photos: number) => ({
      ...on.program.app,
      purges: purgesOf(on.program.app, { photos }),
    });
    expect(await purgeAccount(deps(3 * HOUR), 'default', NEVER)).toMatchObject({ photos: 0 });
    expect(await purgeAccount(deps(HOUR), 'default', NEVER)).toMatchObject({ photos: 1 });
    expect([on.rows(), on.files()]).toEqual([[], []]);
  });

  it('takes files and rows that are older away, and leaves the others', async () => {
    const on = await photoProgram();
    const old = await on.ask('l1');
    await deliver(on, old);
    on.program.clock.advance(HOUR);
    const kept = await on.ask('l1');
    await deliver(on, kept, [JPEG]);
    on.program.clock.advance(HOUR);
    expect(await purgePhotos(on.program.app, 2 * HOUR)).toEqual({ purged: 0, notFound: 0 });
    expect(await purgePhotos(on.program.app, HOUR + 1)).toEqual({ purged: 2, notFound: 0 });
    expect(on.rows().map((row) => row['stored_name'])).toEqual(on.files());
    expect(on.files()).toHaveLength(1);
    expect(await deliver(on, old)).toMatchObject(FORBIDDEN);
    expect(await deliver(on, kept, [JPEG])).toEqual({ kind: 'repeated' });
  });

  it('takes more away than it reads at a time', async () => {
    const on = await photoProgram({ environment: { ORDER_SYNC_PHOTOS_MAX_FILES: '450' } });
    const contents = Array.from({ length: 450 }, (_, index) =>
      Buffer.from(`${JPEG.toString('latin1')}${index}`, 'latin1'),
    );
    await deliver(on, await on.ask(), contents);
    on.program.clock.advance(HOUR);
    expect(await purgePhotos(on.program.app, HOUR / 2)).toEqual({ purged: 450, notFound: 0 });
    expect([on.rows(), on.files()]).toEqual([[], []]);
  });

  it('deletes nothing outside of its folder, whatever path somebody has written into the database', async () => {
    const on = await photoProgram();
    await deliver(on, await on.ask(), [JPEG]);
    const outside = join(dirname(on.folder), 'not-a-photo');
    writeFileSync(outside, 'kept');
    on.program.merchant.prepare('update photos set stored_name = ?').run('../not-a-photo');
    on.program.clock.advance(HOUR);
    expect(await purgePhotos(on.program.app, HOUR / 2)).toEqual({ purged: 1, notFound: 0 });
    expect(existsSync(outside)).toBe(true);
  });

  it('leaves rows whose files are not in its folder', async () => {
    const on = await photoProgram();
    await deliver(on, await on.ask(), [JPEG, PNG]);
    on.program.clock.advance(HOUR);
    const environment = { ...settingsOf(on.program), ORDER_SYNC_PHOTOS_FOLDER: temporaryFolder() };
    const [rows, files] = [on.rows(), on.files()];
    const { code, stdout, stderr } = await runProgram(['photos', 'purge', '--older-than', '1m', '--json'], {
      environment,
    });
    expect([code, JSON.parse(stdout)]).toEqual([1, { purged: 0, notFound: 2 }]);
    expect(stderr).toContain(environment.ORDER_SYNC_PHOTOS_FOLDER);
    expect([on.rows(), on.files()]).toEqual([rows, files]);
    expect(await purgePhotos(on.program.app, HOUR / 2)).toEqual({ purged: 2, notFound: 0 });
  });

  it('of retention.photos gets past rows whose files are elsewhere, a page at a time', async () => {
    const on = await photoProgram({ environment: { ORDER_SYNC_PHOTOS_MAX_FILES: '250' } });
    const contents = Array.from({ length: 250 }, (_, index) => Buffer.concat([JPEG, Buffer.from(`${index}`)]));
    await deliver(on, await on.ask('l1'), contents);
    rmSync(on.folder, { recursive: true });
    on.program.clock.advance(HOUR);
    await deliver(on, await on.ask('l2'), [JPEG]);
    on.program.clock.advance(2 * HOUR);
    const deps = { ...on.program.app, purges: purgesOf(on.program.app, { photos: HOUR }) };
    const purged = async () => (await purgeAccount(deps, 'default', NEVER))['photos'];
    expect([await purged(), await purged(), await purged(), await purged()]).toEqual([0, 1, 0, 0]);
    expect([on.rows().length, on.files()]).toEqual([250, []]);
  });

  it('continues after an interruption: files that were deleted before are skipped', async () => {
    const on = await photoProgram();
    await deliver(on, await on.ask());
    for (const name of on.files()) rmSync(join(on.folder, name));
    on.program.clock.advance(HOUR);
    expect(await purgePhotos(on.program.app, HOUR / 2)).toEqual({ purged: 2, notFound: 0 });
    expect(on.rows()).toEqual([]);
  });
});
