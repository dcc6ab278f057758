import { expect, it, onTestFinished } from 'vitest';
import { checkDatabase } from '../../../src/extensions/health/doctor/database.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { OwnedError } from '../../../src/store/errors.ts';
import { openAsOwner, type OtherPlace } from '../../../src/store/open.ts';
import { placeOf } from '../../support/postgres-store.ts';
import type { PostgresTestDatabase } from '../../support/postgres.ts';
import { idsIn, openedBy, openFindings, query, send, shop } from '../../support/promoted-shop.ts';

const insert = (database: PostgresTestDatabase, id: string, createdAt = 'now()') =>
  query(
    database,
    `insert into merchant_orders (external_order_id, asset, from_currency, to_currency, created_at)
      values ('${id}', '1.5', 'BTC', 'EUR', to_char((${createdAt}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`,
  );

async function claimed(database: PostgresTestDatabase) {
  const owned = await openAsOwner(placeOf(database.url), systemClock(), {});
  onTestFinished(() => owned[Symbol.asyncDispose]());
  const [accountLease] = await owned.ownership.take(['default'], 10_000);
  if (accountLease === undefined) throw new Error('nothing was taken');
  return { store: owned.store.forAccount('default', accountLease), accountLease };
}

it('an account that no owner of a promoted standby ever had counts every order for sent', async () => {
  const { drive, database, promotedLater, created } = await shop(3);
  const standby = await promotedLater();
  await drive(database, send);
  await drive(standby, send);
  expect([...created().values()]).toEqual([1, 1, 1]);
  expect(idsIn(standby, 'unknown')).toHaveLength(3);
});

it('an account that had no owner yet has orders sent that were inserted after the promotion was noticed', async () => {
  const { drive, database, promotedLater, created } = await shop(0);
  insert(database, 'before', `now() - interval '2 hours'`);
  const standby = await promotedLater();
  query(
    standby,
    `update database_identity set time_line = order_sync_time_line(),
      time_line_since = to_char((now() - interval '1 hour') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  );
  insert(standby, 'since');
  await drive(standby, send);
  expect([idsIn(standby, 'unknown'), [...created().keys()]]).toEqual([['before'], ['since']]);
});

it('an owner whose claim was lost writes nothing if another has claimed the account by the same number', async () => {
  const { drive, database, promotedLater } = await shop(0);
  await drive(database, async () => {});
  const standby = await promotedLater();
  const [lost, next] = [await claimed(database), await claimed(standby)];
  expect(lost.accountLease.generation).toBe(next.accountLease.generation);
  const lease = { ...lost.accountLease, timeLine: next.accountLease.timeLine ?? null };
  const late = (await openedBy(standby)).store.forAccount('default', lease);
  await expect(late.writer.write(async () => {})).rejects.toThrow(OwnedError);
  await expect(next.store.writer.write(async () => {})).resolves.toBeUndefined();
});

it('orders that a fail-over left in doubt set no hold, and count neither as unknown outcomes nor for the guard', async () => {
  const { drive, database, promotedLater, created } = await shop(6);
  const limits = { ORDER_SYNC_CREATE_PAUSE_AFTER_UNKNOWN: '1', ORDER_SYNC_GUARD_CREATES_PER_HOUR: '3' };
  await drive(database, async () => {});
  const standby = await promotedLater();
  await drive(standby, async () => {}, limits);
  for (const id of ['n1', 'n2', 'n3']) insert(standby, id);
  await drive(standby, send, limits);
  expect([...created().keys()].toSorted()).toEqual(['n1', 'n2', 'n3']);
  expect([idsIn(standby, 'unknown').length, query(standby, 'select kind from account_holds')]).toEqual([6, []]);
  expect(openFindings(standby)).toHaveLength(1);
});

it('a worker whose clock is ahead knows by the time of the database since when it drives an account', async () => {
  const { drive, database } = await shop(0);
  const clock = systemClock();
  const ahead = { ...clock, now: () => new Date(clock.now().getTime() + 3_600_000) };
  const since = await drive(
    database,
    async ({ creates }) => creates.intents.owned.get('default')?.at,
    {},
    { clock: ahead },
  );
  expect(since?.getTime()).toBeLessThan(clock.now().getTime() + 600_000);
});

it('a server that tells neither its identifier nor its time-line is told by the doctor', async () => {
  const { database } = await shop(0);
  const found = async () => {
    const { store } = await openedBy(database);
    const config = { database: placeOf(database.url) as OtherPlace } as Parameters<typeof checkDatabase>[0];
    return (await checkDatabase(config, store)).filter(({ found: about }) => about.endsWith('fail-overs')).length;
  };
  const silent = `create or replace function order_sync_time_line() returns text language sql as 'select null::text'`;
  const before = await found();
  query(database, silent);
  expect([before, await found()]).toEqual([0, 1]);
});
