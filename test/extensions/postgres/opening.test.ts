import { writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import type pg from 'pg';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MIGRATIONS } from '../../../migrations/postgres/index.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { StoreError } from '../../../src/store/errors.ts';
import { takenNames } from '../../../src/extensions/postgres/tables.ts';
import { openStore, type PostgresOptions } from '../../../src/extensions/postgres/store.ts';
import { rowsAtOnce } from '../../../src/store/pages.ts';
import { findPostgres, OWNER, PASSWORD, startPostgres, type PostgresServer } from '../../support/postgres-server.ts';
import { placeOf } from '../../support/postgres-store.ts';

const BIN = findPostgres();
const NAMES = Object.keys(MIGRATIONS);

let server: PostgresServer;
let admin: pg.Pool;
let databases = 0;

/** Makes an empty database; returns its name. */
async function newDatabase(how = ''): Promise<string> {
  const name = `d${(databases += 1)}`;
  await admin.query(`create database ${name} owner ${OWNER} ${how}`);
  return name;
}

type Settings = Readonly<Record<string, string>>;
const open = async (url: string, expect_: PostgresOptions['expect'], settings: Settings = {}) =>
  await openStore(placeOf(url, settings), systemClock(), { expect: expect_ });

/** Opens and closes a database. */
async function visit(name: string, expect_: PostgresOptions['expect']): Promise<void> {
  await (await open(server.url(name), expect_)).close();
}

/** Returns the problem of a database that cannot be used, once its message is one line without the password. */
async function problemOf(opening: Promise<unknown>): Promise<string> {
  const error: unknown = await opening.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof StoreError)) throw new Error('it is no StoreError', { cause: error });
  expect(error.message).not.toMatch(/\n|test( |%20)canary/);
  expect(error.message).toContain(';');
  return error.problem;
}

