import { describe, expect, it } from 'vitest';
import { testProcesses, type Daemon, type ProgramProcesses } from '../support/program-processes.ts';

const DAY_MS = 24 * 60 * 60_000;
const OVERDUE = 'new findings of orders that wait for too long';
const COMPARED = 'stored records were compared, and there are new findings';

/** Resolves when the daemon has said this so often. */
async function said(daemon: Daemon, text: string, times: number): Promise<void> {
  const { stdout } = daemon.process;
  const count = () => daemon.output().split(text).length - 1;
  while (count() < times) await new Promise((resolve) => stdout?.once('data', resolve));
}

/** An order that was accepted three days ago and is looked up in an hour. */
function accept({ merchant }: ProgramProcesses, id: string): void {
  const at = (ms: number) => new Date(Date.now() + ms).toISOString();
  merchant
    .prepare(
      `insert into merchant_orders (external_order_id, asset, from_currency, to_currency) values (?, '1.5', 'BTC', 'EUR')`,
    )
    .run(id);
  const change = merchant.prepare(
    'update merchant_orders set revision = revision + 1, state = ?, attempts = 1, sent_at = ?, last_lookup_at = ?, next_action_at = ?',
  );
  change.run('sending', at(-3 * DAY_MS), at(0), at(DAY_MS / 24));
  change.run('accepted', at(-3 * DAY_MS), at(0), at(DAY_MS / 24));
}

const findings = ({ merchant }: ProgramProcesses) =>
  merchant.prepare(`select class from findings where status = 'open'`).pluck().all();

describe('the daemon', () => {
  it('sweeps when it starts, and by reconcile.cron', async () => {
    const on = await testProcesses({}, { ORDER_SYNC_RECONCILE_CRON: '* * * * * *' });
    accept(on, 'before');
    const daemon = await on.start(['run']);
    await said(daemon, OVERDUE, 1);
    expect(findings(on)).toEqual(['ORDER_MISSING']);
    on.merchant.exec(`update findings set status = 'resolved'`);
    await said(daemon, OVERDUE, 2);
    expect(findings(on)).toEqual(['ORDER_MISSING']);
  });

  it('compares records that an older version stored also if nothing is swept', async () => {
    const on = await testProcesses({}, { ORDER_SYNC_RECONCILE_CRON: '' });
    accept(on, 'before');
    const body = `{"externalOrderId":"before","order":{"id":"o1","status":"REQUEST","exchangeOperation":
      {"currencyPair":{"fromCurrency":"BTC","toCurrency":"EUR"},"inputAsset":1.6}}}`;
    on.merchant
      .prepare(`insert into order_records (account, external_order_id, body, received_at) values ('default', ?, ?, ?)`)
      .run('before', body, new Date().toISOString());
    const daemon = await on.start(['run']);
    await said(daemon, COMPARED, 1);
    daemon.process.kill('SIGTERM');
    expect(await daemon.exit).toEqual({ code: 0, signal: null });
    expect(findings(on)).toContain('AMOUNT_MISMATCH');
  });
});
