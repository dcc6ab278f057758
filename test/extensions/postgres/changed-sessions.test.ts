import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { StoreError } from '../../../src/store/errors.ts';
import { lockOrder, readOrder } from '../../../src/store/orders/orders.ts';
import { lockFollowed } from '../../../src/store/orders/orders-with-records.ts';
import type { Store } from '../../../src/store/port.ts';
import { postgresError } from '../../../src/extensions/postgres/errors.ts';
import { openStore } from '../../../src/extensions/postgres/store.ts';
import { openMerchant } from '../../support/merchant-postgres.ts';
import { findPostgres } from '../../support/postgres-server.ts';
import { newPostgresDatabase } from '../../support/postgres.ts';
import { ownedStore, placeOf } from '../../support/postgres-store.ts';

/** An owner that has prepared its statements on several connections. */
async function preparedOwner() {
  const database = await newPostgresDatabase();
  const merchant = openMerchant(database);
  onTestFinished(() => void merchant.close());
  const store = await openStore(placeOf(database.url), systemClock(), { expect: 'current' });
  onTestFinished(() => store.close());
  merchant.exec(`insert into merchant_orders (external_order_id, asset) values ('a', '1.5')`);
  const owner = await ownedStore(store, 'default');
  const use = async () => ({
    read: await readTogether(store),
    locked: await lock(owner),
    followed: await follow(owner),
  });
  expect(await use()).toEqual(WORKED);
  return { merchant, store, owner, use };
}

const WORKED = { read: ['1.5', '1.5', '1.5', '1.5'], locked: '1.5', followed: '1.5' };

async function readTogether({ db }: Store) {
  const rows = await Promise.all(Array.from({ length: 4 }, () => readOrder(db, 'default', 'a')));
  return rows.map((row) => row?.asset);
}

const lock = ({ writer }: Store) => writer.write(async (tx) => (await lockOrder(tx, 'default', 'a'))?.asset);
const follow = ({ writer }: Store) => writer.write(async (tx) => (await lockFollowed(tx, 'default', 'a'))?.asset);

describe('a statement that was prepared', () => {
  it.each([
    ['the merchant has added a column', 'alter table merchant_orders add column note text'],
    [
      'the merchant has changed the type of a column',
      'alter table merchant_orders alter column bonus type varchar(90)',
    ],
  ])('runs again once %s', async (_name, change) => {
    const { merchant, use } = await preparedOwner();
    merchant.exec(change);
    expect(await use()).toEqual(WORKED);
    expect(await use()).toEqual(WORKED);
  });

  it('runs again if the session of its connection has none of them any more, as behind a pooler', async () => {
    const { store, owner, use } = await preparedOwner();
    await Promise.all(Array.from({ length: 4 }, () => sql`deallocate all`.execute(store.db)));
    expect(await use()).toEqual(WORKED);
    const written = owner.writer.write(async (tx) => {
      await lockOrder(tx, 'default', 'a');
      await sql`deallocate all`.execute(tx);
      return (await lockOrder(tx, 'default', 'a'))?.asset;
    });
    expect(await written).toBe(WORKED.locked);
    expect(await use()).toEqual(WORKED);
  });

  it.each(['26000', '42P05'])('that a pooler has lost names the pooler: %s', (code) => {
    const error = Object.assign(new pg.DatabaseError('prepared statement', 1, 'error'), { code });
    expect(postgresError(error, 'postgres://u@h/d')).toMatchObject({
      problem: 'unusable',
      message: expect.stringContaining('PgBouncer'),
    });
  });
});

describe('an error that comes in a function', () => {
  const of = (fields: Readonly<Record<string, string>>) =>
    postgresError(Object.assign(new pg.DatabaseError('what happened', 1, 'error'), fields), 'address');

  it.each([
    ['42P01', 'PL/pgSQL function of_the_shop() line 1 at SQL statement', 'of_the_shop()'],
    ['0A000', 'PL/pgSQL-Funktion shop.of_the_shop() Zeile 1 bei RAISE', 'shop.of_the_shop()'],
    [
      '57014',
      'SQL statement "select pg_sleep(60)"\nPL/pgSQL function of_the_shop() line 1 at PERFORM',
      'of_the_shop()',
    ],
    ['38000', 'PL/Python function "of_the_shop"', 'of_the_shop'],
  ])('is a refusal of the row, which names it: %s', (code, where, name) => {
    const error = of({ code, where });
    expect(error.problem).toBe('refused');
    expect(error.message).toContain(`(in ${name})`);
  });

  it('is a refusal of the row with every code if the function raises it', () => {
    const where = 'PL/pgSQL function of_the_shop() line 1 at RAISE';
    for (const code of ['53100', '57P01', '40001', '28000']) {
      expect(of({ code, where, routine: 'exec_stmt_raise' }).problem).toBe('refused');
    }
  });

  it.each([
    ['a full disk', { code: '53100', where: 'PL/pgSQL function of_the_shop() line 1 at SQL statement' }, 'disk'],
    ['a lock', { code: '55P03', where: 'PL/pgSQL function of_the_shop() line 1 at SQL statement' }, 'busy'],
    ['a value', { code: '42P01', where: `unnamed portal with parameters: $1 = 'f()'` }, 'unusable'],
    [
      'a row that is locked',
      { code: '55P03', where: 'while locking tuple (0,1) in relation "merchant_orders"' },
      'busy',
    ],
    ['no function', { code: 'XX000' }, 'unusable'],
    ['no room for the files of a session', { code: 'XX000', severity: 'FATAL' }, 'disk'],
  ])('is what it is if it tells of %s', (_name, fields, problem) => {
    const error = of(fields);
    expect(error).toBeInstanceOf(StoreError);
    expect(error.problem).toBe(problem);
  });
});

describe.skipIf(findPostgres() === undefined)('synchronous_commit of a transaction that writes', () => {
  it.each([
    ['off', 'on'],
    ['local', 'on'],
    ['remote_write', 'on'],
    ['on', 'on'],
    ['remote_apply', 'remote_apply'],
  ])('is %s for the role while the program runs: the transaction has %s', async (set, expected) => {
    const database = await newPostgresDatabase();
    const admin = openMerchant(database, 'postgres');
    onTestFinished(() => void admin.close());
    const store = await openStore(placeOf(database.url), systemClock(), { expect: 'current' });
    onTestFinished(() => store.close());
    const owner = await ownedStore(store, 'default');
    const name = database.connection.database;
    admin.exec(`alter database ${name} set synchronous_commit = ${set}`);
    admin.exec(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and usename = 'order_sync'`,
    );
    const show = sql<{ value: string }>`select current_setting('synchronous_commit') as value`;
    const shown = async ({ writer }: Store) =>
      await writer.write(async (tx) => (await show.execute(tx)).rows[0]?.value);
    expect([await shown(owner), await shown(store)]).toEqual([expected, expected]);
  });
});
