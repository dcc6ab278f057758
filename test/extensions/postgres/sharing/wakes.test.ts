import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MIGRATIONS } from '../../../../migrations/postgres/index.ts';
import { systemClock } from '../../../../src/base/clock.ts';
import { openStore } from '../../../../src/extensions/postgres/store.ts';
import { takeWoken, wakeOwner } from '../../../../src/extensions/postgres/sharing/notices.ts';
import { dropTables } from '../../../../src/extensions/postgres/tables.ts';
import { migrate } from '../../../../src/store/migrations.ts';
import { setHold } from '../../../../src/store/tables/account-holds.ts';
import type { Store } from '../../../../src/store/port.ts';
import { findPostgres } from '../../../support/postgres-server.ts';
import { openPostgresStore } from '../../../support/postgres-store.ts';
import { drivenBy, endHeartbeat } from '../../../support/workers.ts';

const wokenOf = async (store: Store) => (await takeWoken(store.db, 'i-1')).accounts;
/** PGlite serves no other connection while a transaction is open. */
const NO_SERVER = findPostgres() === undefined;
const W1 = { holder: 'w1', instance: 'i-1' };

async function accountsIn({ db }: Store): Promise<string[]> {
  const { rows } = await sql<{ account: string }>`select account from account_wakes order by account`.execute(db);
  return rows.map(({ account }) => account);
}

describe('the worker of an account', () => {
  it('is found while it lives, with the address of its API', async () => {
    const { store } = await openPostgresStore();
    const driver = () => store.driverOf(['shop-2', 'default']);
    expect(await driver()).toBeUndefined();
    const reached = { host: 'h', socket: '/s', advertise: 'https://h.example' };
    await drivenBy(store, { holder: 'w1', ...reached });
    expect(await driver()).toMatchObject(reached);
    await endHeartbeat(store, 'w1');
    expect(await driver()).toBeUndefined();
  });

  it.skipIf(NO_SERVER)(
    'is woken by a change of somebody else, no sooner than it is committed and however many there are',
    async () => {
      const { store } = await openPostgresStore();
      await drivenBy(store, W1);
      await drivenBy(store, W1, 'shop-2');
      const changed = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      const change = store.db.transaction().execute(async (tx) => {
        await wakeOwner(tx, 'default');
        changed.resolve();
        await released.promise;
      });
      await changed.promise;
      await wakeOwner(store.db, 'shop-2');
      expect(await wokenOf(store)).toEqual(['shop-2']);
      released.resolve();
      await change;
      await wakeOwner(store.db, 'default');
      expect(await wokenOf(store)).toEqual(['default']);
      expect(await wokenOf(store)).toEqual([]);
      await wakeOwner(store.db, 'default');
      expect(await wokenOf(store)).toEqual(['default']);
    },
  );

  it.skipIf(NO_SERVER)('is woken again by a change that comes before it has taken the last one', async () => {
    const { store } = await openPostgresStore();
    await drivenBy(store, W1);
    await wakeOwner(store.db, 'default');
    const changed = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const change = store.db.transaction().execute(async (tx) => {
      await wakeOwner(tx, 'default');
      changed.resolve();
      await released.promise;
    });
    await changed.promise;
    expect(await wokenOf(store)).toEqual([]);
    released.resolve();
    await change;
    expect(await wokenOf(store)).toEqual(['default']);
  });

  it('is woken by its new name once it was declared over and continues', async () => {
    const { store } = await openPostgresStore();
    await drivenBy(store, W1);
    await wakeOwner(store.db, 'default');
    await sql`delete from workers`.execute(store.db);
    expect(await wokenOf(store)).toEqual([]);
    await drivenBy(store, { holder: 'w2', instance: 'i-1' });
    await wakeOwner(store.db, 'default');
    expect(await wokenOf(store)).toEqual(['default']);
  });

  it('is told by its store of each account in which a person wrote, and of none in which an owner did', async () => {
    const { place, store: person } = await openPostgresStore();
    await drivenBy(person, W1);
    await drivenBy(person, W1, 'shop-2');
    const store = await openStore(place, systemClock(), { expect: 'current', instance: 'i-1' });
    onTestFinished(() => store.close());
    const hold = { kind: 'all-paused', since: new Date(0), until: null, reason: 'r', actor: 'a' } as const;
    const pause = (of: Store, account: string) => of.writer.write((tx) => setHold(tx, account, hold, new Date(0)));
    await pause(store.forAccount('default', { generation: 1 }), 'default');
    await pause(person.forAccount('shop-2'), 'shop-2');
    const ending = new AbortController();
    for await (const decided of store.changes(ending.signal)) {
      expect(decided).toEqual(['shop-2']);
      ending.abort();
    }
  });

  it('is not woken if there is none', async () => {
    const { store } = await openPostgresStore();
    await wakeOwner(store.db, 'default');
    expect(await accountsIn(store)).toEqual([]);
  });
});

it('a worker of the version before stays, without an address, and what it was asked through the database goes', async () => {
  const { place, store } = await openPostgresStore();
  await dropTables(store.db);
  const before = Object.fromEntries(Object.entries(MIGRATIONS).filter(([name]) => name < '0005'));
  await migrate(store.db, { migrations: before, address: place.address }, (error) => error);
  for (const text of [
    `insert into workers (holder, seen_until, host, socket, public_key, started_at) values ('w1', '9999', 'h', '/s', 'k', '')`,
    `insert into account_owners (account, generation, holder) values ('default', 1, 'w1')`,
    `insert into account_requests (account, id, holder, public_key, input, asked_at)
      values ('default', 'wake', 'w1', '', '', ''), ('default', 'r1', 'w1', 'k', 'sealed', '')`,
  ])
    await sql.raw(text).execute(store.db);
  const upgraded = await openStore(place, systemClock(), { expect: 'upgrade' });
  onTestFinished(() => upgraded.close());
  expect(await upgraded.driverOf(['default'])).toMatchObject({ host: 'h', socket: '/s', advertise: null });
  await wakeOwner(upgraded.db, 'default');
  expect(await accountsIn(upgraded)).toEqual(['default']);
});
