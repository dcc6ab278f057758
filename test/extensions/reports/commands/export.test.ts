import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import readExcel from 'read-excel-file/node';
import { describe, expect, it } from 'vitest';
import { PRE_ORDER_PATHS, RECORD_PATHS } from '../../../../src/orders/rules/record.ts';
import type { WrapStatement } from '../../../../src/store/sqlite/connection.ts';
import { openStore } from '../../../../src/store/sqlite/store.ts';
import { systemClock } from '../../../../src/base/clock.ts';
import { exportedOrders } from '../../../../src/extensions/reports/tables/exported-orders.ts';
import { runProgram } from '../../../support/cli-function.ts';
import { ORDER_COLUMNS } from '../../../../src/store/orders/order-columns.ts';
import { commandFolder, newDatabase } from '../../../support/folders.ts';
import { record } from '../../../support/scripted-exchange.ts';
import { acceptedOrders } from '../../../support/test-program.ts';
import { unguarded } from '../../../support/unguarded.ts';

const at = commandFolder();
const exported = (...args: string[]) => runProgram(['orders', 'export', ...args], at.options);

interface Given {
  readonly id: string;
  readonly createdAt?: string;
  readonly completedAt?: string | null;
  readonly state?: string;
  readonly outcome?: string | null;
  readonly from?: string;
  readonly token?: string | null;
  readonly preOrder?: string;
  readonly record?: string;
}

function given(...orders: readonly Given[]): void {
  const merchant = new Database(at.path);
  unguarded(merchant, () => {
    for (const { id, createdAt = '2026-01-05T10:00:00.000Z', from = 'BTC', ...order } of orders) {
      merchant
        .prepare(
          `insert into merchant_orders (external_order_id, asset, from_currency, to_currency, payment_token)
           values (?, '1.50', ?, 'EUR', ?)`,
        )
        .run(id, from, order.token ?? null);
      merchant
        .prepare(
          `update merchant_orders set revision = 1, created_at = ?, state = ?, outcome = ? where external_order_id = ?`,
        )
        .run(createdAt, order.state ?? 'final', order.outcome ?? null, id);
      if (order.preOrder !== undefined) insertBody(merchant, 'pre_orders', id, order.preOrder);
      insertBody(merchant, 'order_records', id, order.record ?? '{}');
      merchant
        .prepare('update order_records set completed_at = ? where external_order_id = ?')
        .run(order.completedAt ?? null, id);
    }
  });
  merchant.close();
}

function insertBody(merchant: Database.Database, table: string, id: string, body: string): void {
  merchant
    .prepare(`insert into ${table} (account, external_order_id, body, received_at) values ('default', ?, ?, '2026')`)
    .run(id, body);
}

const csvOf = (text: string) => parse(text, { columns: true }) as Record<string, string>[];
const jsonLines = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const idsOf = async (...args: string[]) =>
  csvOf((await exported(...args)).stdout).map((row) => row['external_order_id']);

const RECORD = `{"externalOrderId":"a","merchant":{"id":"m-1"},"percent":1.10,"new":{"secretKey":"HIDE-4","seen":[1.50]},
  "order":{"id":"o-1","number":17,"status":"DONE","exchangeOperation":{"inputAsset":1.50,"outputAsset":
  12345678901234567.123456789012345678,"ratio":30000},"cryptoTransaction":{"status":"SENT","fee":1e-8},
  "fiatTransaction":{"internalToken":"HIDE-1","link":"https://pay.example/HIDE-2","paymentToken":"HIDE-3"}}}`;
const PRE_ORDER = `{"id":"pre-1","asset":1.50,"currencyPair":{"fromCurrency":"BTC"},"paymentToken":"HIDE-5"}`;

