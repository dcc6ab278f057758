import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProgram } from '../../support/cli-function.ts';
import { monthDatabase } from '../../support/month.ts';

let folder = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'order-sync-'));
  await monthDatabase(join(folder, 'month.db'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (...args: string[]) =>
  runProgram(args, { environment: { ORDER_SYNC_DATABASE_URL: `sqlite:${join(folder, 'month.db')}` } });

/** The rows of a list of the month, and nothing on stderr. */
async function listed(...args: string[]): Promise<readonly Record<string, string>[]> {
  const { code, stdout, stderr } = await run(...args, '--json', '--limit', '2000');
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as Record<string, string>[];
}

describe('orders list of a month', () => {
  const ids = async (...args: string[]) =>
    (await listed('orders', 'list', ...args)).map((row) => row['external_order_id']);

  it('has the orders that need a person first, and then the newest', async () => {
    const all = await listed('orders', 'list');
    expect(all).toHaveLength(1_500);
    expect(all.slice(0, 4).map((row) => `${row['state']} ${row['external_order_id']}`)).toEqual([
      'held shop-001400',
      'disputed shop-001410',
      'unknown shop-001440',
      'unknown shop-001100',
    ]);
    const times = all.slice(4).map((row) => Date.parse(row['created_at'] ?? ''));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    const { stdout } = await run('orders', 'list', '--limit', '1', '--json');
    expect(JSON.parse(stdout)).toMatchObject([{ state: 'held' }]);
  });

  it('says of each final order whether it paid, failed, or is final with no known outcome', async () => {
    const outcomes = new Map((await listed('orders', 'list')).map((row) => [row['external_order_id'], row]));
    const { stdout } = await run('orders', 'list', '--limit', '2000');
    const seen = new Set<string>();
    for (const line of stdout.split('\n').slice(2, -1)) {
      const { state, outcome } = outcomes.get(line.split(' ')[0])!;
      const words = { succeeded: 'paid', failed: 'failed', null: 'is final, but it is not known whether it paid' }[
        String(outcome)
      ];
      expect([line, new RegExp(` final +${words} `).test(line)]).toEqual([line, state === 'final']);
      if (state === 'final') seen.add(String(outcome));
    }
    expect(seen).toEqual(new Set(['succeeded', 'failed', 'null']));
  });

  it('narrows down by order, pair, class, state and time, all together', async () => {
    expect(await ids('--order', 'shop-000097')).toEqual(['shop-000097']);
    expect(await ids('--order', 'shop-00009*')).toHaveLength(10);
    expect(await ids('--order', 'SHOP-000097')).toEqual([]);
    expect(await ids('--class', 'STUCK')).toEqual(['shop-001260', 'shop-001201']);
    expect(await ids('--class', 'STUCK', '--order', 'shop-00126*')).toEqual(['shop-001260']);
    expect(await ids('--class', 'STUCK', '--state', 'held')).toEqual([]);
    expect(await ids('--state', 'unknown', '--to', '2026-03-25')).toEqual(['shop-001100']);
    const pair = await listed('orders', 'list', '--pair', 'BTC/EUR', '--from', '2026-03-10', '--to', '2026-03-11');
    expect(pair.length).toBeGreaterThan(3);
    for (const row of pair) {
      expect(row).toMatchObject({ from_currency: 'BTC', to_currency: 'EUR' });
      expect(row['created_at']).toMatch(/^2026-03-10/);
    }
    const final = await listed('orders', 'list', '--state', 'final', '--pair', 'BTC/EUR');
    expect(final.length).toBeGreaterThan(pair.length);
    expect(new Set(final.map((row) => row['state']))).toEqual(new Set(['final']));
  });

  it('says in words that there is none, and [] with --json', async () => {
    expect(await run('orders', 'list', '--state', 'sending')).toEqual({
      code: 0,
      stdout: 'no order is sending\n',
      stderr: '',
    });
    expect(await run('orders', 'list', '--order', 'x')).toEqual({ code: 0, stdout: 'no such order\n', stderr: '' });
    expect(await ids('--state', 'sending')).toEqual([]);
  });
});

describe('findings list of a month', () => {
  const found = async (...args: string[]) =>
    (await listed('findings', 'list', ...args)).map((row) => `${row['severity']} ${row['external_order_id']}`);

  it('has the worst first, then the newest', async () => {
    const all = await listed('findings', 'list');
    expect(all.map(({ severity }) => severity)).toEqual(
      ['error', 'warning', 'info'].flatMap((severity) =>
        all.map((row) => row['severity']).filter((one) => one === severity),
      ),
    );
    expect(all).toHaveLength(13);
    const errors = (await listed('findings', 'list', '--severity', 'error')).map(({ id }) => Number(id));
    expect(errors).toEqual(errors.toSorted((a, b) => b - a));
    const { stdout } = await run('findings', 'list', '--limit', '2', '--json');
    expect(JSON.parse(stdout)).toEqual(all.slice(0, 2));
  });

  it('narrows down by order, pair, class, severity, state and time, all together', async () => {
    expect(await found('--order', 'shop-000097')).toEqual(['error shop-000097']);
    expect(await found('--order', 'shop-00033*')).toEqual(['error shop-000331', 'error shop-000330']);
    expect(await found('--order', 'shop-0003*', '--to', '2026-03-07T21:00')).toEqual(['error shop-000331']);
    expect(await found('--state', 'accepted')).toMatchObject([expect.stringMatching(/^warning =HYPERLINK/)]);
    expect(await found('--severity', 'warning', '--from', '2026-03-25', '--to', '2026-03-27')).toEqual([
      'warning shop-001201',
    ]);
    const [first] = await listed('orders', 'list', '--order', 'shop-000902');
    const pair = `${first?.['from_currency']}/${first?.['to_currency']}`;
    expect(await found('--pair', pair, '--class', 'AMOUNT_MISMATCH')).toContain('error shop-000902');
    expect(await found('--pair', 'XRP/EUR')).toEqual([]);
  });

  it('says in words that there is none', async () => {
    const none = await run('findings', 'list', '--status', 'acknowledged');
    expect(none).toEqual({ code: 0, stdout: 'no finding is acknowledged\n', stderr: '' });
    expect((await run('findings', 'list', '--pair', 'XRP/EUR')).stdout).toBe('no such finding\n');
  });
});
