import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import {
  claimAccounts,
  endWorker,
  enterWorker,
  readOwners,
  releaseAccounts,
  releaseAll,
  renewHeartbeat,
} from '../../../../src/extensions/postgres/sharing/workers.ts';
import { setAccountFact } from '../../../../src/store/tables/accounts.ts';
import { OwnedError } from '../../../../src/store/errors.ts';
import { openAsOwner, type OwnedStore, type OwnerOptions } from '../../../../src/store/open.ts';
import type { AccountLease, Store } from '../../../../src/store/port.ts';
import { MarksFile } from '../../../../src/extensions/postgres/marks/file.ts';
import { newPostgresDatabase } from '../../../support/postgres.ts';
import { placeOf } from '../../../support/postgres-store.ts';
import { loadWith } from '../../../support/load-with.ts';
import { SharingWorker, untilHeld } from '../../../support/sharing-worker.ts';

/** The test's own limit holds. */
const NO_LIMIT = { timeout: 100_000 };
const NEVER = new AbortController().signal;

const accounts = (count: number) => Array.from({ length: count }, (_, index) => [`a${index}`]);

async function newPlace() {
  return placeOf((await newPostgresDatabase()).url);
}

/** A command, which takes what it was told. */
async function command(place: Awaited<ReturnType<typeof newPlace>>, options: OwnerOptions = {}): Promise<OwnedStore> {
  const owned = await openAsOwner(place, systemClock(), options);
  onTestFinished(() => owned[Symbol.asyncDispose]());
  return owned;
}

async function writeFact({ store }: OwnedStore, accountLease: AccountLease, value: string): Promise<void> {
  const { account } = accountLease;
  await store
    .forAccount(account, accountLease)
    .writer.write((tx) => setAccountFact(tx, { account, name: 'fact', value, now: accountLease.now() }));
}

/** Resolves when the workers have renewed their heartbeats this many times. */
async function heartbeats({ db }: Store, times: number): Promise<void> {
  for (let [renewed, last] = [0, '']; renewed <= times;) {
    const renewedAt = async () => {
      const { rows } = await sql<{ until: string }>`select min(seen_until) as until from workers`.execute(db);
      return rows[0]?.until;
    };
    last = await vi.waitUntil(async () => {
      const until = await renewedAt();
      return until !== last && until;
    }, NO_LIMIT);
    renewed += 1;
  }
}

