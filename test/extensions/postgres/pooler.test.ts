import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { openStore } from '../../../src/extensions/postgres/store.ts';
import { lockOrder, readOrder } from '../../../src/store/orders/orders.ts';
import type { Store } from '../../../src/store/port.ts';
import { openMerchant } from '../../support/merchant-postgres.ts';
import { hasPgbouncer, poolerBefore } from '../../support/pgbouncer.ts';
import { newPostgresDatabase } from '../../support/postgres.ts';
import { ownedStore, placeOf } from '../../support/postgres-store.ts';

const MODES = ['session', 'transaction'] as const;

/** An owner of an account. */
async function ownerBehind(url: string, account = 'default'): Promise<Store> {
  const store = await openStore(placeOf(url), systemClock(), { expect: 'upgrade' });
  onTestFinished(() => store.close());
  return await ownedStore(store, account);
}

async function databaseWithOrder() {
  const database = await newPostgresDatabase();
  const merchant = openMerchant(database);
  merchant.exec(`insert into merchant_orders (external_order_id, asset) values ('a', '1.5')`);
  return { ...database, merchant };
}

/** Reads and writes on several connections at a time. */
async function use({ db, writer }: Store): Promise<readonly unknown[]> {
  const reads = [1, 2, 3, 4].map(() => readOrder(db, 'default', 'a'));
  const writes = [1, 2].map(() => writer.write((tx) => lockOrder(tx, 'default', 'a')));
  return (await Promise.all([...reads, ...writes])).map((row) => row?.asset);
}

const WORKED = Array.from({ length: 6 }, () => '1.5');

describe.skipIf(!hasPgbouncer)('an owner behind PgBouncer', () => {
  it.each(MODES)('works in %s mode, beside others, if the pooler has few connections', async (mode) => {
    const { url } = await databaseWithOrder();
    const pooler = await poolerBefore(url, mode, { default_pool_size: mode === 'session' ? 40 : 2 });
    const owners = await Promise.all(['default', 'b', 'c'].map((account) => ownerBehind(pooler.url, account)));
    for (let round = 0; round < 5; round += 1) {
      expect(await Promise.all(owners.map(use))).toEqual([WORKED, WORKED, WORKED]);
    }
  });

  it('works in transaction mode with one connection', async () => {
    const { url } = await databaseWithOrder();
    const pooler = await poolerBefore(url, 'transaction', { default_pool_size: 1 });
    const owner = await ownerBehind(pooler.url);
    expect(await use(owner)).toEqual(WORKED);
    await using snapshot = await owner.snapshot();
    expect((await readOrder(snapshot.db, 'default', 'a'))?.asset).toBe('1.5');
  });

  it.each([
    ['session', { server_reset_query: '' }],
    ['session', { server_lifetime: 1, server_idle_timeout: 1 }],
    ['transaction', { server_reset_query_always: 1 }],
  ] as const)('works in %s mode with %o', async (mode, settings) => {
    const { url } = await databaseWithOrder();
    const pooler = await poolerBefore(url, mode, settings);
    for (let times = 0; times < 3; times += 1) {
      const store = await openStore(placeOf(pooler.url), systemClock(), { expect: 'upgrade' });
      expect(await use(await ownedStore(store, 'default'))).toEqual(WORKED);
      await store.close();
    }
  });

  it('continues when the mode changes while it runs, also for its database alone', async () => {
    const { url } = await databaseWithOrder();
    const pooler = await poolerBefore(url, 'session');
    const owner = await ownerBehind(pooler.url);
    expect(await use(owner)).toEqual(WORKED);
    await pooler.kill();
    await pooler.start({ database: 'pool_mode=transaction pool_size=2' });
    await use(owner).catch(() => undefined);
    expect(await use(owner)).toEqual(WORKED);
    await pooler.reload({ database: 'pool_mode=session pool_size=20' });
    expect(await use(owner)).toEqual(WORKED);
    await pooler.reload({ database: '', pool_mode: 'transaction' });
    expect(await use(owner)).toEqual(WORKED);
  });

  it('begins nothing in statement mode, and is told of the pooler', async () => {
    const { url } = await databaseWithOrder();
    const pooler = await poolerBefore(url, 'statement');
    const message = expect.stringContaining('pool_mode');
    await expect(ownerBehind(pooler.url)).rejects.toMatchObject({ problem: 'denied', message });
  });

  it('waits while its pooler is in statement mode or takes no more clients, and continues afterwards', async () => {
    const { url } = await databaseWithOrder();
    const pooler = await poolerBefore(url, 'transaction');
    const owner = await ownerBehind(pooler.url);
    const again = async (settings: Readonly<Record<string, string | number>>) => {
      await pooler.kill();
      await pooler.start(settings);
      await use(owner).catch(() => undefined);
    };
    await again({ pool_mode: 'statement' });
    const writing = owner.writer.write((tx) => lockOrder(tx, 'default', 'a'));
    await expect(writing).rejects.toMatchObject({ problem: 'denied', message: expect.stringContaining('pool_mode') });
    await again({ pool_mode: 'transaction', max_client_conn: 0 });
    const reading = sql`select 1`.execute(owner.db);
    const busy = { problem: 'busy', message: expect.stringContaining('max_client_conn') };
    await expect(reading).rejects.toMatchObject(busy);
    await again({ max_client_conn: 100 });
    expect(await use(owner)).toEqual(WORKED);
  });

  it('is told that its pooler takes not its password, and what to do', async () => {
    const { url } = await databaseWithOrder();
    const pooler = await poolerBefore(url, 'session', { auth_file: '/dev/null' });
    const message = expect.stringContaining('auth_file');
    await expect(ownerBehind(pooler.url)).rejects.toMatchObject({ problem: 'denied', message });
  });

  it('waits while the pooler is paused', async () => {
    const { url } = await databaseWithOrder();
    const pooler = await poolerBefore(url, 'transaction');
    const owner = await ownerBehind(pooler.url);
    await pooler.command('PAUSE');
    const using = use(owner);
    await pooler.command('RESUME');
    expect(await using).toEqual(WORKED);
  });
});
