import { expect, it, vi } from 'vitest';
import { openMerchant } from '../support/merchant-postgres.ts';
import type { Merchant } from '../support/merchant.ts';
import { findPostgres } from '../support/postgres-server.ts';
import { newPostgresDatabase } from '../support/postgres.ts';
import { testProcesses, type ProgramProcesses } from '../support/program-processes.ts';

const WAIT = { timeout: 20_000 };

/** A trigger that writes each change into a table of the shop's. */
const MAKE = {
  sqlite: `create table shop_log (id text);
    create trigger of_the_shop after update on merchant_orders begin insert into shop_log values (new.external_order_id); end`,
  postgres: `create table shop_log (id text);
    create function of_the_shop() returns trigger language plpgsql as
      $$ begin insert into shop_log values (new.external_order_id); return null; end $$;
    create trigger of_the_shop after update on merchant_orders for each row
      when (new.external_order_id = 'a') execute function of_the_shop()`,
};

/** Two rows that must be sent, and the shop's table is gone. */
async function prepare(dialect: keyof typeof MAKE): Promise<{ on: ProgramProcesses; merchant: Merchant }> {
  const database = dialect === 'postgres' ? await newPostgresDatabase() : undefined;
  const on = await testProcesses({}, database && { ORDER_SYNC_DATABASE_URL: database.url });
  const merchant = database === undefined ? on.merchant : openMerchant(database);
  merchant.exec(MAKE[dialect]);
  merchant.exec(`insert into merchant_orders (external_order_id, asset, from_currency, to_currency)
    values ('a', '1.5', 'BTC', 'EUR'), ('b', '1.5', 'BTC', 'EUR')`);
  merchant.exec('drop table shop_log');
  return { on, merchant };
}

it.each(['sqlite', 'postgres'] as const)(
  'a daemon on %s whose orders meet a broken trigger names both and continues',
  async (dialect) => {
    if (dialect === 'postgres' && findPostgres() === undefined) return;
    const { on, merchant } = await prepare(dialect);
    const daemon = await on.start(['run']);
    await vi.waitFor(() => expect(daemon.output()).toMatch(/"externalOrderId":"a","cause":"[^}]*of_the_shop/), WAIT);
    const sent = merchant
      .prepare('select external_order_id from merchant_orders where attempts > 0 order by 1')
      .pluck();
    // SQLite prepares the trigger for each update, whatever its row.
    await vi.waitFor(() => expect(sent.all()).toEqual(dialect === 'postgres' ? ['b'] : []), WAIT);
    merchant.exec('create table shop_log (id text)');
    // That which was passed over is due again in five minutes at the latest.
    merchant.exec(`insert into merchant_orders (external_order_id, asset, from_currency, to_currency)
      values ('c', '1.5', 'BTC', 'EUR')`);
    await vi.waitFor(() => expect(sent.all()).toContain('c'), WAIT);
    daemon.process.kill('SIGTERM');
    expect(await daemon.exit).toEqual({ code: 0, signal: null });
    expect(daemon.output()).not.toContain('"fatal"');
  },
);