describe('workers on one database', () => {
  it('share the accounts evenly, and again when one joins and when one stops in order', async () => {
    const place = await newPlace();
    const groups = accounts(10);
    const first = await SharingWorker.start(place, groups);
    await untilHeld([first], 10);
    const second = await SharingWorker.start(place, groups);
    await untilHeld([first, second], 5, 5);
    const third = await SharingWorker.start(place, groups);
    const all = [first, second, third];
    await untilHeld(all, 3, 3, 4);
    expect(new Set(all.flatMap(({ held }) => [...held.keys()])).size).toBe(10);
    await first.end();
    await untilHeld([second, third], 5, 5);
    for (const { generation, lastOwnerUntil } of [...second.held.values(), ...third.held.values()]) {
      expect([generation > 0, lastOwnerUntil]).toEqual([true, undefined]);
    }
  });

  it('lose an account that a mark of another machine shows to be in an older state, when that begins', async () => {
    const { url } = await newPostgresDatabase();
    const place = placeOf(url);
    const first = await SharingWorker.start(place, accounts(1));
    await untilHeld([first], 1);
    const [accountLease] = first.taken;
    if (accountLease === undefined) throw new Error('nothing was taken');
    await writeFact(first.owned, accountLease, 'before');
    const { db } = first.owned.store;
    const { rows } = await sql<{ id: string }>`select id from database_identity`.execute(db);
    const elsewhere = placeOf(url);
    const file = new MarksFile(elsewhere.marks, rows[0]?.id ?? '');
    file.advance([['a0', { generation: 1, eventId: 1_000 }]], new Date());
    file.close();
    await SharingWorker.start(elsewhere, accounts(1));
    await vi.waitUntil(async () => (await readOwners(db, ['a0'])).get('a0')?.generation !== 1, NO_LIMIT);
    await expect(writeFact(first.owned, accountLease, 'after')).rejects.toThrow(OwnedError);
    expect(await first.owned.store.forAccount('a0').mark.sign()).toBeDefined();
  });

  it('drive the accounts of one that stands still, which sends nothing more and writes nothing when it wakes', async () => {
    const place = await newPlace();
    const groups = accounts(4);
    const [stopped, other] = [await SharingWorker.start(place, groups), await SharingWorker.start(place, groups)];
    await untilHeld([stopped, other], 2, 2);
    const lost = [...stopped.held.values()];
    stopped.clock.stop();
    await untilHeld([other], 4);
    expect(lost.map((accountLease) => accountLease.isTrusted())).toEqual([false, false]);
    const now = lost.map(({ account }) => other.held.get(account)!);
    expect(now.map((accountLease, index) => accountLease.generation - lost[index]!.generation)).toEqual([1, 1]);
    for (const { lastOwnerUntil } of now) expect(other.clock.monotonic() - (lastOwnerUntil ?? 0)).toBeGreaterThan(0);
    await expect(writeFact(stopped.owned, lost[0]!, 'late')).rejects.toThrow(OwnedError);
    await writeFact(other.owned, now[0]!, 'in time');
    stopped.clock.wake();
    await untilHeld([stopped, other], 2, 2);
    expect(lost.map(({ ending }) => ending.aborted)).toEqual([true, true]);
    expect(await other.owned.store.db.selectFrom('account_facts').select('value').execute()).toEqual([
      { value: 'in time' },
    ]);
  });

  it('keep accounts that share a limit together', async () => {
    const place = await newPlace();
    const groups = [['a', 'b', 'c'], ['d'], ['e']];
    const [one, two] = [await SharingWorker.start(place, groups), await SharingWorker.start(place, groups)];
    await untilHeld([one, two], 2, 3);
    const [group] = [one, two].filter(({ held }) => held.size === 3);
    expect([...group!.held.keys()].toSorted()).toEqual(['a', 'b', 'c']);
  });

  it('may know different accounts: each is owned by one that knows it', async () => {
    const place = await newPlace();
    const one = await SharingWorker.start(place, accounts(6));
    const two = await SharingWorker.start(place, [...accounts(2), ['z']]);
    await untilHeld([one, two], 4, 3);
    expect([...two.held.keys()].toSorted()).toEqual(['a0', 'a1', 'z']);
  });

  it('tell the next owner by which settings it differs, while there are others', async () => {
    const place = await newPlace();
    const worker = (requests: string) =>
      loadWith({ ORDER_SYNC_EXCHANGE_RATE_REQUESTS: requests }, 'accounts: {a0: , a1: }');
    const one = await SharingWorker.start(place, accounts(2), { worker: worker('10') });
    await untilHeld([one], 2);
    const two = await SharingWorker.start(place, accounts(2), { worker: worker('20') });
    await untilHeld([one, two], 1, 1);
    expect([one, two].map(({ taken }) => taken.at(-1)?.differsIn)).toEqual([[], ['exchange.rate']]);
  });

  it('take again what the database says that they have, and they do not know: the answer to a claim was lost', async () => {
    const place = await newPlace();
    const owned = await command(place);
    await owned.ownership.take(['a0'], 0);
    const worker = await SharingWorker.start(place, accounts(2));
    await untilHeld([worker], 1);
    await sql`update account_owners set generation = 2, holder = (select holder from account_owners where account = 'a1')
      where account = 'a0'`.execute(owned.store.db);
    await owned[Symbol.asyncDispose]();
    await untilHeld([worker], 2);
    expect(worker.held.get('a0')?.generation).toBe(3);
  });

  it('give back what the database says that they have, and they neither know nor are to have', async () => {
    const place = await newPlace();
    const groups = accounts(4);
    const query = Reflect.get(pg.Client.prototype, 'query') as (...given: unknown[]) => Promise<unknown>;
    const claimed = Promise.withResolvers<void>();
    const isLost = Promise.withResolvers<never>();
    // The first claim is committed, and its answer lost later.
    const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
      this: pg.Client,
      ...given: unknown[]
    ) {
      const asked = query.apply(this, given);
      const { text = '' } = Object(given[0]) as { text?: string };
      if (!text.includes('with due as')) return asked as never;
      spy.mockRestore();
      return asked.then(() => (claimed.resolve(), isLost.promise)) as never;
    });
    const first = await SharingWorker.start(place, groups);
    await claimed.promise;
    const second = await SharingWorker.start(place, groups);
    await heartbeats(second.owned.store, 3);
    isLost.reject(new Error('read ECONNRESET'));
    await untilHeld([first, second], 2, 2);
    expect([...first.held.keys(), ...second.held.keys()].toSorted()).toEqual(['a0', 'a1', 'a2', 'a3']);
  });

  it('see by themselves, in time, that the database has other owners: it was put back to an older state', async () => {
    const place = await newPlace();
    const worker = await SharingWorker.start(place, accounts(1));
    await untilHeld([worker], 1);
    await heartbeats(worker.owned.store, 2);
    await sql`update account_owners set holder = null`.execute(worker.owned.store.db);
    const { clock } = worker;
    const monotonic = () => systemClock().monotonic() + 60_000;
    Object.assign(clock, { monotonic });
    await vi.waitFor(() => expect(worker.taken).toHaveLength(2), { timeout: 20_000 });
    expect(worker.taken.map(({ generation, ending }) => [generation, ending.aborted])).toEqual([
      [1, true],
      [2, false],
    ]);
  });

  it('ask nothing but for their heartbeats while nothing is to move, however many accounts there are', async () => {
    const place = await newPlace();
    const groups = accounts(500);
    const [one, two] = [await SharingWorker.start(place, groups), await SharingWorker.start(place, groups)];
    await untilHeld([one, two], 250, 250);
    const { store } = await command(place);
    // Each has seen then that the other is settled.
    await heartbeats(store, 8);
    const asked = [one, two].map(({ owned }) => vi.spyOn(owned.store.db, 'getExecutor'));
    await heartbeats(store, 3);
    for (const spy of asked) expect(spy).not.toHaveBeenCalled();
  });
});

