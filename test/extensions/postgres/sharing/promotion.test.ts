import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readOwners } from '../../../../src/extensions/postgres/sharing/workers.ts';
import { readFailOvers } from '../../../../src/store/tables/fail-overs.ts';
import { setAccountFact } from '../../../../src/store/tables/accounts.ts';
import { OwnedError } from '../../../../src/store/errors.ts';
import type { Transaction } from '../../../../src/store/port.ts';
import { placeOf } from '../../../support/postgres-store.ts';
import { newPostgresDatabase } from '../../../support/postgres.ts';
import { openedBy, promote } from '../../../support/promoted-shop.ts';
import { SharingWorker, untilHeld } from '../../../support/sharing-worker.ts';

/** The test's own limit holds. */
const NO_LIMIT = { timeout: 100_000 };

/** A worker that drives one account, on a server that is promoted when the test says so. */
async function driving(settings: Readonly<Record<string, string>> = {}) {
  const database = await newPostgresDatabase();
  const worker = await SharingWorker.start(placeOf(database.url, settings), [['a']]);
  onTestFinished(() => worker.clock.wake());
  await untilHeld([worker], 1);
  const [lease] = worker.taken;
  if (lease === undefined) throw new Error('nothing was taken');
  const write = async (value: string) =>
    await worker.owned.store.forAccount('a', lease).writer.write((tx) => setFact(tx, value));
  return { database, worker, lease, write };
}

async function setFact(tx: Transaction, value: string): Promise<void> {
  await setAccountFact(tx, { account: 'a', name: 'fact', value, now: new Date() });
}

/** The worker stands still for longer than it is trusted, while the server is promoted. */
async function standStill({ worker, database, lease }: Awaited<ReturnType<typeof driving>>): Promise<void> {
  worker.clock.stop();
  await vi.waitUntil(() => !lease.isTrusted(), NO_LIMIT);
  promote(database, 2);
}

const failOversOf = async ({ owned }: SharingWorker) =>
  (await readFailOvers(owned.store.db, 'a')).map(({ generation }) => generation);

const generationOf = async ({ owned }: SharingWorker) => (await readOwners(owned.store.db, ['a'])).get('a')?.generation;

describe('a worker that finds its last commit on a promoted server', () => {
  it('continues if it never stopped renewing its heartbeat: no other worker can have followed it', async () => {
    const { database, worker, write } = await driving();
    await write('before');
    promote(database, 2);
    await write('after');
    expect([await generationOf(worker), await failOversOf(worker)]).toEqual([1, []]);
  });

  it('gives up its accounts if it stood still: another may have followed it on the server that was lost', async () => {
    const shop = await driving();
    await shop.write('before');
    await standStill(shop);
    const isTakenAgain = vi.waitUntil(() => shop.worker.taken.length === 2, NO_LIMIT);
    shop.worker.clock.wake();
    await isTakenAgain;
    await expect(shop.write('late')).rejects.toThrow(OwnedError);
    expect([await generationOf(shop.worker), await failOversOf(shop.worker)]).toEqual([2, [1]]);
  });

  it('writes nothing before it has renewed its heartbeat there', async () => {
    const shop = await driving();
    await shop.write('before');
    await standStill(shop);
    const { writer } = (await openedBy(shop.database)).store.forAccount('a', shop.lease);
    await expect(writer.write((tx) => setFact(tx, 'too early'))).rejects.toMatchObject({ problem: 'busy' });
    const facts = await shop.worker.owned.store.db.selectFrom('account_facts').select('value').execute();
    expect(facts).toEqual([{ value: 'before' }]);
  });

  it('continues after it stood still if each intent was on a standby first: it would have the claim of another', async () => {
    const shop = await driving({ ORDER_SYNC_DATABASE_SYNCHRONOUS_STANDBYS: '1' });
    await shop.write('before');
    const { timeLine } = shop.lease;
    await standStill(shop);
    shop.worker.clock.wake();
    await vi.waitUntil(() => shop.lease.timeLine !== timeLine, NO_LIMIT);
    await shop.write('after');
    expect([await generationOf(shop.worker), await failOversOf(shop.worker)]).toEqual([1, []]);
  });
});