describe('orders export', () => {
  it('has the columns of the row by name, then each documented field by its path, and the others as JSON', async () => {
    given({ id: 'a', record: RECORD, preOrder: PRE_ORDER });
    const { code, stdout, stderr } = await exported();
    expect([code, stderr]).toEqual([0, '']);
    const [row = {}] = csvOf(stdout);
    const merchant = new Database(at.path, { readonly: true });
    const columns = (merchant.pragma('table_info(merchant_orders)') as { name: string }[]).map(({ name }) => name);
    merchant.close();
    const names = Object.keys(row);
    expect(names.filter((name) => !name.includes('.')).toSorted()).toEqual(columns.toSorted());
    expect(names.filter((name) => name.includes('.'))).toEqual([
      ...[...PRE_ORDER_PATHS, 'other'].map((path) => `pre_order.${path}`),
      ...[...RECORD_PATHS, 'other'].map((path) => `record.${path}`),
    ]);
    expect(row).toMatchObject({
      asset: '1.50',
      'pre_order.asset': '1.50',
      'pre_order.currencyPair.fromCurrency': 'BTC',
      'pre_order.currencyPair.toCurrency': '',
      'record.percent': '1.10',
      'record.order.cryptoTransaction.status': 'SENT',
      'record.order.cryptoTransaction.fee': '1e-8',
      'record.order.exchangeOperation.outputAsset': '12345678901234567.123456789012345678',
      'record.other': '{"new.secretKey":"<hidden>","new.seen":[1.50]}',
    });
  });

  it('shows tokens and payment links only with --reveal', async () => {
    given({ id: 'a', token: 'HIDE-6', record: RECORD, preOrder: PRE_ORDER }, { id: 'b', record: 'HIDE-7 is no JSON' });
    for (const format of ['csv', 'ndjson']) {
      expect((await exported('--format', format)).stdout).not.toContain('HIDE');
      const shown = (await exported('--format', format, '--reveal')).stdout.match(/HIDE-\d/g) ?? [];
      expect(new Set(shown)).toEqual(new Set([1, 2, 3, 4, 5, 6].map((number) => `HIDE-${number}`)));
    }
  });

  it('writes NDJSON with digits as text, one order a line', async () => {
    given({ id: 'a', record: RECORD }, { id: 'b' });
    const [first, second] = jsonLines((await exported('--format', 'ndjson')).stdout);
    expect(first).toMatchObject({ external_order_id: 'a', attempts: 0, 'record.order.number': '17' });
    expect(second).toMatchObject({ external_order_id: 'b', 'record.order.number': null, 'record.other': null });
  });

  it('runs no text as a formula in CSV', async () => {
    given({ id: '=1+1', from: '@x', record: '{"percent":-1e-7,"order":{"resultMessage":"+cmd"}}' });
    const [row] = csvOf((await exported()).stdout);
    expect(row).toMatchObject({
      external_order_id: "'=1+1",
      from_currency: "'@x",
      'record.percent': '-1e-7',
      'record.order.resultMessage': "'+cmd",
    });
  });

  it('writes NDJSON with --reveal that an import takes exactly, and nothing else that an import takes wrongly', async () => {
    given({ id: '-Zk3x', token: '=tok' }, { id: "'=7", token: "'@t" }, { id: '@a;+b' }, { id: 'plain', token: 'tok' });
    const select = `select ${ORDER_COLUMNS.join(', ')} from merchant_orders order by external_order_id`;
    const merchant = new Database(at.path, { readonly: true });
    const there = merchant.prepare(select).all();
    merchant.close();
    const path = join(at.folder, 'other.db');
    const other = { ...at.options, environment: { ORDER_SYNC_DATABASE_URL: `sqlite:${path}` } };
    await newDatabase(path);
    const kept = (row: Record<string, unknown>) => ORDER_COLUMNS.map((column) => [column, row[column]] as const);
    const imported = async (format: 'csv' | 'ndjson', ...args: string[]) => {
      const { stdout } = await exported('--format', format, ...args);
      const rows = format === 'csv' ? csvOf(stdout) : jsonLines(stdout);
      const file = join(at.folder, `kept.${format}`);
      const text = rows.map((row) => `${JSON.stringify(Object.fromEntries(kept(row)))}\n`).join('');
      const cells = rows.map((row) => kept(row).map(([, value]) => value));
      writeFileSync(file, format === 'csv' ? stringify([ORDER_COLUMNS, ...cells]) : text);
      return (await runProgram(['orders', 'import', file], other)).code;
    };
    expect(await imported('csv', '--reveal')).toBe(65);
    expect(await imported('ndjson')).toBe(65);
    expect(await imported('ndjson', '--reveal')).toBe(0);
    const copy = new Database(path, { readonly: true });
    expect(copy.prepare(select).all()).toEqual(there);
    copy.close();
  });

  it('writes XLSX with numbers if all digits stay, and text if they would not', async () => {
    given({ id: 'a', record: RECORD }, { id: 'b', record: '{"percent":1.1}' });
    const out = join(at.folder, 'orders.xlsx');
    expect(await exported('--out', out)).toMatchObject({ code: 0, stdout: '' });
    expect(statSync(out).mode & 0o777).toBe(0o600);
    const sheets = await readExcel(readFileSync(out));
    const rows = sheets.at(-1)?.data ?? [];
    const cells = Object.fromEntries((rows[0] ?? []).map((name, index) => [String(name), rows[1]?.[index]]));
    expect(cells).toMatchObject({
      asset: 1.5,
      'record.order.number': 17,
      'record.percent': 1.1,
      'record.order.exchangeOperation.ratio': 30_000,
      'record.order.exchangeOperation.outputAsset': '12345678901234567.123456789012345678',
    });
  });

  it('takes a period of insertion or of completion, a pair, a state and an outcome', async () => {
    given(
      { id: 'a', createdAt: '2026-01-01T00:00:00.000Z', completedAt: '2026-02-02T00:00:00.000Z', outcome: 'succeeded' },
      { id: 'b', createdAt: '2026-01-02T00:00:00.000Z', completedAt: '2026-02-01T00:00:00.000Z', outcome: 'failed' },
      { id: 'c', createdAt: '2026-01-03T00:00:00.000Z', state: 'open' },
      { id: 'd', createdAt: '2026-01-04T00:00:00.000Z', from: 'ETH' },
    );
    expect(await idsOf('--from', '2026-01-02', '--to', '2026-01-04')).toEqual(['b', 'c']);
    expect(await idsOf('--by', 'completion')).toEqual(['b', 'a']);
    expect(await idsOf('--by', 'completion', '--from', '2026-02-02')).toEqual(['a']);
    expect(await idsOf('--by', 'completion', '--to', '2026-02-02')).toEqual(['b']);
    expect(await idsOf('--pair', 'ETH/EUR')).toEqual(['d']);
    expect(await idsOf('--state', 'open')).toEqual(['c']);
    expect(await idsOf('--outcome', 'succeeded')).toEqual(['a']);
    expect(await idsOf('--outcome', 'failed')).toEqual(['b']);
    expect(await idsOf('--outcome', 'open')).toEqual(['c']);
    expect(await idsOf('--outcome', 'outcome_unknown')).toEqual(['d']);
    expect((await exported('--pair', 'BTC')).code).toBe(64);
  });

  it.each(['insertion', 'completion'] as const)('meets each order once over many pages by %s', async (by) => {
    const time = '2026-02-01T00:00:00.000Z';
    given(
      ...Array.from({ length: 450 }, (_, index) => ({ id: `o${String(index).padStart(3, '0')}`, completedAt: time })),
    );
    const ids = await idsOf('--by', by);
    expect(ids).toHaveLength(450);
    expect(new Set(ids).size).toBe(450);
  });

  it.each([
    ['insertion', 'merchant_orders_by_age'],
    ['completion', 'order_records_completed'],
  ] as const)('reads pages by %s from the index of that time, and sorts nothing', async (by, index) => {
    given(...Array.from({ length: 201 }, (_, place) => ({ id: `o${place}`, completedAt: '2026-02-01T00:00:00.000Z' })));
    const seen: string[] = [];
    const wrap: WrapStatement = (text, one) => {
      seen.push(text);
      return one;
    };
    const store = await openStore(at.path, systemClock(), { expect: 'current', wrap });
    void (await Array.fromAsync(exportedOrders(store.db, { account: 'default', by, from: '2026', to: '2027' })));
    await store.close();
    const merchant = new Database(at.path, { readonly: true });
    const plans = [...new Set(seen.filter((one) => one.includes('pre_order_body')))].map((text) => {
      const values = Array.from(text.matchAll(/\?/g), () => null);
      return (merchant.prepare(`explain query plan ${text}`).all(...values) as { detail: string }[]).map(
        ({ detail }) => detail,
      );
    });
    merchant.close();
    const searches = plans.map(([first = '']) => first.replace(/.*USING INDEX /, ''));
    const time = by === 'insertion' ? 'created_at' : 'completed_at';
    expect(searches).toEqual([
      expect.stringContaining(`${index} (account=? AND ${time}>?`),
      // The rest of one time, then what is later.
      expect.stringContaining(`${index} (account=? AND ${time}=? AND external_order_id>?)`),
      expect.stringContaining(`${index} (account=? AND ${time}>?`),
    ]);
    expect(plans.flat().filter((step) => /SCAN|TEMP B-TREE/.test(step))).toEqual([]);
  });

  it('knows when an order was completed from its record, in any spelling of the time', async () => {
    const { program, answers, lookUp } = await acceptedOrders(['a', 'b']);
    const dates = { serverDate: '2026-01-05T12:00:00Z' };
    answers.set('a', record('a', { completionDate: '2026-01-05T12:30:00+01:00', ...dates }));
    answers.set('b', record('b', { completionDate: 'soon', ...dates }));
    await lookUp(60_000);
    const completed = program.merchant.prepare('select completed_at from order_records order by external_order_id');
    expect(completed.pluck().all()).toEqual(['2026-01-05T11:30:00.000Z', null]);
  });
});