const ONE = { holder: 'one', host: 'machine', listens: false, units: undefined };

it('takes no account from a worker that it has not seen yet, and none for a worker that is over', async () => {
  const { db } = (await command(await newPlace())).store;
  const claim = async (holder: string, generation: number) => [
    ...(await claimAccounts(db, holder, [{ account: 'a', generation, settings: '{}' }])).keys(),
  ];
  expect(await claim('one', 0)).toEqual([]);
  await enterWorker(db, ONE);
  const timeLine = await enterWorker(db, { ...ONE, holder: 'two' });
  expect(await claim('one', 0)).toEqual(['a']);
  expect(await claim('two', 1)).toEqual([]);
  const { workers } = await renewHeartbeat(db, 'two', 0, timeLine);
  await endWorker(
    db,
    workers.find(({ holder }) => holder === 'one')!,
  );
  expect(await claim('one', 1)).toEqual([]);
  expect(await claim('two', 1)).toEqual(['a']);
});

it('releases the accounts that a worker had by then, not ones that it has claimed again since', async () => {
  const { db } = (await command(await newPlace())).store;
  await enterWorker(db, ONE);
  const claim = async (generation: number) =>
    await claimAccounts(db, 'one', [{ account: 'a', generation, settings: '{}' }]);
  await claim(0);
  await claim(1);
  await releaseAccounts(db, 'one', [{ account: 'a', generation: 1 }]);
  expect((await readOwners(db, ['a'])).get('a')).toMatchObject({ generation: 2, holder: 'one' });
  await releaseAccounts(db, 'one', [{ account: 'a', generation: 2 }]);
  expect((await readOwners(db, ['a'])).get('a')).toMatchObject({ generation: 2, holder: null });
});

