import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { setHold } from '../../../../src/store/tables/account-holds.ts';
import {
  answerRequest,
  awaitedOf,
  forgetRequest,
  purgeRequests,
  putRequest,
  reportProgress,
  requestStatus,
  takeRequests,
  withdrawRequest,
  type NewRequest,
} from '../../../../src/extensions/relay/tables/account-requests.ts';
import { takeWoken, wakeOwner } from '../../../../src/extensions/postgres/sharing/notices.ts';
import { workerOf } from '../../../../src/extensions/postgres/sharing/workers.ts';
import type { Store } from '../../../../src/store/port.ts';
import { openStore } from '../../../../src/extensions/postgres/store.ts';
import { findPostgres } from '../../../support/postgres-server.ts';
import { openPostgresStore } from '../../../support/postgres-store.ts';
import { drivenBy, endHeartbeat } from '../../../support/workers.ts';

const request = (id: string, more: Partial<NewRequest> = {}): NewRequest => ({
  account: 'default',
  id,
  holder: 'w1',
  publicKey: 'key',
  input: 'sealed',
  ...more,
});

const requestsOf = (store: Store, publicKey = 'key-1') => takeRequests(store.db, publicKey);
const wokenOf = (store: Store) => takeWoken(store.db, 'key-1');
/** In PGlite nobody else is served while a transaction is open. */
const NO_SERVER = findPostgres() === undefined;
const W1 = { holder: 'w1', publicKey: 'key-1' };

/** Has everything that was asked be asked so much earlier. */
async function age({ db }: Store, interval: string): Promise<void> {
  await sql`update account_requests set asked_at = to_char(asked_at::timestamptz - ${interval}::interval,
    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`.execute(db);
}

async function idsIn({ db }: Store): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select id from account_requests order by account, id`.execute(db);
  return rows.map(({ id }) => id);
}

describe('a request of an account', () => {
  it('is taken by the worker that is asked, once, and has its answer', async () => {
    const { store } = await openPostgresStore();
    await drivenBy(store, W1);
    expect(await putRequest(store.db, request('a'))).toBe(true);
    expect(await requestsOf(store, 'key-2')).toEqual([]);
    const taken = await Promise.all([requestsOf(store), requestsOf(store)]);
    expect(taken.flat()).toEqual([request('a')]);
    await reportProgress(store.db, request('a'), 'half');
    expect(await requestStatus(store.db, request('a'))).toEqual({
      isTaken: true,
      progress: 'half',
      answer: null,
      isWorkerAlive: true,
    });
    expect(await answerRequest(store.db, request('a'), 'done')).toBe(true);
    expect(await requestStatus(store.db, request('a'))).toMatchObject({ answer: 'done' });
    await forgetRequest(store.db, request('a'));
    expect(await answerRequest(store.db, request('a'), 'again')).toBe(false);
  });

  it('is either withdrawn or taken, whoever comes first', async () => {
    const { store } = await openPostgresStore();
    await drivenBy(store, W1);
    for (let round = 0; round < 20; round += 1) {
      await putRequest(store.db, request('a'));
      const [isWithdrawn, taken] = await Promise.all([withdrawRequest(store.db, request('a')), requestsOf(store)]);
      expect(isWithdrawn).toBe(taken.length === 0);
      await forgetRequest(store.db, request('a'));
    }
  });

  it('is taken by nobody once its command has surely gone, and purged when it is old', async () => {
    const { store } = await openPostgresStore();
    await drivenBy(store, W1);
    await putRequest(store.db, request('a'));
    await age(store, '31 s');
    expect(await requestsOf(store)).toEqual([]);
    await purgeRequests(store.db);
    expect(await idsIn(store)).toEqual(['a']);
    await age(store, '10 min');
    await purgeRequests(store.db);
    expect(await idsIn(store)).toEqual([]);
  });

  it('is kept while it is worked on, and purged with its answer', async () => {
    const { store } = await openPostgresStore();
    await drivenBy(store, W1);
    await putRequest(store.db, request('a'));
    await requestsOf(store);
    await age(store, '20 h');
    await purgeRequests(store.db);
    expect(await idsIn(store)).toEqual(['a']);
    await age(store, '6 h');
    await purgeRequests(store.db);
    expect(await idsIn(store)).toEqual([]);
  });

  it('finds no room where a hundred of its account wait; other accounts have theirs', async () => {
    const { store } = await openPostgresStore();
    await drivenBy(store, W1);
    for (let number = 0; number < 100; number += 1) await putRequest(store.db, request(`a${number}`));
    expect(await putRequest(store.db, request('b'))).toBe(false);
    expect(await putRequest(store.db, request('b', { account: 'shop-2' }))).toBe(true);
    expect((await requestsOf(store)).length).toBe(64);
  });

  it('says whether somebody waits for it, and whether its worker lives', async () => {
    const { store } = await openPostgresStore();
    await drivenBy(store, W1);
    await putRequest(store.db, request('a'));
    await putRequest(store.db, request('b', { account: 'shop-2' }));
    const asked = [request('a'), request('b', { account: 'shop-2' }), request('c')];
    expect([...(await awaitedOf(store.db, asked))].toSorted()).toEqual(['a', 'b']);
    await endHeartbeat(store, 'w1');
    expect(await requestStatus(store.db, request('a'))).toMatchObject({ isWorkerAlive: false });
    expect(await requestStatus(store.db, request('c'))).toBeUndefined();
  });
});

describe('the worker of an account', () => {
  it('is found while it lives', async () => {
    const { store } = await openPostgresStore();
    expect(await workerOf(store.db, 'default')).toBeUndefined();
    await drivenBy(store, { holder: 'w1', host: 'h', socket: '/s', publicKey: 'k' });
    expect(await workerOf(store.db, 'default')).toEqual({ holder: 'w1', host: 'h', socket: '/s', publicKey: 'k' });
    await endHeartbeat(store, 'w1');
    expect(await workerOf(store.db, 'default')).toBeUndefined();
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

  it.skipIf(NO_SERVER)('is woken again by a change that comes while it has taken the last one', async () => {
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

  it('is asked by its new name where it was declared over and goes on', async () => {
    const { store } = await openPostgresStore();
    await drivenBy(store, W1);
    await putRequest(store.db, request('a'));
    await sql`delete from workers`.execute(store.db);
    await drivenBy(store, { holder: 'w2', publicKey: 'key-1' });
    await putRequest(store.db, request('b', { holder: 'w2' }));
    expect((await requestsOf(store)).map(({ id }) => id)).toEqual(['b']);
  });

  it('is told by its store of each account in which a person wrote, and of none in which an owner did', async () => {
    const { place, store: person } = await openPostgresStore();
    await drivenBy(person, W1);
    await drivenBy(person, W1, 'shop-2');
    const store = await openStore(place, systemClock(), { expect: 'current', publicKey: 'key-1' });
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

  it('is not woken where there is none', async () => {
    const { store } = await openPostgresStore();
    await wakeOwner(store.db, 'default');
    expect(await idsIn(store)).toEqual([]);
  });
});
