import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { openStore } from '../../../../src/extensions/postgres/store.ts';
import type { Store } from '../../../../src/store/port.ts';
import { readAccountFact, setAccountFact } from '../../../../src/store/tables/accounts.ts';
import { ask, type HostName, hostsUrl, startCluster } from '../../../support/postgres-cluster.ts';
import { findPostgres, startStandby } from '../../../support/postgres-server.ts';
import { placeOf } from '../../../support/postgres-store.ts';

const ACCOUNT = 'default';
const FROM_STANDBY = { ORDER_SYNC_DATABASE_READ_FROM: 'standby' };

/** A store that reads from standbys, its warnings, and a clock that can be moved. */
async function open(hosts: readonly HostName[], settings: Readonly<Record<string, string>> = {}) {
  const [clock, moved, warnings] = [systemClock(), { ms: 0 }, new Array<string>()];
  const place = placeOf(hostsUrl(...hosts), { ...FROM_STANDBY, ...settings });
  const moving = { ...clock, monotonic: () => clock.monotonic() + moved.ms };
  const store = await openStore(place, moving, { expect: 'migrate', warn: (text) => warnings.push(text) });
  onTestFinished(() => store.close());
  return { store, moved, warnings };
}

const write = async ({ writer }: Store, value: string) =>
  await writer.write((tx) => setAccountFact(tx, { account: ACCOUNT, name: 'fact', value, now: new Date() }));

/** The port of the server that was read, and the fact there. */
async function read(store: Store, of?: 'primary') {
  await using snapshot = await store.snapshot(of);
  const { rows } = await sql<{ port: number }>`select inet_server_port() as port`.execute(snapshot.db);
  return [rows[0]?.port, await readAccountFact(snapshot.db, { account: ACCOUNT, name: 'fact' })];
}

describe.skipIf(findPostgres() === undefined)('a snapshot from a standby', () => {
  it('has each commit from before it, and is of the primary if somebody writes by it', async () => {
    const { old, next } = await startCluster();
    const { store, warnings } = await open([old, next]);
    for (const value of ['first', 'second', 'third']) {
      await write(store, value);
      expect(await read(store)).toEqual([next.port, value]);
      expect(await read(store, 'primary')).toEqual([old.port, value]);
    }
    expect(warnings).toEqual([]);
  });

  it('is of the primary for a while if the standby is cut off or gone, which is said once', async () => {
    const { old, next, catchUp } = await startCluster();
    const { store, moved, warnings } = await open([old, next], { ORDER_SYNC_DATABASE_READ_BEHIND: '2s' });
    await write(store, 'first');
    expect(await read(store)).toEqual([next.port, 'first']);
    await next.disconnect();
    await write(store, 'second');
    expect(await read(store)).toEqual([old.port, 'second']);
    await next.connect();
    await catchUp();
    expect(await read(store)).toEqual([old.port, 'second']);
    moved.ms += 60_000;
    await next.stop();
    expect(await read(store)).toEqual([old.port, 'second']);
    expect(warnings.length).toBe(1);
    await next.start();
    await catchUp();
    moved.ms += 60_000;
    expect(await read(store)).toEqual([next.port, 'second']);
  });

  it('is never of a standby that follows an old primary which lives on', async () => {
    const { old, next, promote } = await startCluster();
    await using stray = await startStandby(findPostgres() ?? '', old, 'stray');
    const before = await open([old, next, stray]);
    await write(before.store, 'first');
    await promote();
    await ask(old, `create table filled as select generate_series(1, 10000)`, 'shop');
    const after = await open([next, stray, old], { ORDER_SYNC_DATABASE_READ_BEHIND: '500ms' });
    expect(await read(after.store)).toEqual([next.port, 'first']);
    await write(after.store, 'second');
    expect(await read(after.store)).toEqual([next.port, 'second']);
    expect(after.warnings.length).toBe(1);
  });
});