it('waits for no account that another transaction has locked when it releases accounts', async () => {
  const { db } = (await command(await newPlace())).store;
  const claims = ['a', 'b'].map((account) => ({ account, generation: 0, settings: '{}' }));
  await enterWorker(db, ONE);
  await claimAccounts(db, 'one', claims);
  const held = claims.map(({ account }) => ({ account, generation: 1 }));
  await db.transaction().execute(async (tx) => {
    await sql`select from account_owners where account = 'a' for update`.execute(tx);
    expect(await releaseAccounts(db, 'one', held)).toEqual(new Set(['a']));
    await releaseAll(db, 'one');
  });
  const owners = await readOwners(db, ['a', 'b']);
  expect([owners.get('a')?.holder, owners.get('b')?.holder]).toEqual(['one', null]);
  expect(await releaseAccounts(db, 'one', held)).toEqual(new Set());
  expect((await readOwners(db, ['a'])).get('a')?.holder).toBeNull();
});

it('tries again to give back an account that was locked', async () => {
  const place = await newPlace();
  const first = await SharingWorker.start(place, accounts(2));
  await untilHeld([first], 2);
  const { db } = first.owned.store;
  const locked = Promise.withResolvers<void>();
  const isLocked = Promise.withResolvers<void>();
  const locking = db.transaction().execute(async (tx) => {
    await sql`select from account_owners for update`.execute(tx);
    isLocked.resolve();
    await locked.promise;
  });
  await isLocked.promise;
  const second = await SharingWorker.start(place, accounts(2));
  await untilHeld([first, second], 0, 1);
  locked.resolve();
  await locking;
  await untilHeld([first, second], 1, 1);
  expect(second.taken.map(({ generation, lastOwnerUntil }) => [generation, lastOwnerUntil])).toEqual([[2, undefined]]);
});

describe('a command', () => {
  it('takes an account without an owner, is seen as its owner, and releases it when it ends', async () => {
    const place = await newPlace();
    const first = await command(place);
    const [accountLease] = await first.ownership.take(['a'], 0);
    expect([accountLease?.generation, accountLease?.isTrusted(), accountLease?.lastOwnerUntil]).toEqual([
      1,
      true,
      undefined,
    ]);
    const second = await command(place);
    await expect(second.ownership.take(['a'], 0)).rejects.toThrow(OwnedError);
    const patient = second.ownership.take(['a'], 10_000);
    await accountLease!.release();
    expect((await patient)[0]?.generation).toBe(2);
    await second[Symbol.asyncDispose]();
    expect((await first.ownership.take(['a'], 0))[0]?.generation).toBe(3);
  });

  it('does not take what a worker drives, nor count in the fair share, and its account is shared when it ends', async () => {
    const place = await newPlace();
    const owned = await command(place);
    const [accountLease] = await owned.ownership.take(['a0'], 0);
    const worker = await SharingWorker.start(place, accounts(4));
    await untilHeld([worker], 3);
    await expect(owned.ownership.take(['a1'], 0)).rejects.toThrow(/drives the account a1/);
    await accountLease!.release();
    await untilHeld([worker], 4);
  });

  it('takes all accounts of a group or none', async () => {
    const place = await newPlace();
    const [one, two] = [await command(place), await command(place)];
    await one.ownership.take(['b'], 0);
    await expect(two.ownership.take(['a', 'b'], 0)).rejects.toThrow(OwnedError);
    expect((await one.ownership.take(['a'], 0)).length).toBe(1);
  });

  it('waits until a worker that was killed is over', async () => {
    const place = await newPlace();
    const killed = await SharingWorker.start(place, accounts(1));
    await untilHeld([killed], 1);
    killed.clock.stop();
    const owned = await command(place);
    const [accountLease] = await owned.ownership.take(['a0'], 5_000, NEVER);
    expect([accountLease?.generation, typeof accountLease?.lastOwnerUntil]).toEqual([2, 'number']);
  });
});
