import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { setHold } from '../../../src/store/tables/account-holds.ts';
import { openStore } from '../../../src/store/sqlite/store.ts';
import { newDatabase, temporaryFolder } from '../../support/folders.ts';
import { testClock } from '../../support/test-clock.ts';
import { SECOND } from '../../support/tracking.ts';

it('changes are those of other connections, and name the accounts in which a person decided something', async () => {
  const path = join(temporaryFolder(), 'orders.db');
  await newDatabase(path);
  const clock = testClock();
  const [store, other] = await Promise.all([1, 2].map(() => openStore(path, clock, { expect: 'current' })));
  if (store === undefined || other === undefined) throw new Error('they are open');
  onTestFinished(async () => void (await Promise.all([store.close(), other.close()])));
  const stop = new AbortController();
  const seen: (readonly string[])[] = [];
  const watching = (async () => {
    for await (const decided of store.changes(stop.signal)) seen.push(decided);
  })();
  const look = async () => {
    for (let turns = 0; turns < 5; turns += 1) await clock.turn();
    clock.advance(SECOND);
    for (let turns = 0; turns < 5; turns += 1) await clock.turn();
    return seen.splice(0);
  };
  await store.writer.write((tx) => sql`insert into merchant_orders (external_order_id) values ('a')`.execute(tx));
  expect(await look()).toEqual([]);
  await other.writer.write((tx) => sql`insert into merchant_orders (external_order_id) values ('b')`.execute(tx));
  expect(await look()).toEqual([[]]);
  const hold = { kind: 'all-paused', since: clock.now(), until: null, reason: 'test', actor: 'somebody' } as const;
  await other.writer.write((tx) => setHold(tx, 'shop-2', hold, clock.now()));
  expect(await look()).toEqual([['shop-2']]);
  expect(await look()).toEqual([]);
  stop.abort();
  await watching;
});

it('a commit of another connection is seen without a look at its time, because the log of the database is watched', async () => {
  const path = join(temporaryFolder(), 'orders.db');
  await newDatabase(path);
  const clock = testClock();
  // The looks that follow a write come at once, the periodic one never.
  const sleep = (ms: number, signal?: AbortSignal) => (ms < 900 ? clock.turn() : clock.sleep(ms, signal));
  const [store, other] = await Promise.all(
    [1, 2].map(() => openStore(path, { ...clock, sleep }, { expect: 'current' })),
  );
  if (store === undefined || other === undefined) throw new Error('they are open');
  onTestFinished(async () => void (await Promise.all([store.close(), other.close()])));
  const stop = new AbortController();
  const changes = store.changes(stop.signal)[Symbol.asyncIterator]();
  const next = changes.next();
  await other.writer.write((tx) => sql`insert into merchant_orders (external_order_id) values ('a')`.execute(tx));
  expect(await next).toEqual({ value: [], done: false });
  const later = changes.next();
  for (let turns = 0; turns < 100; turns += 1) await clock.turn();
  await other.writer.write((tx) => sql`insert into merchant_orders (external_order_id) values ('b')`.execute(tx));
  expect(await later).toEqual({ value: [], done: false });
  stop.abort();
  await changes.return?.();
});
