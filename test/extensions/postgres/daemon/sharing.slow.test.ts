import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../support/folders.ts';
import { openMerchant } from '../../../support/merchant-postgres.ts';
import { newPostgresDatabase } from '../../../support/postgres.ts';
import { testProcesses } from '../../../support/program-processes.ts';

describe('two workers on PostgreSQL', () => {
  it('share the accounts, and one drives all of them when the other is gone', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const database = await newPostgresDatabase();
    const file = join(temporaryFolder(), 'accounts.yaml');
    writeFileSync(file, `accounts:\n${names.map((name) => `  ${name}:\n`).join('')}`);
    const on = await testProcesses({}, { ORDER_SYNC_DATABASE_URL: database.url, ORDER_SYNC_CONFIG: file });
    const merchant = openMerchant(database);
    onTestFinished(() => void merchant.close());
    const insert = merchant.prepare(
      `insert into merchant_orders (account, external_order_id, asset, from_currency, to_currency) values (?, ?, '1.5', 'BTC', 'EUR')`,
    );
    const owners = merchant.prepare(
      `select count(*) as owned from account_owners where holder is not null group by holder order by 1`,
    );
    const unsent = merchant
      .prepare(`select count(*) from merchant_orders where state in ('pending', 'sending')`)
      .pluck();
    const sent = async (id: string) => {
      for (const name of names) insert.run(name, `${id}-${name}`);
      await vi.waitFor(() => expect(Number(unsent.get())).toBe(0), { timeout: 30_000, interval: 100 });
    };
    const [first, second] = await Promise.all([on.start(['run']), on.start(['run'])]);
    await vi.waitFor(() => expect(owners.all().map((row) => Number(Object.values(row as object)[0]))).toEqual([2, 3]), {
      timeout: 30_000,
      interval: 100,
    });
    await sent('both');
    first.process.kill('SIGKILL');
    await sent('one');
    second.process.kill('SIGTERM');
    expect(await second.exit).toEqual({ code: 0, signal: null });
    expect(on.sandbox.exchange.census()).toEqual({ preOrders: 10, duplicated: [] });
  });
});
