import { expect, it, vi } from 'vitest';
import { openMerchant } from '../../../support/merchant-postgres.ts';
import { hasPgbouncer, poolerBefore } from '../../../support/pgbouncer.ts';
import { newPostgresDatabase } from '../../../support/postgres.ts';
import { findPostgres } from '../../../support/postgres-server.ts';
import { testProcesses } from '../../../support/program-processes.ts';

const MODES = ['session', 'transaction'] as const;

it.skipIf(!hasPgbouncer || findPostgres() === undefined).each(MODES)(
  'workers behind PgBouncer in %s mode create each order once, though it is killed and comes back in the other mode',
  async (mode) => {
    const database = await newPostgresDatabase();
    const settings = { default_pool_size: mode === 'session' ? 60 : 4 };
    const pooler = await poolerBefore(database.url, mode, settings);
    const on = await testProcesses({}, { ORDER_SYNC_DATABASE_URL: pooler.url });
    const merchant = openMerchant(database);
    const ids: string[] = [];
    const insert = (count: number) => {
      for (let index = 0; index < count; index += 1) {
        const id = `o-${ids.length}`;
        merchant
          .prepare(`insert into merchant_orders (external_order_id, asset, from_currency, to_currency)
            values (:id, '1.5', 'BTC', 'EUR')`)
          .run({ id });
        ids.push(id);
      }
    };
    const sent = merchant
      .prepare(`select count(*) from merchant_orders where state not in ('pending', 'sending', 'unknown')`)
      .pluck();
    const workers = [await on.start(['run']), await on.start(['run'])];
    for (let round = 0; round < 3; round += 1) {
      const isSent = on.arrived(() => true);
      insert(20);
      await isSent;
      await pooler.kill();
      insert(10);
      await pooler.start({ pool_mode: MODES[(MODES.indexOf(mode) + round + 1) % 2] ?? mode, default_pool_size: 60 });
      await vi.waitFor(() => expect(sent.get()).toBe(ids.length), { timeout: 60_000, interval: 100 });
    }
    const made = ids.map((id) => on.sandbox.exchange.preOrdersOf(id).length);
    expect(made).toEqual(ids.map(() => 1));
    for (const worker of workers) {
      worker.process.kill('SIGTERM');
      expect(await worker.exit).toMatchObject({ code: 0 });
    }
  },
);
