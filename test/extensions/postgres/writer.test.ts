import { describe, expect, it } from 'vitest';
import { sql } from 'kysely';
import { rememberStatuses } from '../../../src/store/tables/accounts.ts';
import { OwnedError } from '../../../src/store/errors.ts';
import { insertEvents } from '../../../src/store/tables/events.ts';
import { stoppedAccounts } from '../../../src/store/tables/account-stops.ts';
import type { Store } from '../../../src/store/port.ts';
import { openPostgresStore, ownedStore as owned } from '../../support/postgres-store.ts';
import { checkChains } from '../../../src/extensions/restore/tables/chain.ts';

const SUBJECT = { account: 'default', type: 'order', lookedUpBefore: null, now: new Date(0) } as const;
const CHANGE = {
  field: 'state',
  oldValue: null,
  newValue: 'open',
  exchangeTime: null,
  source: 'lookup',
  reason: null,
} as const;

const see = async ({ writer }: Store, value: string, then = () => {}) =>
  await writer.write(async (tx) => {
    await rememberStatuses(tx, [{ account: 'default', field: 'f', value, first_seen_at: 'now' }]);
    then();
    return value;
  });

const seen = async ({ db }: Store) =>
  (await db.selectFrom('seen_statuses').select('value').orderBy('value').execute()).map(({ value }) => value);

/** The name of the last transaction of an owner. */
async function lastTransaction({ db }: Store): Promise<string | null> {
  const row = await db.selectFrom('account_owners').select('last_commit').executeTakeFirst();
  return row?.last_commit ?? null;
}

describe('writes of an account that are asked for together', () => {
  it('share one transaction, in their order', async () => {
    const { store } = await openPostgresStore();
    const account = await owned(store, 'default');
    const values = Array.from({ length: 150 }, (_, index) => `v${String(index).padStart(3, '0')}`);
    const names = new Set<string | null>();
    const results = values.map(async (value) => {
      const result = await see(account, value);
      names.add(await lastTransaction(store));
      return result;
    });
    expect(await Promise.all(results)).toEqual(values);
    expect(names.size).toBe(1);
    expect(await seen(store)).toEqual(values);
  });

  it('fail alone: what one of them wrote is undone, the others are durable', async () => {
    const { store } = await openPostgresStore();
    const account = await owned(store, 'default');
    const bug = new Error('a bug in one of them');
    const results = await Promise.allSettled([
      see(account, 'a'),
      see(account, 'b', () => {
        throw bug;
      }),
      account.writer.write((tx) =>
        tx
          .insertInto('event_heads')
          .values({ account: 'x', id: 1, hash: null as never })
          .execute(),
      ),
      see(account, 'c'),
    ]);
    expect(results).toMatchObject([
      { status: 'fulfilled', value: 'a' },
      { status: 'rejected', reason: bug },
      { status: 'rejected', reason: { problem: 'refused' } },
      { status: 'fulfilled', value: 'c' },
    ]);
    expect(await seen(store)).toEqual(['a', 'c']);
  });
});

describe('works of one transaction', () => {
  /** Writes beside each other; returns the beginnings and ends, in their order. */
  async function written(ids: readonly (string | undefined)[], more: readonly string[] = []) {
    const { store } = await openPostgresStore();
    const account = await owned(store, 'default');
    const trace: string[] = [];
    await Promise.all(
      ids.map((id, index) =>
        account.writer.write(
          async (tx) => {
            trace.push(`${index} begins`);
            await insertEvents(tx, { ...SUBJECT, subject: `o-${id}` }, [CHANGE, CHANGE]);
            trace.push(`${index} ends`);
          },
          id === undefined ? undefined : [id, ...more],
        ),
      ),
    );
    expect(await checkChains(store.db)).toEqual({ events: 2 * ids.length, broken: null });
    const { rows } = await sql<{ subject: string }>`select subject from events order by id`.execute(store.db);
    return { trace, subjects: rows.map(({ subject }) => subject) };
  }

  it('run beside each other if they are about different orders, and their events are one chain', async () => {
    const { trace, subjects } = await written(['a', 'b', 'c']);
    expect(trace.slice(0, 3)).toEqual(['0 begins', '1 begins', '2 begins']);
    expect(subjects).toEqual(['o-a', 'o-a', 'o-b', 'o-b', 'o-c', 'o-c']);
  });

  it('run one after the other if they are about the same order, or do not say about which', async () => {
    const { trace } = await written(['a', 'b', 'a', undefined, undefined, 'c', 'd']);
    const places = Object.fromEntries(trace.map((step, place) => [step, place]));
    const isBefore = (one: string, other: string) => (places[one] ?? NaN) < (places[other] ?? NaN);
    expect(isBefore('1 begins', '0 ends')).toBe(true);
    for (const [before, next] of [
      [0, 2],
      [1, 2],
      [2, 3],
      [3, 4],
      [4, 5],
    ] as const) {
      expect(isBefore(`${before} ends`, `${next} begins`)).toBe(true);
    }
    expect(isBefore('6 begins', '5 ends')).toBe(true);
  });

  it('run one after the other if they share something beside their orders', async () => {
    const { trace } = await written(['a', 'b'], ['pre-order 1']);
    expect(trace).toEqual(['0 begins', '0 ends', '1 begins', '1 ends']);
  });

  it('fail alone also if they ran beside others', async () => {
    const { store } = await openPostgresStore();
    const account = await owned(store, 'default');
    const bug = new Error('a bug in one of them');
    const results = await Promise.allSettled(
      ['a', 'b', 'c'].map((id) =>
        account.writer.write(
          async (tx) => {
            await insertEvents(tx, { ...SUBJECT, subject: id }, [CHANGE]);
            if (id === 'b') throw bug;
            return id;
          },
          [id],
        ),
      ),
    );
    expect(results).toMatchObject([{ value: 'a' }, { reason: bug }, { value: 'c' }]);
    expect(await checkChains(store.db)).toEqual({ events: 2, broken: null });
  });
});

