import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { openStore } from '../../../src/extensions/postgres/store.ts';
import { findPostgres, OWNER, startPostgres, startStandby } from '../../support/postgres-server.ts';
import { placeOf } from '../../support/postgres-store.ts';

const BIN = findPostgres();

describe.skipIf(BIN === undefined)('a streaming standby', () => {
  it('has what it received when it is promoted, and tells another time-line to a plain role', async () => {
    await using primary = await startPostgres(BIN ?? '');
    const admin = primary.admin();
    await admin.query(`create database shop owner ${OWNER}`);
    await admin.end();
    const before = await openStore(placeOf(primary.url('shop')), systemClock(), { expect: 'migrate' });
    await using standby = await startStandby(BIN ?? '', primary);
    const identifier = async ({ db }: typeof before) => {
      const { rows } = await sql<{ line: string }>`select order_sync_time_line() as line`.execute(db);
      return rows[0]?.line.split('/');
    };
    const [system, line] = (await identifier(before)) ?? [];
    await standby.disconnect();
    await standby.connect();
    await standby.disconnect();
    await before.close();
    await primary.stop('immediate');
    await standby.promote();
    const after = await openStore(placeOf(standby.url('shop')), systemClock(), { expect: 'current' });
    expect([line, await identifier(after)]).toEqual(['00000001', [system, '00000002']]);
    await after.close();
  });
});
