import { chmodSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { checkOrder } from '../../../src/orders/rules/check.ts';
import { move } from '../../../src/orders/rules/tracking.ts';
import { readOrder, saveDecision } from '../../../src/store/orders/orders.ts';
import { trackingOf, uncheckedOrderOf } from '../../../src/store/orders/order-columns.ts';
import type { Store } from '../../../src/store/port.ts';
import { openStore } from '../../../src/store/sqlite/store.ts';
import { newDatabase } from '../../support/folders.ts';
import { trackingWith } from '../../support/tracking.ts';
import { unguarded } from '../../support/unguarded.ts';
import type { Subject } from '../contract.ts';

interface SqliteSubject extends Subject {
  readonly path: string;
  /** The merchant's connection: plain, with no settings of its own. */
  readonly merchant: Database.Database;
}

async function open(): Promise<SqliteSubject> {
  const folder = mkdtempSync(join(tmpdir(), 'order-sync-'));
  const path = join(folder, 'orders.db');
  await newDatabase(path);
  const store = await openStore(path, systemClock(), { expect: 'current' });
  const merchant = new Database(path, { timeout: 0 });
  return {
    path,
    store,
    merchant,
    run: (text) => merchant.exec(text),
    async [Symbol.asyncDispose]() {
      merchant.close();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

let subject: SqliteSubject;
let store: Store;
beforeEach(async () => {
  subject = await open();
  ({ store } = subject);
});
afterEach(async () => await subject[Symbol.asyncDispose]());

const COLUMNS = 'external_order_id, asset, from_currency, to_currency';

/** An order that was sent, with its history, and one that was not. */
async function sentAndPending(): Promise<void> {
  subject.run(
    `insert into merchant_orders (${COLUMNS}) values ('sent', '1', 'BTC', 'EUR'), ('new', '1', 'BTC', 'EUR')`,
  );
  const claim = move(trackingWith({ externalOrderId: 'sent' }), 'sending', { source: 'create' }, { attempts: 1 });
  await store.writer.write((tx) => saveDecision(tx, trackingWith(), claim, new Date()));
}

const rows = () =>
  subject.merchant
    .prepare('select external_order_id, state, asset from merchant_orders order by external_order_id')
    .raw()
    .all();
const SENT_AND_PENDING = [
  ['new', 'pending', '1'],
  ['sent', 'sending', '1'],
];

describe('a sent order in SQLite', () => {
  it.each([
    `insert or replace into merchant_orders (${COLUMNS}) values ('sent', '1', 'BTC', 'EUR')`,
    `replace into merchant_orders (${COLUMNS}) values ('sent', '2', 'BTC', 'EUR')`,
    `insert into merchant_orders (${COLUMNS}) values ('sent', '2', 'BTC', 'EUR') on conflict do update set asset = excluded.asset`,
    `update or replace merchant_orders set external_order_id = 'sent' where external_order_id = 'new'`,
  ])('is not taken away by "%s"', async (text) => {
    await sentAndPending();
    expect(() => subject.run(text)).toThrow('this order was sent and cannot be');
    expect(rows()).toEqual(SENT_AND_PENDING);
  });

  it.each([
    `update or replace merchant_orders set external_order_id = 'sent' where external_order_id = 'new'`,
    `insert or replace into merchant_orders (external_order_id) values ('sent')`,
  ])('is not taken away while it waits to be sent again by "%s"', async (text) => {
    await sentAndPending();
    const event = { field: 'state', oldValue: 'held', newValue: 'pending', exchangeTime: null } as const;
    for (const [state, more] of [
      ['unknown', {}],
      ['held', {}],
      ['pending', { resends: 1, stateReason: 'once more' }],
    ] as const) {
      await store.writer.write(async (tx) => {
        const row = await readOrder(tx, 'default', 'sent');
        if (row === undefined) throw new Error('there is no order');
        const tracking = { ...trackingOf(row), state, ...more };
        await saveDecision(
          tx,
          trackingOf(row),
          { tracking, events: [{ ...event, source: 'operator', reason: null }] },
          new Date(),
        );
      });
    }
    const waiting = [SENT_AND_PENDING[0], ['sent', 'pending', '1']];
    expect(rows()).toEqual(waiting);
    expect(() => subject.run(text)).toThrow('this order was sent and cannot be replaced');
    expect(rows()).toEqual(waiting);
  });

  it('has no second key by which it could be taken away', async () => {
    await sentAndPending();
    expect(() => subject.run(`select rowid from merchant_orders`)).toThrow('no such column: rowid');
  });

  it.each([
    `insert or ignore into merchant_orders (${COLUMNS}) values ('sent', '9', 'BTC', 'EUR')`,
    `insert into merchant_orders (${COLUMNS}) values ('sent', '9', 'BTC', 'EUR') on conflict do nothing`,
  ])('is passed over by "%s"', async (text) => {
    await sentAndPending();
    subject.run(text);
    expect(rows()).toEqual(SENT_AND_PENDING);
  });

  it('cannot be inserted once more without a word', async () => {
    await sentAndPending();
    expect(() => subject.run(`insert into merchant_orders (${COLUMNS}) values ('sent', '1', 'BTC', 'EUR')`)).toThrow(
      'UNIQUE constraint failed',
    );
  });

  it('may be replaced before it was sent', async () => {
    await sentAndPending();
    subject.run(`replace into merchant_orders (${COLUMNS}) values ('new', '2', 'BTC', 'EUR')`);
    expect(rows()).toEqual([
      ['new', 'pending', '2'],
      ['sent', 'sending', '1'],
    ]);
  });
});

describe('an amount in SQLite', () => {
  it.each([
    ['12345678901234567.123456789012345678', '12345678901234567.123456789012345678', true],
    ['1.50', '1.50', true],
    [' 5', ' 5', false],
    ['0x10', '0x10', false],
    [Buffer.from('5'), Buffer.from('5'), false],
    // A number is taken as SQLite writes it.
    [5, '5.0', true],
    [5n, '5', true],
    [0.1, '0.1', true],
    [12_345_678_901_234_567n, '12345678901234567', true],
    [Number.NaN, null, false],
    [Number.POSITIVE_INFINITY, 'Inf', false],
  ])('written as %o stands as %o, and can be sent: %o', async (written, stands, isSent) => {
    subject.merchant.prepare(`insert into merchant_orders (${COLUMNS}) values ('a', ?, 'BTC', 'EUR')`).run(written);
    const row = await readOrder(store.db, 'default', 'a');
    expect(row?.asset).toEqual(stands);
    const checked = row && checkOrder(uncheckedOrderOf(row));
    expect(checked?.ok).toBe(isSent);
    if (checked?.ok === true) expect(checked.order.asset).toBe(stands);
  });

  it.each([
    [1e-7, '1.0e-07', '0.0000001'],
    [1e21, '1.0e+21', '1000000000000000000000'],
  ])('written as the number %s stands as %s and is sent as %s', async (written, stands, sent) => {
    subject.merchant.prepare(`insert into merchant_orders (${COLUMNS}) values ('a', ?, 'BTC', 'EUR')`).run(written);
    const row = await readOrder(store.db, 'default', 'a');
    expect(row?.asset).toBe(stands);
    expect(row && checkOrder(uncheckedOrderOf(row))).toMatchObject({ ok: true, order: { asset: sent } });
  });
});

describe('a row of an older database in SQLite', () => {
  it('is read also if it holds no time and no number', async () => {
    unguarded(subject.merchant, () =>
      subject.run(`insert into merchant_orders (external_order_id, last_lookup_at, sent_at, changed_at, attempts, resends)
        values ('a', 'yesterday', '', x'00', 'x', 1.5)`),
    );
    const row = await readOrder(store.db, 'default', 'a');
    expect(row && trackingOf(row)).toMatchObject({
      lastLookupAt: null,
      sentAt: null,
      changedAt: null,
      attempts: 0,
      resends: 0,
    });
  });
});

describe('a number in SQLite', () => {
  it('of what the program writes cannot be inserted as text', () => {
    expect(() => subject.run(`insert into merchant_orders (external_order_id, attempts) values ('a', 'x')`)).toThrow(
      'leave out what order-sync writes',
    );
  });
});

describe('an id in SQLite', () => {
  it('may be a number, which becomes text, but no bytes', () => {
    const insert = subject.merchant.prepare('insert into merchant_orders (external_order_id) values (?)');
    insert.run(7n);
    expect(subject.merchant.prepare('select external_order_id from merchant_orders').pluck().all()).toEqual(['7']);
    expect(() => insert.run(Buffer.from('a'))).toThrow('external_order_id_is_text');
  });
});

describe('the SQLite file', () => {
  it('and its folder can be opened by their owner alone', async () => {
    const folder = join(subject.path, '..', 'new');
    const path = join(folder, 'orders.db');
    const made = await openStore(path, systemClock(), { expect: 'migrate', createFolder: true });
    const modes = [folder, path, `${path}-wal`, `${path}-shm`].map((one) => statSync(one).mode & 0o777);
    await made.close();
    expect(modes).toEqual([0o700, 0o600, 0o600, 0o600]);
  });

  it.each([0o644, 0o660])('is closed to other users again if it was put back open to them: %o', async (mode) => {
    subject.run(`insert into merchant_orders (external_order_id) values ('a')`);
    const paths = ['', '-wal', '-shm'].map((ending) => `${subject.path}${ending}`);
    for (const path of paths) chmodSync(path, mode);
    await (await openStore(subject.path, systemClock(), { expect: 'current' })).close();
    expect(paths.map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
  });

  it('has a write-ahead log of bounded size, and each commit reaches the disk', async () => {
    const pragma = async (name: string) =>
      Object.values((await sql`pragma ${sql.raw(name)}`.execute(store.db)).rows[0] ?? {})[0];
    expect(await pragma('journal_mode')).toBe('wal');
    expect(await pragma('synchronous')).toBe(2);
    expect(await pragma('journal_size_limit')).toBe(64 * 1024 * 1024);
    expect(await pragma('foreign_keys')).toBe(1);
  });

  it('is locked for other writers from the first statement of a write on', async () => {
    const insert = subject.merchant.prepare(`insert into merchant_orders (external_order_id) values ('b')`);
    await store.writer.write(async (tx) => {
      await readOrder(tx, 'default', 'a');
      expect(() => insert.run()).toThrow('database is locked');
    });
    insert.run();
  });

  it.each<[string, (path: string) => void]>([
    ['moved', (path) => renameSync(path, `${path}.moved`)],
    ['deleted', (path) => rmSync(path)],
    [
      'replaced',
      (path) => {
        renameSync(path, `${path}.moved`);
        writeFileSync(path, 'another file');
      },
    ],
  ])('takes no more writes once it was %s', async (_what, change) => {
    expect(store.isInPlace()).toBe(true);
    change(subject.path);
    expect(store.isInPlace()).toBe(false);
    await expect(store.writer.write(() => Promise.resolve())).rejects.toMatchObject({
      problem: 'disk',
      message: expect.stringContaining('was moved or deleted while it was open') as string,
    });
  });
});
