import { describe, expect, it } from 'vitest';
import { testProcesses, type Daemon, type ProgramProcesses } from '../support/program-processes.ts';

const REASON = ['--reason', 'asked the exchange'];

/** Resolves after `count` more creates have arrived. */
function creates(on: ProgramProcesses, count: number): Promise<void> {
  let seen = 0;
  return on.arrived(({ method }) => method === 'POST' && ++seen === count);
}

/** Resolves once the program has said this. */
function said(daemon: Daemon, text: string): Promise<void> {
  return new Promise((resolve) => {
    const look = () => daemon.output().includes(text) && resolve();
    daemon.process.stdout?.on('data', look);
    look();
  });
}

function historyOf(on: ProgramProcesses, id: string): unknown[] {
  const events = `select new_value from order_events where account = 'default' and external_order_id = ? and field = 'state' order by id`;
  return on.merchant.prepare(events).pluck().all(id);
}

describe('a person beside a running daemon', () => {
  it('has an order sent again, which the daemon sees and does at once', async () => {
    const on = await testProcesses({}, { ORDER_SYNC_SCHEDULE_CRON: '0 0 1 1 *' });
    const id = 'fault-error-not-taken-0';
    const daemon = await on.start(['run']);
    on.insert(1, 'fault-error-not-taken');
    await said(daemon, 'the outcome of a create is unknown');
    const sentAgain = creates(on, 1);
    const retry = await on.start(['orders', 'retry', id, '--i-know-it-may-duplicate', ...REASON]);
    expect([await retry.exit, retry.output()]).toEqual([{ code: 0, signal: null }, `${id}: unknown → pending\n`]);
    await sentAgain;
    await said(daemon, 'pre-order created');
    daemon.process.kill('SIGTERM');
    expect(await daemon.exit).toEqual({ code: 0, signal: null });
    expect(historyOf(on, id).slice(0, 6)).toEqual(['sending', 'unknown', 'held', 'pending', 'sending', 'accepted']);
    expect(on.sandbox.exchange.preOrdersOf(id)).toHaveLength(1);
  });

  it('cancels what is not sent yet: each order is either sent or cancelled, never both', async () => {
    const on = await testProcesses({}, { ORDER_SYNC_EXCHANGE_RATE_REQUESTS: '20' });
    on.insert(2_000);
    const begun = creates(on, 20);
    const daemon = await on.start(['run']);
    await begun;
    const cancel = await on.start(['orders', 'cancel', '--state', 'pending', '--yes', ...REASON]);
    const { code } = await cancel.exit;
    daemon.process.kill('SIGTERM');
    expect((await daemon.exit).code).toBe(0);
    // Some may have been sent between the list and the decision: they are passed over and named.
    const passedOver = cancel.output().match(/: not changed, it was pending when it was listed/g) ?? [];
    expect(code).toBe(passedOver.length === 0 ? 0 : 1);
    const rows = on.merchant.prepare('select external_order_id as id, state from merchant_orders').all() as {
      id: string;
      state: string;
    }[];
    const cancelled = rows.filter(({ state }) => state === 'cancelled');
    expect(cancelled.length).toBeGreaterThan(0);
    for (const { id, state } of rows) {
      expect([id, on.sandbox.exchange.preOrdersOf(id).length]).toEqual([id, state === 'cancelled' ? 0 : 1]);
    }
    expect(cancelled.map(({ id }) => historyOf(on, id))).toEqual(cancelled.map(() => ['cancelled']));
  });
});
