import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it, vi } from 'vitest';
import { runProgram } from '../../support/cli-function.ts';
import { temporaryFolder } from '../../support/folders.ts';
import { openMerchant } from '../../support/merchant-postgres.ts';
import type { Merchant } from '../../support/merchant.ts';
import { MONTH, MONTH_AS_OF, fillMonth, monthDatabase } from '../../support/month.ts';
import { newPostgresDatabase } from '../../support/postgres.ts';
import { unguarded } from '../../support/unguarded.ts';

const PERIOD = ['--from', MONTH.from, '--to', MONTH.to];
const AS_OF = ['--as-of', MONTH_AS_OF];
const FORMATS = ['table', 'csv', 'json', 'xlsx', 'html'];
const ODD_ID = '=HYPERLINK("http://example.test";"order")';

/** Every report in every form, and what else tells of many orders at once. */
const COMMANDS = [
  ...FORMATS.flatMap((format) => [
    ['report', 'summary', ...PERIOD, '--format', format],
    ['report', 'summary', ...PERIOD, '--by', 'completion', '--format', format],
    ['report', 'reconciliation', ...PERIOD, ...AS_OF, '--format', format],
    ['report', 'reconciliation', ...PERIOD, ...AS_OF, '--by', 'completion', '--format', format],
    ['report', 'reconciliation', ...AS_OF, '--account', 'all', '--format', format],
    ['report', 'ageing', ...AS_OF, '--format', format],
    ['report', 'changes', ...PERIOD, '--format', format],
  ]),
  ...['csv', 'ndjson', 'xlsx'].flatMap((format) => [
    ['orders', 'export', '--format', format],
    ['orders', 'export', ...PERIOD, '--by', 'completion', '--outcome', 'failed', '--format', format],
  ]),
];
const LISTS = [
  ['orders', 'list', '--limit', '2000', '--json'],
  ['orders', 'list', '--account', 'all', '--limit', '2000', '--json'],
  ['orders', 'list', '--state', 'final', '--json'],
  ['orders', 'list', '--order', 'shop-0001*', '--json'],
  ['orders', 'list', '--class', 'AMOUNT_MISMATCH', '--json'],
  ['findings', 'list', '--json'],
  ['orders', 'explain', ODD_ID],
  ['orders', 'show', ODD_ID, '--json'],
];

/** Orders that the month has not: whose ids a language would order otherwise, with nothing in them, and of another account. */
function addOdd(merchant: Merchant): void {
  unguarded(merchant, () => {
    const insert = merchant.prepare(
      `insert into merchant_orders (account, external_order_id, asset, from_currency, to_currency, created_at)
       values (?, ?, ?, ?, ?, ?)`,
    );
    const ids = ['B', 'a', 'Ä', 'z', '_', 'é', 'A', '-', '\u{1F600}', ''];
    for (const [index, id] of ids.entries()) {
      const currency = index % 3 === 0 ? null : id.slice(0, 3);
      insert.run('default', id, index % 4 === 0 ? null : `1e-${index}`, currency, 'EUR', MONTH.from);
      insert.run('other', id, '1', 'BTC', currency, MONTH.from);
    }
    merchant.exec(`update merchant_orders set next_action_at = created_at, revision = revision + 1`);
    merchant.exec(
      `update merchant_orders set updated_at = created_at, revision = revision + 1 where state = 'pending'`,
    );
  });
}

/** Later than the reports: the program's clock may be a millisecond off that of a database that another test used. */
const NOW = new Date(Date.parse(MONTH_AS_OF) + 60_000);

/** The text that was written to a file, or to the files of a folder. */
function bytesOf(path: string): Buffer {
  if (!statSync(path).isDirectory()) return readFileSync(path);
  const names = readdirSync(path).toSorted();
  return Buffer.concat(names.flatMap((name) => [Buffer.from(name), readFileSync(join(path, name))]));
}

it('every report, export and list of the same orders is the same, byte for byte, on both dialects', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'orders.db');
  await monthDatabase(path);
  const sqlite = new Database(path);
  addOdd(sqlite);
  const { eventId } = sqlite.prepare('select max(id) as eventId from events').get() as { eventId: number };
  writeFileSync(`${path}.mark`, JSON.stringify({ generation: 0, eventId, at: MONTH_AS_OF }));
  sqlite.close();
  const database = await newPostgresDatabase();
  const merchant = openMerchant(database);
  fillMonth(merchant);
  addOdd(merchant);
  // With statistics the server reads the tables in another order than SQLite, as it does once autovacuum has run.
  merchant.exec('analyze');
  // The program follows the clock of the database.
  merchant.exec(`create schema at_month; alter database ${new URL(database.url).pathname.slice(1)} set search_path = at_month, pg_catalog, public;
    create function at_month.clock_timestamp() returns timestamptz language sql as $$ select '${NOW.toISOString()}'::timestamptz $$`);
  merchant.close();
  vi.useFakeTimers({ toFake: ['Date', 'hrtime', 'performance'], now: NOW });
  const said = async (url: string, args: readonly string[]) => {
    const environment = { ORDER_SYNC_DATABASE_URL: url };
    const { code, stdout, stderr } = await runProgram(args, { cwd: folder, environment });
    return { code, stdout, stderr };
  };
  try {
    for (const [index, args] of [...COMMANDS, ...LISTS].entries()) {
      const isReport = index < COMMANDS.length;
      const [one, other] = [join(folder, `${index}-sqlite`), join(folder, `${index}-postgres`)];
      // A report of several tables is a folder of CSV.
      if (args[0] === 'report' && args.at(-1) === 'csv') for (const made of [one, other]) mkdirSync(made);
      const out = (file: string) => (isReport ? [...args, '--out', file] : args);
      const first = await said(`sqlite:${path}`, out(one));
      const second = await said(database.url, out(other));
      expect(first.code, `${args.join(' ')}: ${first.stderr}`).toBeLessThanOrEqual(1);
      expect({ args, ...second, stderr: '' }).toEqual({ args, ...first, stderr: '' });
      if (!isReport) continue;
      const isSame = bytesOf(one).equals(bytesOf(other));
      expect({ args, isSame }).toEqual({ args, isSame: true });
    }
  } finally {
    vi.useRealTimers();
  }
});
