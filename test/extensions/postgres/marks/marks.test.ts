import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { acceptRestore } from '../../../../src/extensions/restore/restore.ts';
import { appendToChain } from '../../../../src/store/tables/chain.ts';
import type { MarkContent, Store } from '../../../../src/store/port.ts';
import { stoppedAccounts } from '../../../../src/store/tables/account-stops.ts';
import { MOST_AT_ONCE } from '../../../../src/store/mark.ts';
import { openStore } from '../../../../src/extensions/postgres/store.ts';
import { MarksFile } from '../../../../src/extensions/postgres/marks/file.ts';
import { copyPostgresDatabase, newPostgresDatabase } from '../../../support/postgres.ts';
import { postgresOfTests } from '../../../support/postgres-server.ts';
import { ownedStore, placeOf } from '../../../support/postgres-store.ts';

const VERIFYING = { verifyAfter: [], onUnknown: 'hold' } as const;

/** A worker of its own machine; `close` ends it. */
async function worker(url: string, marks?: string) {
  const found = placeOf(url);
  const place = { ...found, marks: marks ?? found.marks };
  const store = await openStore(place, systemClock(), { expect: 'current' });
  let isOpen = true;
  const close = async () => {
    if (isOpen) await store.close();
    isOpen = false;
  };
  onTestFinished(close);
  return { place, store, close };
}

/** Writes an event; returns the owner's store. */
async function drive(store: Store, account = 'default'): Promise<Store> {
  const owner = await ownedStore(store, account);
  await commit(owner, account);
  return owner;
}

async function commit({ writer }: Store, account = 'default'): Promise<void> {
  const event = {
    account,
    type: 'account',
    subject: account,
    field: 'test',
    old_value: null,
    new_value: null,
  } as const;
  const rest = { looked_up_before: null, exchange_time: null, source: 'operator', reason: null, actor: null } as const;
  await writer.write((tx) => appendToChain(tx, account, [{ ...event, ...rest, observed_at: 'now' }]));
}

async function identityOf({ db }: Store): Promise<string> {
  const { rows } = await sql<{ id: string }>`select id from database_identity`.execute(db);
  return rows[0]?.id ?? '';
}

/** A mark that names more than the database has. */
const later: MarkContent = { generation: 1, eventId: 1_000, at: '2026-01-05T12:00:00.000Z' };

it('follows the commits of the accounts that a worker drives, outside of the database', async () => {
  const { url } = await newPostgresDatabase();
  const { place, store, close } = await worker(url);
  for (const account of ['a', 'b']) await drive(store, account);
  const positions = await Promise.all(['a', 'b'].map((account) => store.forAccount(account).mark.position()));
  const id = await identityOf(store);
  await close();
  const file = new MarksFile(place.marks, id);
  expect(positions.map(({ eventId }) => eventId > 0)).toEqual([true, true]);
  expect(['a', 'b'].map((account) => file.read(account))).toMatchObject(positions);
  expect(new MarksFile(place.marks, 'another').read('a')).toBeUndefined();
  // A later mark of an older process changes nothing.
  file.advance([['a', { generation: 1, eventId: 0 }]], new Date(0));
  expect(file.read('a')).toMatchObject(positions[0]!);
  file.close();
});

it('keeps every worker from an account that came back in an older state, until a person accepts it', async () => {
  const { url } = await newPostgresDatabase();
  const first = await worker(url);
  await drive(first.store);
  const file = new MarksFile(first.place.marks, await identityOf(first.store));
  await first.close();
  file.advance([['default', later]], new Date(later.at));
  file.close();

  const again = await worker(url, first.place.marks);
  await expect(drive(again.store)).rejects.toMatchObject({ problem: 'unusable' });
  await drive(again.store, 'other');
  // It has no mark of its own.
  const elsewhere = await worker(url);
  await expect(drive(elsewhere.store)).rejects.toMatchObject({ problem: 'unusable' });
  const stopped = () => stoppedAccounts(elsewhere.store.db, undefined);
  expect(await stopped()).toMatchObject([
    { account: 'default', kind: 'older-state', reason: expect.stringContaining('is older than its mark') },
  ]);
  expect(await elsewhere.store.forAccount('default').mark.read()).toMatchObject({ eventId: later.eventId });

  const store = elsewhere.store.forAccount('default');
  const acceptance = { actor: 'a', reason: 'r', isNothingSent: false };
  const deps = { accounts: ['default'], store, clock: systemClock(), settings: VERIFYING };
  const { missing } = await acceptRestore(deps, acceptance);
  expect(missing).toEqual({ from: 'now', to: later.at });
  expect(await stopped()).toEqual([]);
  for (const { store: accepted } of [elsewhere, again]) await drive(accepted);
  const { eventId } = await store.mark.position();
  await again.close();
  expect(eventId).toBeLessThan(later.eventId);
  expect(await (await worker(url, first.place.marks)).store.forAccount('default').mark.read()).toMatchObject({
    eventId,
  });
});

