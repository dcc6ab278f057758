import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { Store } from '../../../src/store/port.ts';
import { openStore } from '../../../src/extensions/postgres/store.ts';
import { cuttingProxy, type Cut, type CuttingProxy } from '../../support/cutting-proxy.ts';
import { findPostgres } from '../../support/postgres-server.ts';
import { newPostgresDatabase } from '../../support/postgres.ts';
import { ownedStore, placeOf } from '../../support/postgres-store.ts';

/** An owner of an account whose way to the database can be cut, and one that cannot. */
async function cutOwner() {
  const { url } = await newPostgresDatabase();
  const proxy = await cuttingProxy(Number(new URL(url).port));
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  const way = new URL(url);
  way.port = String(proxy.port);
  const store = await openStore(placeOf(way.href, { ORDER_SYNC_DATABASE_POOL_SIZE: '1' }), systemClock(), {
    expect: 'current',
  });
  onTestFinished(() => store.close());
  const direct = await openStore(placeOf(url), systemClock(), { expect: 'current' });
  onTestFinished(() => direct.close());
  const owner = await ownedStore(store, 'default');
  // The first transaction also looks at the mark.
  await owner.writer.write(async () => {});
  return { proxy, store, direct, owner };
}

/** Writes two rows in one transaction; a row that is written again is there twice. */
async function writeTwo({ writer }: Store, name: string): Promise<PromiseSettledResult<void>[]> {
  const answer = { account: 'default', operation: 'createLink', http_status: 200, body: '', received_at: '' } as const;
  const one = async (subject: string) =>
    await writer.write(async (tx) => {
      await tx
        .insertInto('kept_answers')
        .values({ ...answer, subject })
        .execute();
    });
  return await Promise.allSettled([one(`${name} a`), one(`${name} b`)]);
}

async function written({ db }: Store): Promise<(string | null)[]> {
  return (await db.selectFrom('kept_answers').select('subject').orderBy('id').execute()).map(({ subject }) => subject);
}

/** The number of the message that commits. */
async function commitOf(proxy: CuttingProxy, owner: Store): Promise<number> {
  proxy.cutAt(0, 'before');
  await writeTwo(owner, 'first');
  return proxy.messages;
}

describe.skipIf(findPostgres() === undefined)('a connection that is cut in a transaction of an owner', () => {
  it.each<Cut>(['before', 'answered', 'late'])(
    'loses nothing and writes nothing twice, whichever message it is: %s',
    async (how) => {
      const { proxy, store, owner } = await cutOwner();
      proxy.cutAt(0, how);
      await writeTwo(owner, 'whole');
      const { messages } = proxy;
      expect(messages).toBeGreaterThan(10);
      const expected = ['whole a', 'whole b'];
      for (let n = 1; n <= messages; n += 1) {
        proxy.cutAt(n, how);
        const settled = await writeTwo(owner, `cut at ${n}`);
        expect([n, settled.map(({ status }) => status)]).toEqual([n, ['fulfilled', 'fulfilled']]);
        expect(proxy.messages).toBeGreaterThan(n);
        expected.push(`cut at ${n} a`, `cut at ${n} b`);
      }
      expect(await written(store)).toEqual(expected);
      expect(owner.writer.failure).toBeUndefined();
    },
  );

  it.each<[Cut, readonly string[]]>([
    ['before', ['first a', 'first b']],
    ['answered', ['first a', 'first b', 'x a', 'x b']],
  ])('is asked about until the end of the grace period if it was the commit: %s', async (how, expected) => {
    const { proxy, direct, owner } = await cutOwner();
    proxy.cutAt(await commitOf(proxy, owner), how);
    proxy.isClosed = true;
    let isSettled = false;
    const writing = writeTwo(owner, 'x').finally(() => (isSettled = true));
    await expect.poll(() => owner.writer.failure?.problem).toBe('disk');
    expect(isSettled).toBe(false);
    owner.writer.endGracePeriod();
    expect(await writing).toMatchObject([{ reason: { problem: 'busy' } }, { reason: { problem: 'busy' } }]);
    expect(await written(direct)).toEqual(expected);
    // The owner still writes: nothing of what it knows is gone.
    proxy.isClosed = false;
    await writeTwo(owner, 'y');
    expect(await written(direct)).toEqual([...expected, 'y a', 'y b']);
  });

  it.each<Cut>(['before', 'answered'])('is found out about once the server is back: %s', async (how) => {
    const { proxy, direct, owner } = await cutOwner();
    proxy.cutAt(await commitOf(proxy, owner), how);
    proxy.isClosed = true;
    const writing = writeTwo(owner, 'x');
    await expect.poll(() => owner.writer.failure?.problem).toBe('disk');
    proxy.isClosed = false;
    expect((await writing).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect(await written(direct)).toEqual(['first a', 'first b', 'x a', 'x b']);
  });

  it('does not count as done if another owner has followed meanwhile', async () => {
    const { proxy, direct, owner } = await cutOwner();
    proxy.cutAt(await commitOf(proxy, owner), 'before');
    proxy.isClosed = true;
    const writing = writeTwo(owner, 'x');
    await expect.poll(() => owner.writer.failure?.problem).toBe('disk');
    await ownedStore(direct, 'default');
    proxy.isClosed = false;
    const owned = { status: 'rejected', reason: { name: 'OwnedError' } };
    expect(await writing).toMatchObject([owned, owned]);
    expect(await written(direct)).toEqual(['first a', 'first b']);
  });

  it('is told to a person whose command it was, and the row says what came of it', async () => {
    const { proxy, store } = await cutOwner();
    proxy.cutAt(0, 'before');
    await writeTwo(store, 'first');
    proxy.cutAt(proxy.messages, 'answered');
    const [one] = await writeTwo(store, 'x');
    expect(one).toMatchObject({ status: 'rejected', reason: { problem: 'busy' } });
    expect(await written(store)).toEqual(['first a', 'first b', 'x a', 'x b']);
  });
});
