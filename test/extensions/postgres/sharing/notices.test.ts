import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { openStore } from '../../../../src/extensions/postgres/store.ts';
import { enterWorker } from '../../../../src/extensions/postgres/sharing/workers.ts';
import { newPostgresDatabase, type PostgresTestDatabase } from '../../../support/postgres.ts';
import { findPostgres } from '../../../support/postgres-server.ts';
import { placeOf } from '../../../support/postgres-store.ts';

const HOUR = 3_600_000;
const INSERT = `insert into merchant_orders (external_order_id, asset, from_currency, to_currency)`;
const insertOf = (id: string) => `${INSERT} values ('${id}', '1', 'BTC', 'EUR')`;

async function connect({ connection }: PostgresTestDatabase): Promise<pg.Client> {
  const client = new pg.Client(connection);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** A database with a worker; returns the notices until now. */
async function withWorker({ listens }: { listens: boolean }) {
  const database = await newPostgresDatabase();
  const store = await openStore(placeOf(database.url), systemClock(), { expect: 'current' });
  onTestFinished(() => store.close());
  await enterWorker(store.db, { holder: 'w', host: 'h', instance: 'i', units: undefined, listens });
  const listener = await connect(database);
  const heard: (string | undefined)[] = [];
  listener.on('notification', ({ payload }) => heard.push(payload));
  await listener.query('listen order_sync');
  const notified = async () => {
    // Notices come before the answer to a statement that is sent after their commit.
    await listener.query('select 1');
    return heard.splice(0);
  };
  return { database, shop: await connect(database), notified };
}

const SELDOM = 5_000;
const OFTEN = 1_000;

/** The looks of a process, which come at once, and how long it would have waited for each. */
async function looksAt({ url }: PostgresTestDatabase, { notify }: { notify: boolean }) {
  const sleeps: number[] = [];
  const clock = {
    ...systemClock(),
    sleep: async (ms: number) => {
      sleeps.push(ms);
      await systemClock().turn();
    },
  };
  const store = await openStore({ ...placeOf(url), notify }, clock, { expect: 'current', instance: 'i' });
  onTestFinished(() => store.close());
  const stop = new AbortController();
  const changes = store.changes(stop.signal)[Symbol.asyncIterator]();
  onTestFinished(async () => {
    stop.abort();
    await changes.next().catch(() => undefined);
  });
  return { sleeps, next: () => changes.next() };
}

// PGlite has one connection.
describe.skipIf(findPostgres() === undefined)('notices', () => {
  it('tell of what a merchant inserts and corrects, once a transaction, and of nothing that the program writes', async () => {
    const { shop, notified } = await withWorker({ listens: true });
    await shop.query(insertOf('a'));
    expect(await notified()).toEqual(['public']);
    await shop.query(`begin; ${insertOf('b')}; ${insertOf('c')}; commit`);
    expect(await notified()).toEqual(['public']);
    await shop.query(`update merchant_orders set asset = '2' where external_order_id = 'a'`);
    expect(await notified()).toEqual(['public']);
    await shop.query(`update merchant_orders set revision = revision + 1, attempts = 1 where external_order_id = 'a'`);
    expect(await notified()).toEqual([]);
  });

  it('are not sent if no worker listens', async () => {
    const { shop, notified } = await withWorker({ listens: false });
    await shop.query(insertOf('a'));
    expect(await notified()).toEqual([]);
  });

  it('keep no merchant waiting for another: of two open transactions the first alone notifies', async () => {
    const { database, shop, notified } = await withWorker({ listens: true });
    const other = await connect(database);
    await shop.query('begin');
    await shop.query(insertOf('a'));
    await other.query(insertOf('b'));
    expect(await notified()).toEqual([]);
    await shop.query('commit');
    expect(await notified()).toEqual(['public']);
  });

  it('wake who waits for changes, also after the connection that listens was lost', async () => {
    const { database, shop } = await withWorker({ listens: true });
    // The periodic look is an hour away, but for the looks that follow a notice.
    const clock = systemClock();
    const slow = { ...clock, sleep: (ms: number, signal?: AbortSignal) => clock.sleep(ms < 900 ? ms : HOUR, signal) };
    const place = placeOf(database.url);
    const store = await openStore(place, slow, { expect: 'current', instance: 'i' });
    onTestFinished(() => store.close());
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const seen = new Set<string>();
    const waiting = new Map<string, () => void>();
    const watching = (async () => {
      for await (const _ of store.changes(stop.signal)) {
        const { rows } = await sql<{ id: string }>`select external_order_id as id from merchant_orders`.execute(
          store.db,
        );
        for (const { id } of rows) {
          seen.add(id);
          waiting.get(id)?.();
        }
      }
    })();
    const sees = (id: string) =>
      new Promise<void>((resolve) => {
        waiting.set(id, resolve);
        if (seen.has(id)) resolve();
      });
    const endListening = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and (query like 'listen "order_sync"%' or query like '%delete from account_wakes%')`;
    // It begins to listen while the first rows are seen.
    for (let row = 0, ended: number | null = 0; ended === 0; row += 1) {
      await shop.query(insertOf(`a${row}`));
      await sees(`a${row}`);
      ended = (await shop.query(endListening)).rowCount;
    }
    await shop.query(insertOf('b'));
    await sees('b');
    expect(seen).toContain('b');
    stop.abort();
    await watching;
  });

  it('have a worker look less often once one has arrived on its connection, and as before once that is lost', async () => {
    const { database, shop } = await withWorker({ listens: true });
    const { sleeps, next } = await looksAt(database, { notify: true });
    while (!sleeps.includes(SELDOM)) await next();
    sleeps.length = 0;
    await shop.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and application_name = 'order-sync'`);
    while (!sleeps.includes(OFTEN)) await next();
    while (!sleeps.includes(SELDOM)) await next();
    expect(sleeps).toEqual(expect.arrayContaining([OFTEN, SELDOM]));
  });

  it('that do not arrive have it look once a second', async () => {
    const { database } = await withWorker({ listens: false });
    const { sleeps, next } = await looksAt(database, { notify: false });
    for (let look = 0; look < 30; look += 1) await next();
    expect(Math.max(...sleeps)).toBe(OFTEN);
  });

  it('end with an error once a newer version has changed the tables', async () => {
    const { database, shop } = await withWorker({ listens: false });
    const { next } = await looksAt(database, { notify: false });
    await next();
    await shop.query(`insert into kysely_migration (name, timestamp) values ('9999_later', '')`);
    await expect(next()).rejects.toMatchObject({ problem: 'unusable' });
  });
});
