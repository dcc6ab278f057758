import { describe, expect, it, vi } from 'vitest';
import { openMerchant } from '../../../support/merchant-postgres.ts';
import { newPostgresDatabase } from '../../../support/postgres.ts';
import { roleWithPassword } from '../../../support/postgres-role.ts';
import { findPostgres } from '../../../support/postgres-server.ts';
import { testProcesses } from '../../../support/program-processes.ts';

describe.skipIf(findPostgres() === undefined)('a worker whose database password is changed', () => {
  it.each(['the file', 'the server'])('waits if that is done in %s first, and then continues', async (first) => {
    const database = await newPostgresDatabase();
    const role = roleWithPassword(database);
    const settings = { ORDER_SYNC_DATABASE_URL: role.url, ORDER_SYNC_DATABASE_PASSWORD_FILE: role.file };
    const on = await testProcesses({}, settings);
    const merchant = openMerchant(database);
    const daemon = await on.start(['run']);
    const changes = [() => role.write('second'), () => role.alter('second')];
    if (first === 'the server') changes.reverse();
    changes[0]?.();
    role.endConnections();
    const levels = () => daemon.output().match(/"level":"(error|fatal)"/g) ?? [];
    await vi.waitFor(() => expect(levels()).not.toEqual([]), { timeout: 20_000 });
    changes[1]?.();
    merchant.exec(`insert into merchant_orders (external_order_id, asset, from_currency, to_currency)
      values ('a', '1.5', 'BTC', 'EUR')`);
    const attempts = merchant.prepare('select attempts from merchant_orders').pluck();
    await vi.waitFor(() => expect(attempts.get()).toBe(1), { timeout: 20_000 });
    daemon.process.kill('SIGTERM');
    expect(await daemon.exit).toMatchObject({ code: 0 });
    expect(daemon.output()).not.toMatch(/"fatal"|second/);
  });
});
