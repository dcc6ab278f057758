import { join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { appendToChain } from '../../../../src/store/tables/chain.ts';
import { orderIds } from '../../../../src/store/orders/orders.ts';
import { moveDatabase } from '../../../../src/extensions/postgres/move/copy.ts';
import { COPIED, COPIED_TABLES } from '../../../../src/extensions/postgres/move/tables.ts';
import type { MarkContent, Store } from '../../../../src/store/port.ts';
import { openConnections } from '../../../../src/extensions/postgres/connection.ts';
import { openStore as openPostgresStore } from '../../../../src/extensions/postgres/store.ts';
import { openStore } from '../../../../src/store/sqlite/store.ts';
import { newDatabase, temporaryFolder } from '../../../support/folders.ts';
import { openMerchant } from '../../../support/merchant-postgres.ts';
import type { Merchant } from '../../../support/merchant.ts';
import { newPostgresDatabase, type PostgresTestDatabase } from '../../../support/postgres.ts';
import { findPostgres } from '../../../support/postgres-server.ts';
import { placeOf } from '../../../support/postgres-store.ts';
import { unguarded } from '../../../support/unguarded.ts';

const clock = systemClock();
/** Beyond what 32 bits hold. */
const LARGE = 9_007_199_254_740_000;
const quiet = async () => {};
const ODD = `"quoted" \\ back, \u{1F600} beyond, \uFFFD as it is,\r\n\t line, ' and \u0001`;
const COLUMNS = 'external_order_id, asset, from_currency, to_currency';

let path = '';
let database: PostgresTestDatabase;
let merchant: Merchant;
beforeEach(async () => {
  path = join(temporaryFolder(), 'orders.db');
  await newDatabase(path);
  database = await newPostgresDatabase();
  merchant = openMerchant(database);
});

const sqlite = <Result>(work: (database: Database.Database) => Result): Result => {
  const opened = new Database(path);
  try {
    return work(opened);
  } finally {
    opened.close();
  }
};

/** Puts a row into a table: texts are odd ones, numbers those given. */
function fill(table: string, values: Readonly<Record<string, unknown>> = {}): void {
  sqlite((db) => {
    const columns = db.pragma(`table_info(${table})`) as { name: string; type: string; pk: number }[];
    const row = columns.map(({ name, type }) =>
      name in values ? values[name] : type.toLowerCase() === 'integer' ? LARGE : `${name} ${ODD}`,
    );
    const marks = row.map(() => '?').join(', ');
    unguarded(db, () => db.prepare(`insert into ${table} values (${marks})`).run(...row));
  });
}

/** A database with a row in each table at least, and a whole chain of events. */
async function filled(): Promise<void> {
  for (const table of COPIED_TABLES) if (table !== 'events' && table !== 'event_heads') fill(table);
  for (const id of ['a', 'B', 'ä', '\u{1F600}', '\uFFFD', 'a b'])
    fill('merchant_orders', { account: 'default', external_order_id: id, state: 'open', bonus: null });
  sqlite((db) =>
    db.exec(`insert into photos (id, account, link_id, level, request_id, delivery, original_name, size, sha256, received_at)
    values (7, 'a', 'b', 'c', 'r', 'd', 'e', 1, 'f', 'g'); delete from photos where id > 7`),
  );
  await withStore(async (store) => {
    for (const account of ['default', 'shop-2', 'default']) {
      const event = { type: 'order', field: 'state', old_value: null, new_value: ODD, observed_at: ODD } as const;
      const empty = {
        looked_up_before: null,
        exchange_time: null,
        source: 'create',
        reason: null,
        actor: null,
      } as const;
      await store.writer.write((tx) => appendToChain(tx, account, [{ ...event, ...empty, account, subject: ODD }]));
    }
  });
}

async function withStore<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openStore(path, clock, { expect: 'current' });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

interface Target {
  readonly store: Store;
  /** The content of the mark of each account. */
  readonly marks: Map<string, MarkContent>;
}

async function openTarget(): Promise<Target> {
  const store = await openPostgresStore(placeOf(database.url), clock, { expect: 'migrate' });
  onTestFinished(() => store.close());
  const marks = new Map<string, MarkContent>();
  return { store: withMarks(store, async (account, content) => void marks.set(account, content)), marks };
}

/** The store with marks that are written in another way. */
function withMarks(store: Store, write: (account: string, content: MarkContent) => Promise<void>): Store {
  const forAccount: Store['forAccount'] = (account) => {
    const own = store.forAccount(account);
    const position = async () => await own.mark.position();
    const mark = { ...own.mark, position, write: async (content: MarkContent) => await write(account, content) };
    return { ...own, mark };
  };
  return { ...store, forAccount };
}

async function move(given?: Target) {
  const { store: target } = given ?? (await openTarget());
  await using connections = openConnections(placeOf(database.url), { max: 1 });
  const session = await connections.lend();
  try {
    return await withStore((source) => moveDatabase({ source, target, session, clock }, quiet));
  } finally {
    session.release(true);
  }
}

const rowsOf = (table: keyof typeof COPIED) => {
  const order = COPIED[table].join(', ');
  const text = `select * from ${table} order by ${order}`;
  return { here: sqlite((db) => db.prepare(text).all()), there: merchant.prepare(text).all() };
};
const insertInto = (place: { exec(sql: string): unknown }, id: string) =>
  place.exec(`insert into merchant_orders (${COLUMNS}) values ('${id}', '1', 'BTC', 'EUR')`);

describe.skipIf(findPostgres() === undefined)('a move from SQLite to PostgreSQL', () => {
  it('takes every row of every table along, byte for byte, and new ids continue', async () => {
    await filled();
    const copied = await move();
    expect(copied).toMatchObject({ tables: { merchant_orders: 7, events: 3, photos: 1 }, others: [] });
    for (const table of COPIED_TABLES) {
      const { here, there } = rowsOf(table);
      expect([table, there]).toEqual([table, here]);
      expect(here.length).toBeGreaterThan(0);
    }
    insertInto(merchant, 'new');
    merchant.exec(
      `insert into findings (account, class, severity, first_seen_at, last_seen_at) values ('a', 'b', 'c', 'd', 'e')`,
    );
    expect(merchant.prepare('select max(id) from findings').pluck().get()).toBe(LARGE + 1);
  });

  it('leaves the old database to be read alone, and says where its orders are', async () => {
    await filled();
    sqlite((db) => insertInto(db, 'waits'));
    const target = await openTarget();
    await move(target);
    expect(() => sqlite((db) => insertInto(db, 'late'))).toThrow('the orders of this database were moved');
    expect(() => sqlite((db) => db.exec(`update merchant_orders set bonus = 'x' where state = 'pending'`))).toThrow(
      'were moved',
    );
    expect(() => sqlite((db) => db.exec('delete from merchant_orders'))).toThrow('were moved');
    await withStore(async (store) => {
      expect(await orderIds(store.db, { account: 'default', states: ['open'], fromId: '', limit: 9 })).toHaveLength(6);
      await expect(store.writer.write(async () => {})).rejects.toMatchObject({
        problem: 'unusable',
        message: expect.stringContaining(`was moved to ${target.store.address}`) as string,
      });
    });
    await expect(move()).resolves.toBeUndefined();
    const at = expect.any(String) as string;
    expect([...target.marks.values()]).toMatchObject([{ generation: LARGE, eventId: 0, at }]);
  });

  it('continues if it was broken off: one of the two can be written to, and none loses a row', async () => {
    await filled();
    const target = await openTarget();
    // The old database is marked as moved, and the new one has not arrived yet.
    const killed = withMarks(target.store, () => Promise.reject(new Error('killed')));
    await expect(move({ ...target, store: killed })).rejects.toThrow('killed');
    expect(() => insertInto(merchant, 'early')).toThrow('are being moved here');
    expect(() => sqlite((db) => insertInto(db, 'late'))).toThrow('the orders of this database were moved');
    await move(target);
    insertInto(merchant, 'new');

    // The copy is whole, and the old database does not know of it: it continues, and is copied again.
    merchant.exec(`update database_moves set state = 'arriving'`);
    sqlite((db) => db.exec('delete from database_moves'));
    sqlite((db) => insertInto(db, 'later'));
    await move(target);
    const { here, there } = rowsOf('merchant_orders');
    expect(there).toEqual(here);
  });

  it('copies nothing into a database that has rows, nor one whose copy is of another database', async () => {
    await filled();
    merchant.exec(`insert into workers (holder, seen_until, host, started_at) values ('a', 'b', 'c', 'd')`);
    await expect(move()).rejects.toMatchObject({ problem: 'refused' });
    merchant.exec(`delete from workers; insert into database_moves values ('1', '/other.db', 'x', 'y', 'arriving')`);
    await expect(move()).rejects.toMatchObject({ problem: 'refused' });
    expect(merchant.prepare('select count(*) from merchant_orders').pluck().get()).toBe(0);
    sqlite((db) => insertInto(db, 'goes-on'));
  });

  it.each([
    ['a NUL', `insert into links values ('a', 'b' || char(0), 'c', 'd', 'e', 'f', 'g', 'h', null)`, 'link_id'],
    ['bytes', `insert into links values ('a', 'b', x'6162', 'd', 'e', 'f', 'g', 'h', null)`, 'reference'],
    [
      'text that is none',
      `insert into links values ('a', 'b', cast(x'e282' as text), 'd', 'e', 'f', 'g', 'h', null)`,
      'reference',
    ],
    ['a number of another kind', `insert into account_owners (account, generation) values ('a', 1.5)`, 'generation'],
    [
      'a number too large',
      `insert into account_owners (account, generation) values ('a', 9007199254740993)`,
      'generation',
    ],
    ['too long a key', `insert into account_facts values (printf('%.201c', 'a'), 'b', 'c', 'd')`, 'account'],
  ])('refuses %s by table, key and column, and copies nothing', async (_what, statement, column) => {
    await filled();
    sqlite((db) => db.exec(statement));
    await expect(move()).rejects.toMatchObject({
      problem: 'refused',
      message: expect.stringMatching(new RegExp(`^\\w+ \\(account .*${column}.*nothing was copied`)) as string,
    });
    expect(merchant.prepare('select count(*) from account_facts').pluck().get()).toBe(0);
    sqlite((db) => insertInto(db, 'goes-on'));
  });

  it('refuses a broken chain of events', async () => {
    await filled();
    sqlite((db) => db.exec(`drop trigger events_no_update; update events set new_value = 'x' where id = 2`));
    await expect(move()).rejects.toMatchObject({ problem: 'unusable' });
  });

  it('names a row that the copy has differently, and is then undone', async () => {
    await filled();
    // A merchant's own trigger of the new database.
    merchant.exec(
      `create function theirs() returns trigger language plpgsql as $$ begin new.reason := 'x'; return new; end $$`,
    );
    merchant.exec('create trigger theirs before insert on findings for each row execute function theirs()');
    await expect(move()).rejects.toThrow(/^findings \(id 9007199254740000\) differs in reason/);
    expect(merchant.prepare('select count(*) from merchant_orders').pluck().get()).toBe(0);
    sqlite((db) => insertInto(db, 'goes-on'));
  });
});