describe('an owner that was followed', () => {
  it('writes nothing more, and neither of two writes in each other', async () => {
    const { store } = await openPostgresStore();
    const first = await owned(store, 'default');
    await see(first, 'a');
    const second = await owned(store, 'default');
    await expect(see(first, 'b')).rejects.toThrow(OwnedError);
    await see(second, 'c');
    await expect(see(first, 'd')).rejects.toThrow(OwnedError);
    expect(await seen(store)).toEqual(['a', 'c']);
  });

  it('does not stop a person, whose change waits for the transaction of an owner', async () => {
    const { store } = await openPostgresStore();
    const owner = await owned(store, 'default');
    const order: string[] = [];
    const begun = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const writing = owner.writer.write(async () => {
      begun.resolve();
      await release.promise;
      order.push('owner');
    });
    await begun.promise;
    const person = store.forAccount('default').writer.write(async () => {
      order.push('person');
    });
    release.resolve();
    await Promise.all([writing, person]);
    expect(order).toEqual(['owner', 'person']);
    // A person's change leaves the name of the owner's last commit.
    await see(owner, 'a');
    expect(await seen(store)).toEqual(['a']);
  });
});

it('stops an account whose database was put back to an older state while it was owned', async () => {
  const { store } = await openPostgresStore();
  const [one, other] = [await owned(store, 'default'), await owned(store, 'other')];
  await see(one, 'a');
  await see(other, 'b');
  await store.db.updateTable('account_owners').set({ last_commit: 'older' }).where('account', '=', 'default').execute();
  await expect(see(one, 'c')).rejects.toMatchObject({ problem: 'unusable' });
  await expect(see(one, 'd')).rejects.toMatchObject({ problem: 'unusable' });
  await see(other, 'e');
  expect(await seen(store)).toEqual(['a', 'b', 'e']);
  // The stop is recorded, and is not taken for the commit that is gone.
  expect(await stoppedAccounts(store.db, undefined)).toMatchObject([{ account: 'default', kind: 'older-state' }]);
  await expect(see(await owned(store, 'default'), 'f')).rejects.toMatchObject({ problem: 'unusable' });
});

it('stops an account whose database was put back to before it was claimed: no other owner has followed', async () => {
  const { store } = await openPostgresStore();
  await owned(store, 'default');
  const owner = await owned(store, 'default');
  await see(owner, 'a');
  await store.db.updateTable('account_owners').set({ generation: 1 }).execute();
  await expect(see(owner, 'b')).rejects.toMatchObject({ problem: 'unusable' });
  expect(await seen(store)).toEqual(['a']);
});

it('reads all rows of one moment in pages', async () => {
  const { store } = await openPostgresStore();
  const account = await owned(store, 'default');
  await Promise.all(Array.from({ length: 1_200 }, (_, index) => see(account, `v${index}`)));
  await using snapshot = await store.snapshot();
  await see(account, 'later');
  const query = store.db.selectFrom('seen_statuses').selectAll().where('account', '=', 'default').orderBy('value');
  const sizes: number[] = [];
  for await (const page of snapshot.pages(query)) sizes.push(page.length);
  expect(sizes).toEqual([500, 500, 200]);
  for await (const _ of snapshot.pages(query)) break;
  for await (const page of snapshot.pages(query.limit(1))) expect(page).toHaveLength(1);
});
