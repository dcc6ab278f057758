import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { runProgram } from '../../support/cli-function.ts';
import { temporaryFolder } from '../../support/folders.ts';
import { openMerchant } from '../../support/merchant-postgres.ts';
import { newPostgresDatabase } from '../../support/postgres.ts';
import { scriptedExchange } from '../../support/scripted-exchange.ts';
import { MINUTE, SECOND } from '../../support/tracking.ts';

afterEach(() => vi.useRealTimers());

/** A machine whose clock is so far behind that of the server, and an order that the shop has just inserted. */
async function machineBehind(ms: number) {
  const exchange = await scriptedExchange();
  onTestFinished(() => exchange[Symbol.asyncDispose]());
  const database = await newPostgresDatabase();
  const merchant = openMerchant(database);
  merchant.exec(`insert into merchant_orders (external_order_id, asset, from_currency, to_currency)
    values ('a', '1.5', 'BTC', 'EUR')`);
  merchant.close();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - ms });
  const environment = {
    ORDER_SYNC_DATABASE_URL: database.url,
    ORDER_SYNC_EXCHANGE_BASE_URL: exchange.url,
    ORDER_SYNC_EXCHANGE_API_KEY: 'canary',
    ORDER_SYNC_OPS_LISTEN: 'off',
  };
  const cwd = temporaryFolder();
  return { exchange, run: (...args: string[]) => runProgram(args, { cwd, environment }) };
}

describe('a machine whose clock is ten minutes behind that of the server', () => {
  it('sends an order that has just been inserted, and tells its story', async () => {
    const { exchange, run } = await machineBehind(10 * MINUTE);
    const { code, stdout } = await run('orders', 'explain', 'a', '--json');
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { externalOrderId: 'a', state: 'pending' }]);
    await run('sync');
    expect(exchange.count('POST')).toBe(1);
  });

  it('is told of by status and doctor', async () => {
    const { run } = await machineBehind(10 * MINUTE);
    const status = await run('status', '--json');
    const { databaseAheadMs, verdict } = JSON.parse(status.stdout) as {
      databaseAheadMs: number;
      verdict: { reasons: unknown[] };
    };
    expect(databaseAheadMs).toBeGreaterThan(10 * MINUTE - 5 * SECOND);
    expect(verdict.reasons).toContainEqual(
      expect.objectContaining({ end: 'look', text: expect.stringMatching(/clock/) }),
    );
    const { findings } = JSON.parse((await run('doctor', '--json')).stdout) as { findings: unknown[] };
    expect(findings).toContainEqual(expect.objectContaining({ check: 'clock', level: 'warning' }));
  });
});