describe.skipIf(BIN === undefined)('a database of PostgreSQL', () => {
  beforeAll(async () => {
    server = await startPostgres(BIN ?? '');
    admin = server.admin();
  });
  afterAll(async () => {
    await admin.end();
    await server[Symbol.asyncDispose]();
  });

  it('is made by the command that makes it, and then found up to date', async () => {
    const url = server.url(await newDatabase());
    for (const expectation of ['upgrade', 'current'] as const) {
      expect(await problemOf(open(url, expectation))).toBe('unusable');
    }
    const before = await open(url, 'any');
    expect(await before.migrations()).toEqual({ applied: [], pending: NAMES, newer: [] });
    await before.close();
    // Two that do it at once wait for each other.
    const stores = await Promise.all([open(url, 'migrate'), open(url, 'migrate')]);
    for (const store of stores) {
      expect(await store.migrations()).toEqual({ applied: NAMES, pending: [], newer: [] });
      await store.close();
    }
    const name = new URL(url).pathname.slice(1);
    for (const expectation of ['upgrade', 'current', 'any', 'migrate'] as const) await visit(name, expectation);
  });

  it('is not touched if another program has tables with such names, and shared if they have others', async () => {
    const name = await newDatabase();
    const store = await open(server.url(name), 'any');
    const relations = async () => {
      const query = sql<{ name: string }>`select relname::text as name from pg_class
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'v')`;
      return (await query.execute(store.db)).rows.map((row) => row.name);
    };
    await sql`create table merchant_orders (id text)`.execute(store.db);
    expect(await problemOf(open(server.url(name), 'migrate'))).toBe('unusable');
    expect(await relations()).toEqual(['merchant_orders']);
    await sql`alter table merchant_orders rename to shop_orders`.execute(store.db);
    for (const expectation of ['migrate', 'upgrade', 'current'] as const) {
      expect(await problemOf(open(server.url(name), expectation))).toBe('unusable');
      expect(await relations()).toEqual(['shop_orders']);
    }
    const place = placeOf(server.url(name));
    await (await openStore(place, systemClock(), { expect: 'migrate', intoExisting: true })).close();
    await visit(name, 'migrate');
    // Nothing that is made is missing from what is looked for.
    const others = ['shop_orders', 'kysely_migration', 'kysely_migration_lock'];
    expect((await relations()).toSorted()).toEqual([...(await takenNames(store.db)), ...others].toSorted());
    await store.close();
  });

  it('is not touched if another commit made it', async () => {
    const name = await newDatabase();
    await visit(name, 'migrate');
    const store = await open(server.url(name), 'any');
    for (const change of [`update migration_hashes set hash = 'other'`, 'drop table migration_hashes']) {
      await sql.raw(change).execute(store.db);
      for (const expectation of ['migrate', 'upgrade', 'current', 'any'] as const) {
        expect(await problemOf(open(server.url(name), expectation))).toBe('unusable');
      }
    }
    await store.close();
  });

  it('is not touched if another version made it', async () => {
    const name = await newDatabase();
    await visit(name, 'migrate');
    const store = await open(server.url(name), 'any');
    await store.db
      .withTables<{ kysely_migration: { name: string; timestamp: string } }>()
      .insertInto('kysely_migration')
      .values({ name: '9999_later', timestamp: 'now' })
      .execute();
    await store.close();
    for (const expectation of ['migrate', 'upgrade', 'current', 'any'] as const) {
      expect(await problemOf(open(server.url(name), expectation))).toBe('unusable');
    }
  });

  it.each([
    ['has another encoding', `encoding 'LATIN1' locale 'C' template template0`, undefined, 'unusable'],
    ['does not wait for the disk', '', 'alter database NAME set synchronous_commit = off', 'unusable'],
    ['is for reading only', '', 'alter database NAME set default_transaction_read_only = on', 'disk'],
    ['lets the user make no tables', '', 'alter database NAME owner to postgres', 'denied'],
    ['does not let the user in', '', `revoke connect on database NAME from public, ${OWNER}`, 'denied'],
    ['takes no more connections', 'connection limit 0', undefined, 'busy'],
    ['takes no connections', 'allow_connections false', undefined, 'unusable'],
  ])('is refused in one line if it %s', async (_what, how, then, problem) => {
    const name = await newDatabase(how);
    if (then !== undefined) await admin.query(then.replace('NAME', name));
    expect(await problemOf(open(server.url(name), 'migrate'))).toBe(problem);
  });

  it('is refused in one line if it or the way to it is not as the settings say', async () => {
    const name = await newDatabase();
    const url = new URL(server.url(name));
    const changed = (change: (url: URL) => void) => {
      const other = new URL(url);
      change(other);
      return other.href;
    };
    expect(await problemOf(open(server.url('absent'), 'migrate'))).toBe('unusable');
    const places: readonly [problem: string, change: (url: URL) => void][] = [
      ['denied', (other) => (other.password = 'wrong')],
      ['denied', (other) => (other.password = '')],
      ['denied', (other) => (other.username = 'nobody')],
      ['disk', (other) => (other.port = '1')],
    ];
    for (const [problem, change] of places) {
      expect(await problemOf(open(changed(change), 'migrate'))).toBe(problem);
    }
    for (const tls of ['require', 'verify']) {
      expect(await problemOf(open(url.href, 'migrate', { ORDER_SYNC_DATABASE_TLS: tls }))).toBe('denied');
    }
    const settings = { ORDER_SYNC_DATABASE_TLS: 'verify', ORDER_SYNC_DATABASE_TLS_CA_FILE: '/nowhere.pem' };
    expect(await problemOf(open(url.href, 'migrate', settings))).toBe('unusable');
  });

  it('is refused if something else answers in its place', async () => {
    const other = createServer((socket) => socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    expect(await problemOf(open(`postgres://someone@127.0.0.1:${port}/some`, 'current'))).toBe('disk');
    other.close();
  });

  it('closes its connection at once if it is asked for a password that it does not have', async () => {
    const asked = Promise.withResolvers<Socket>();
    const other = createServer((socket) => {
      // "SCRAM-SHA-256 is wanted", and then it waits.
      socket.once('data', () => socket.write(Buffer.from('R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0', 'latin1')));
      asked.resolve(socket.on('error', () => undefined));
    });
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const opening = problemOf(open(`postgres://someone@127.0.0.1:${port}/some`, 'current'));
    const closed = once(await asked.promise, 'close');
    expect(await opening).toBe('denied');
    await closed;
    other.close();
  });

  it('takes neither a password nor anything else from the environment of the driver', async () => {
    const name = await newDatabase();
    await visit(name, 'migrate');
    const url = new URL(server.url(name));
    url.password = '';
    const { env } = process;
    Object.assign(env, { PGPASSWORD: PASSWORD, PGSSLMODE: 'require' });
    try {
      expect(await problemOf(open(url.href, 'current'))).toBe('denied');
      await visit(name, 'current');
    } finally {
      delete env['PGPASSWORD'];
      delete env['PGSSLMODE'];
    }
  });

  it('is refused if its server does not sync its files, is a standby, or is down', async () => {
    const name = await newDatabase();
    await visit(name, 'migrate');
    const settle = async (value: string) => {
      await admin.query(`alter system set fsync = ${value}`);
      await admin.query('select pg_reload_conf()');
    };
    await settle('off');
    await expect.poll(() => admin.query('show fsync').then(({ rows }) => rows)).toEqual([{ fsync: 'off' }]);
    expect(await problemOf(open(server.url(name), 'current'))).toBe('unusable');
    await settle('on');
    await server.stop();
    expect(await problemOf(open(server.url(name), 'current'))).toBe('disk');
    writeFileSync(join(server.folder, 'data', 'standby.signal'), '');
    await server.start();
    expect(await problemOf(open(server.url(name), 'upgrade'))).toBe('disk');
    // A reader may read from it.
    const store = await open(server.url(name), 'current');
    expect(await rowsAtOnce(store, store.db.selectFrom('merchant_orders').selectAll())).toEqual([]);
    expect(await problemOf(store.writer.write(async () => {}))).toBe('disk');
    await store.close();
  });
});