it('takes an account from a worker that lacks its mark, once the machine that has it compares its marks', async () => {
  const { url } = await newPostgresDatabase();
  const first = await worker(url);
  for (const account of ['sound', 'older', 'changed']) await drive(first.store, account);
  const { generation, eventId } = await first.store.forAccount('changed').mark.position();
  const file = new MarksFile(first.place.marks, await identityOf(first.store));
  await first.close();
  file.advance([['older', later]], new Date(later.at));
  file.advance([['changed', { generation, eventId, hash: '0'.repeat(64) }]], new Date(later.at));
  file.close();

  const elsewhere = await worker(url);
  const [sound, older, changed] = await Promise.all(
    ['sound', 'older', 'changed'].map((account) => drive(elsewhere.store, account)),
  );
  const again = await worker(url, first.place.marks);
  for (let times = 0; times < 2; times += 1) await again.store.mark.compareAll();
  if (sound !== undefined) await commit(sound, 'sound');
  expect((await stoppedAccounts(elsewhere.store.db, undefined)).map(({ account }) => account)).toEqual([
    'changed',
    'older',
  ]);
  for (const [store, account] of [
    [older, 'older'],
    [changed, 'changed'],
  ] as const) {
    await expect(store && commit(store, account)).rejects.toThrow(/taken over|followed|drives/);
    await expect(drive(elsewhere.store, account)).rejects.toMatchObject({ problem: 'unusable' });
    await expect(drive((await worker(url)).store, account)).rejects.toMatchObject({ problem: 'unusable' });
  }
});

it('compares every mark of its file, also those after one that cannot be understood', async () => {
  const { url } = await newPostgresDatabase();
  const first = await worker(url);
  await drive(first.store, 'older');
  const file = new MarksFile(first.place.marks, await identityOf(first.store));
  await first.close();
  const before = Array.from({ length: MOST_AT_ONCE }, (_, at) => `a${at}`);
  file.advance([...before.map((account) => [account, later] as const), ['older', later] as const], new Date(later.at));
  file.close();
  const damaged = new Database(first.place.marks);
  damaged.prepare(`update marks set content = 'nothing' where account = 'a0'`).run();
  damaged.close();

  const { store } = await worker(url, first.place.marks);
  expect(await store.forAccount('older').mark.isMissing()).toBe(false);
  await store.mark.compareAll();
  expect(await stoppedAccounts((await worker(url)).store.db, undefined)).toMatchObject([{ account: 'older' }]);
});

it('keeps a worker from an account that has another event if its mark names one', async () => {
  const { url } = await newPostgresDatabase();
  const { store, place, close } = await worker(url);
  await drive(store);
  const { generation, eventId } = await store.forAccount('default').mark.position();
  const id = await identityOf(store);
  await close();
  const file = new MarksFile(place.marks, id);
  const named = { generation, eventId, hash: '0'.repeat(64), at: '2026-01-05T12:00:00.000Z' };
  file.replace('default', named);
  file.close();
  const again = await worker(url, place.marks);
  expect(await again.store.forAccount('default').mark.sign()).toContain(`another event ${eventId}`);
  await expect(drive(again.store)).rejects.toMatchObject({ problem: 'unusable' });
});

it('stops an account whose newest commit is gone while it is owned, also for the next owner', async () => {
  const { url } = await newPostgresDatabase();
  const { store } = await worker(url);
  const [one, other] = [await drive(store, 'one'), await drive(store, 'other')];
  await store.db.updateTable('account_owners').set({ last_commit: 'older' }).where('account', '=', 'one').execute();
  await expect(commit(one, 'one')).rejects.toMatchObject({ problem: 'unusable' });
  await commit(other, 'other');
  await expect(drive((await worker(url)).store, 'one')).rejects.toMatchObject({ problem: 'unusable' });
});

it('asks for nothing if this machine has no mark of an account that has a history, and says that it has none', async () => {
  const { url } = await newPostgresDatabase();
  const first = await worker(url);
  const isMissing = async ({ store: { mark } }: Awaited<ReturnType<typeof worker>>) => await mark.isMissing();
  expect(await isMissing(first)).toBe(false);
  await drive(first.store);
  const { store, place, close } = await worker(url);
  expect(await isMissing({ store, place, close })).toBe(true);
  expect(await store.forAccount('default').mark.read()).toBeUndefined();
  await drive(store);
  await close();
  expect(await isMissing(await worker(url, place.marks))).toBe(false);
});

describe.skipIf(postgresOfTests() === undefined)('a database that was restored under another name', () => {
  it('is noticed by the marks of the original', async () => {
    const original = await newPostgresDatabase();
    const first = await worker(original.url);
    for (const account of ['a', 'b']) await drive(first.store, account);
    await first.close();
    const restored = await copyPostgresDatabase(original);
    const second = await worker(original.url, first.place.marks);
    await drive(second.store, 'a');
    await second.close();

    const { store, place } = await worker(restored.url, first.place.marks);
    expect(place.address).not.toBe(first.place.address);
    await expect(drive(store, 'a')).rejects.toMatchObject({
      problem: 'unusable',
      message: expect.stringContaining(place.address) as string,
    });
    // Nothing is missing of it.
    await drive(store, 'b');
  });
});

it('lets no owner begin if it cannot be written', async () => {
  const { url } = await newPostgresDatabase();
  const { place } = await worker(url);
  mkdirSync(dirname(place.marks), { recursive: true });
  const inTheWay = join(dirname(place.marks), 'file');
  writeFileSync(inTheWay, '');
  const { store } = await worker(url, join(inTheWay, 'marks.db'));
  await expect(drive(store)).rejects.toMatchObject({ problem: 'disk' });
});
