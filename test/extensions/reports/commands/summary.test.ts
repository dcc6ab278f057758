import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { runProgram } from '../../../support/cli-function.ts';
import { commandFolder } from '../../../support/folders.ts';
import { runCommand } from '../../../support/cli-process.ts';

const EXACT = '12345678901234567.123456789012345678';

const at = commandFolder();

// Times are UTC wherever the machine stands.
const environment = { ORDER_SYNC_DATABASE_URL: 'sqlite:orders.db', TZ: 'Pacific/Auckland' };
const summary = (...args: string[]) => runProgram(['report', 'summary', ...args], { cwd: at.folder, environment });
const summaryProcess = (...args: string[]) =>
  runCommand(['report', 'summary', ...args], { cwd: at.folder, environment });

function insert(...rows: [asset: string, from: string, createdAt: string][]): void {
  const merchant = new Database(at.path);
  const statement = merchant.prepare(
    `insert into merchant_orders (external_order_id, asset, from_currency, to_currency, created_at) values (?, ?, ?, 'EUR', ?)`,
  );
  rows.forEach(([asset, from, createdAt], index) => statement.run(`o${index}`, asset, from, createdAt));
  merchant.close();
}

describe('report summary', () => {
  it('has every digit of a sum in each form, and nothing else on stdout', async () => {
    insert([EXACT, '=BTC', '2026-01-01T00:00:00.000Z'], ['0.000000000000000001', '=BTC', '2026-01-01T00:00:00.000Z']);
    const sum = '12345678901234567.123456789012345679';
    const [table, csv, json] = await Promise.all([summaryProcess(), summary('--format', 'csv'), summary('--json')]);
    expect([table.code, table.stderr, csv.code, csv.stderr, json.code, json.stderr]).toEqual([0, '', 0, '', 0, '']);
    expect(table.stdout).toMatch(new RegExp(`\n=BTC/EUR +pending +INPUT +2 +${RegExp.escape(sum)} *\n`));
    expect(table.stdout).toMatch(/^Period +all orders\nAs of +\d{4}-/);
    expect(table.stdout).not.toContain('\u001b');
    expect(csv.stdout).toBe(
      `pair,state,status,outcome,position,orders,asset,succeeded,failed,open,outcome_unknown,unreadable\n'=BTC/EUR,pending,,,INPUT,2,${sum},0,0,0,0,0\n`,
    );
    expect(JSON.parse(json.stdout)).toEqual([
      {
        pair: '=BTC/EUR',
        state: 'pending',
        status: null,
        outcome: null,
        position: 'INPUT',
        orders: 2,
        asset: sum,
        succeeded: '0',
        failed: '0',
        open: '0',
        outcome_unknown: '0',
        unreadable: 0,
      },
    ]);
  });

  it('takes orders inserted at or after --from and before --to, in UTC', async () => {
    insert(
      ['1', 'BTC', '2025-12-31T23:59:59.999Z'],
      ['2', 'BTC', '2026-01-01T00:00:00.000Z'],
      ['4', 'BTC', '2026-01-31T11:59:59.999Z'],
      ['8', 'BTC', '2026-01-31T12:00:00.000Z'],
    );
    const asset = async (...args: string[]) =>
      (JSON.parse((await summary('--json', ...args)).stdout) as { asset: string }[])[0]?.asset;
    const sums = await Promise.all([
      asset('--from', '2026-01-01'),
      asset('--from', '2026-01-01T00:00:00.000Z', '--to', '2026-01-31T12:00:00'),
      asset('--from', '2026-02-01'),
    ]);
    expect(sums).toEqual(['14', '6', undefined]);
  });

  it('is a header if there are no orders, and ends with 1 and the reason unless that may be', async () => {
    const header = 'pair,state,status,outcome,position,orders,asset,succeeded,failed,open,outcome_unknown,unreadable\n';
    const [empty, allowed] = [await summary('--format', 'csv'), await summary('--format', 'csv', '--allow-empty')];
    expect([empty.code, empty.stdout]).toEqual([1, header]);
    expect(empty.stderr).toMatch(/^order-sync: no order is in the period[^\n]*--allow-empty[^\n]*\n$/);
    expect(allowed).toEqual({ code: 0, stdout: header, stderr: '' });
  });

  it('writes to a file that it makes for its owner alone, also in place of one that others could read', async () => {
    insert(['1', 'BTC', '2026-01-01T00:00:00.000Z']);
    writeFileSync(join(at.folder, 'old.csv'), 'old '.repeat(1_000));
    chmodSync(join(at.folder, 'old.csv'), 0o640);
    const [made, replaced] = await Promise.all([
      summaryProcess('--format', 'csv', '--out', 'new.csv'),
      summary('--format', 'csv', '--out', 'old.csv'),
    ]);
    expect([made, replaced]).toEqual([
      {
        code: 0,
        signal: null,
        stdout: '',
        stderr: expect.stringMatching(/^wrote new\.csv: [\d,]+ bytes, 1 table row\n1 order\n$/),
      },
      { code: 0, stdout: '', stderr: expect.stringMatching(/^wrote old\.csv: [\d,]+ bytes, 1 table row\n1 order\n$/) },
    ]);
    const text =
      'pair,state,status,outcome,position,orders,asset,succeeded,failed,open,outcome_unknown,unreadable\nBTC/EUR,pending,,,INPUT,1,1,0,0,0,0,0\n';
    expect(['new.csv', 'old.csv'].map((name) => readFileSync(join(at.folder, name), 'utf8'))).toEqual([text, text]);
    expect(['new.csv', 'old.csv'].map((name) => statSync(join(at.folder, name)).mode & 0o777)).toEqual([0o600, 0o600]);
  });

  it.each(['missing/summary.csv', '/dev/full'])('ends with 74 when the file cannot be written: %j', async (out) => {
    const { code, stdout, stderr } = await summary('--format', 'csv', '--out', out);
    expect([code, stdout]).toEqual([74, '']);
    expect(stderr).toMatch(/^order-sync: (there is no folder missing|no space left on device)[^\n]*; check [^\n]+\n$/);
  });
});
