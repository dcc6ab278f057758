import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import readExcelFile from 'read-excel-file/node';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { Column } from '../../../../src/extensions/documents/document.ts';
import { MONEY_COLUMNS, MONEY_DAY_COLUMNS } from '../../../../src/extensions/reports/reconciliation/money.ts';
import { DAY_COLUMNS, PAIR_COLUMNS } from '../../../../src/extensions/reports/reconciliation/totals.ts';
import { runProgram } from '../../../support/cli-function.ts';
import { programProcesses, type ProgramProcesses } from '../../../support/program-processes.ts';
import { AS_OF, filledDatabase, type ReconciledOrder } from '../../../support/filled-database.ts';
import { temporaryFolder } from '../../../support/folders.ts';

const HOUR_MS = 60 * 60_000;
const MISMATCH: readonly ReconciledOrder[] = [
  { id: 'a' },
  { id: '=1+1', asset: '2', record: { input: '2.000000000000000001' } },
];

let folder = '';
beforeEach(() => void (folder = temporaryFolder()));
afterEach(() => {
  vi.useRealTimers();
});

const database = (orders: readonly ReconciledOrder[]) => filledDatabase(join(folder, 'orders.db'), orders);

async function report(orders: readonly ReconciledOrder[], ...args: string[]) {
  await database(orders);
  return await run(...args);
}

const environment = { ORDER_SYNC_DATABASE_URL: 'sqlite:orders.db', TZ: 'Pacific/Auckland' };
const run = (...args: string[]) => runProgram(['report', 'reconciliation', ...args], { cwd: folder, environment });

/** Decimals are text, counts are numbers; nothing else is there. */
const decimal = z.string().regex(/^-?\d+(\.\d+)?$/);
const count = z.int().nonnegative();
const text = z.string();
function rowSchema(columns: readonly Column[]) {
  const texts = { text, time: text, severity: text, state: text, outcome: text };
  const kinds = { ...texts, day: text, decimal, digits: decimal, count, percent: z.number() };
  const nullable = ['outcome', 'position'];
  const shapes = columns.map(({ key, kind }) => [key, nullable.includes(key) ? kinds[kind].nullable() : kinds[kind]]);
  return z.strictObject(Object.fromEntries(shapes) as Record<string, z.ZodType>);
}
const documentSchema = z.strictObject({
  schema: z.literal('order-sync.reconciliation/1'),
  title: text,
  facts: z.strictObject({
    verdict: z.enum(['clean', 'not clean']),
    because: text.nullable(),
    rule: text,
    account: z.literal('default'),
    as_of: z.iso.datetime(),
    by: z.enum(['insertion', 'completion']),
    period: z.literal('all orders').nullable(),
    from: z.iso.datetime().nullable(),
    to: z.iso.datetime().nullable(),
    orders: count,
    checked: count,
    unchecked: count,
    disputed: count,
    succeeded: count,
    failed: count,
    open: count,
    outcome_unknown: count,
    nothing_to_compare: count,
    given_up: count,
    sent_again: count,
    errors: count,
    warnings: count,
    infos: count,
    acknowledged: count,
    orders_in_doubt: count,
    in_doubt: text.nullable(),
    unknown_age: count,
    other_accounts: count,
    ignored: text.nullable(),
    oldest_lookup: z.iso.datetime().nullable(),
    oldest_lookup_final: z.iso.datetime().nullable(),
    fresh_for_seconds: count,
    tolerance: decimal,
  }),
  sections: z.strictObject({
    pairs: z.array(rowSchema(PAIR_COLUMNS)),
    days: z.array(rowSchema(DAY_COLUMNS)),
    money: z.array(rowSchema(MONEY_COLUMNS)),
    money_days: z.array(rowSchema(MONEY_DAY_COLUMNS)),
    unchecked: z.array(z.strictObject({ reason: text, orders: count })),
    disputed_orders: z.array(z.strictObject({ external_order_id: text })),
    unchecked_orders: z.array(
      z.strictObject({
        external_order_id: text,
        reason: text,
        pair: text,
        state: text,
        age: text.nullable(),
        since: text,
        last_lookup: z.iso.datetime().nullable(),
      }),
    ),
    classes: z.array(
      z.strictObject({ day: text, pair: text, class: text, severity: text, open: count, acknowledged: count }),
    ),
    findings: z.array(
      z.strictObject({
        id: count.nullable(),
        severity: z.enum(['error', 'warning', 'info']),
        class: text,
        status: z.enum(['open', 'acknowledged']),
        external_order_id: text,
        day: text,
        pair: text,
        expected: text.nullable(),
        actual: text.nullable(),
        currency: text.nullable(),
        since: z.iso.datetime().nullable(),
        reason: text.nullable(),
      }),
    ),
  }),
});

describe('report reconciliation', () => {
  it('ends with 0 if both sides agree', async () => {
    await database([{ id: 'a' }, { id: 'b' }]);
    const { code, stdout, stderr } = await run('--as-of', AS_OF);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Both sides agree$/m);
  });

  it('ends with 1 if they do not, and names the order, both amounts and the difference', async () => {
    await database(MISMATCH);
    const { code, stdout, stderr } = await run('--as-of', AS_OF);
    expect([code, stderr]).toEqual([1, '']);
    expect(stdout).toMatch(/^- 1 open error: /m);
    expect(stdout).toMatch(/ AMOUNT_MISMATCH +open +=1\+1 +\S+ +BTC\/EUR +2 +2\.000000000000000001 +BTC *$/m);
    expect(stdout).toMatch(
      /^BTC\/EUR +outcome_unknown +INPUT +2 +2 .* 3\.5 +3\.500000000000000001 +0\.000000000000000001 /m,
    );
  });

  it('has JSON of the shape that its schema names', async () => {
    const { stdout } = await report(
      [...MISMATCH, { id: 'c', state: 'open', lastLookupAt: null }],
      '--json',
      '--as-of',
      AS_OF,
      '--from',
      '2026-01-01',
    );
    const read = documentSchema.parse(JSON.parse(stdout));
    expect(read.facts).toMatchObject({ orders: 3, checked: 2, unchecked: 1, as_of: AS_OF });
    expect(read.sections.findings.map((row) => row.class)).toEqual(['AMOUNT_MISMATCH', 'UNCHECKED']);
    expect(stdout).toContain('"difference": "0.000000000000000001"');
  });

  it('writes XLSX and HTML, the same bytes each time', async () => {
    await report(MISMATCH, '--as-of', AS_OF, '--out', 'one.xlsx');
    await run('--as-of', AS_OF, '--out', 'one.html');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + HOUR_MS });
    await run('--as-of', AS_OF, '--out', 'two.xlsx');
    await run('--as-of', AS_OF, '--format', 'html', '--out', 'two.page');
    const bytes = (name: string) => readFileSync(join(folder, name));
    expect(bytes('two.xlsx').equals(bytes('one.xlsx'))).toBe(true);
    expect(bytes('two.page').equals(bytes('one.html'))).toBe(true);
    const sheets = await readExcelFile(bytes('one.xlsx'));
    const [header = [], row = []] = sheets.find(({ sheet }) => sheet === 'Orders by pair and outcome')?.data ?? [];
    const cells = Object.fromEntries(header.map((label, index) => [String(label), row[index]]));
    expect(cells).toMatchObject({
      Pair: 'BTC/EUR',
      Orders: 2,
      Ours: 3.5,
      'Theirs (long numbers as text)': '3.500000000000000001',
    });
    expect(bytes('one.html').toString()).toContain('<details class="error"');
  });

  it.each([
    [['--as-of', '2126-01-01'], /--as-of/],
    [['--as-of', AS_OF, '--online'], /leave --as-of out/],
    [['--from', '2026-01-02', '--to', '2026-01-01'], /--from must be before --to/],
    [['--format', 'pdf'], /Allowed choices/],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await report([], ...args);
    expect(code).toBe(64);
    expect(stderr).toMatch(message);
  });
});

describe('report reconciliation --against', () => {
  const ledger = (...lines: string[]) => writeFileSync(join(folder, 'ledger.csv'), `${lines.join('\n')}\n`);
  const against = (...args: string[]) => report(ORDERS, '--as-of', AS_OF, '--against', 'ledger.csv', ...args);
  const ORDERS: readonly ReconciledOrder[] = [
    { id: 'a', asset: '0.10' },
    { id: 'b' },
    { id: 'c', asset: '12345678901234567.123456789012345678' },
    { id: 'd', state: 'rejected', record: null },
    { id: 'e', state: 'abandoned', record: null, changedAt: '2026-01-05T11:00:00.000Z' },
  ];

  it('ends with 0 if the ledger has each order once with its amount, in any spelling and any order', async () => {
    ledger('Amount,Order no.', '12345678901234567.123456789012345678,c', '0.1,a', '1.500,b');
    const { code, stdout } = await against('--against-id', 'Order no.', '--against-amount', 'Amount', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      facts: { verdict: 'clean', ledger: 'ledger.csv', ledger_lines: 3, ledger_differences: 0 },
      sections: { ledger: [] },
    });
  });

  it('names each difference with both sides and the line, and ends with 1', async () => {
    ledger(
      'external_order_id,asset,currency',
      'a,0.1,EUR',
      'b,1.5000000000000000001,BTC',
      'd,1.5,BTC',
      'e,1.5,BTC',
      'b,1.5,BTC',
      '=z,1,BTC',
      'c,"1,5",BTC',
    );
    const { code, stdout } = await against('--against-currency', 'currency', '--json');
    expect(code).toBe(1);
    const { facts, sections } = JSON.parse(stdout) as {
      facts: Record<string, unknown>;
      sections: {
        ledger: { problem: string; external_order_id: string; line: number; ours: string; ledger: string }[];
      };
    };
    expect(facts).toMatchObject({ verdict: 'not clean', because: 'differences from the ledger: 7', ledger_lines: 7 });
    expect(sections.ledger.map((row) => [row.external_order_id, row.line, row.problem, row.ours, row.ledger])).toEqual([
      ['b', 3, 'the amount differs', '1.50 BTC', '1.5000000000000000001 BTC'],
      ['c', 8, 'an amount cannot be read', '12345678901234567.123456789012345678 BTC', '1,5 BTC'],
      ['a', 2, 'the currency differs', '0.10 BTC', '0.1 EUR'],
      ['b', 6, 'more than once in the ledger', '1.50 BTC', '1.5 BTC'],
      ['e', 5, 'in the ledger, but abandoned or disputed; the exchange may have the order', '1.50 BTC', '1.5 BTC'],
      ['d', 4, 'in the ledger, but never at the exchange', '1.50 BTC', '1.5 BTC'],
      ['=z', 7, 'not among our orders of the period', null, '1 BTC'],
    ]);
  });

  it('compares no currency of an order of the position OUTPUT if nothing says which amount that is', async () => {
    ledger('external_order_id,asset,currency', 'a,45000,EUR', 'b,45000,EUR');
    const orders = ['a', 'b'].map((id) => ({
      id,
      asset: '45000',
      position: 'OUTPUT',
      state: 'accepted',
      record: null,
    }));
    const args = ['--as-of', AS_OF, '--against', 'ledger.csv', '--against-currency', 'currency', '--json'];
    const { facts } = JSON.parse((await report(orders, ...args)).stdout) as { facts: Record<string, unknown> };
    expect(facts).toMatchObject({ verdict: 'clean', ledger_lines: 2, ledger_differences: 0 });
  });

  it('finds orders of ours that the ledger does not have, and reads several files as one', async () => {
    ledger('external_order_id,asset', 'a,0.1');
    writeFileSync(join(folder, 'more.csv'), 'external_order_id,asset\r\nb,1.5\r\na,0.1\r\n');
    const { stdout } = await against('more.csv', '--format', 'csv', '--section', 'ledger');
    expect(parse(stdout, { columns: true })).toEqual([
      expect.objectContaining({
        problem: 'more than once in the ledger',
        external_order_id: 'a',
        file: 'more.csv',
      }),
      expect.objectContaining({ problem: 'missing in the ledger', external_order_id: 'c', ledger: '' }),
    ]);
  });

  it.each<[string, string[], RegExp]>([
    [
      'a column that is not there',
      ['id,asset', 'a,1'],
      /ledger\.csv:1: has no column "external_order_id"; it has "id", "asset"/,
    ],
    [
      'a line of another width',
      ['external_order_id,asset', 'a,1', 'b'],
      /ledger\.csv:3: has 1 fields, the header has 2/,
    ],
    ['an open quote', ['external_order_id,asset', '"a,1'], /ledger\.csv:2: a quote is opened and never closed/],
    ['a column twice', ['external_order_id,asset,asset', 'a,1,1'], /has the column "asset" twice/],
  ])('ends with 65 and names the line for %s', async (_name, lines, message) => {
    ledger(...lines);
    const { code, stdout, stderr } = await against();
    expect([code, stdout]).toEqual([65, '']);
    expect(stderr).toMatch(message);
  });

  it('refuses a folder in place of a ledger', async () => {
    mkdirSync(join(folder, 'ledger.csv'));
    const { code, stdout, stderr } = await against();
    expect([code, stdout]).toEqual([65, '']);
    expect(stderr).toMatch(/ledger\.csv is a folder/);
  });

  it('says that a ledger is not there', async () => {
    const { code, stderr } = await against();
    expect(code).toBe(74);
    expect(stderr).toMatch(/ENOENT/);
  });
});

describe('report reconciliation --online', () => {
  let on: ProgramProcesses;
  beforeEach(async () => {
    on = await programProcesses();
    on.insert(3);
    await runProgram(['sync'], { cwd: folder, environment: on.environment });
  });
  afterEach(() => on[Symbol.asyncDispose]());

  const online = async () => {
    const args = ['report', 'reconciliation', '--online', '--json'];
    const { code, stdout, stderr } = await runProgram(args, { cwd: folder, environment: on.environment });
    const { facts, sections } = JSON.parse(stdout) as {
      facts: Record<string, unknown>;
      sections: { findings: { class: string; external_order_id: string }[] };
    };
    const findings = sections.findings.filter((row) => row.class === 'PREORDER_MISSING');
    return { code, stderr, facts, missing: findings.map((row) => row.external_order_id) };
  };

  /** The report on three orders: as they are, when the id of one pre-order is unknown, and as they were. */
  async function loseOneAndFindItAgain() {
    const known = await online();
    const change = on.merchant.prepare(
      'update merchant_orders set revision = revision + 1, pre_order_id = ? where external_order_id = ?',
    );
    const { id } = on.merchant
      .prepare(`select pre_order_id as id from merchant_orders where external_order_id = 'o-1'`)
      .get() as { id: string };
    change.run('never-made', 'o-1');
    const lost = await online();
    change.run(id, 'o-1');
    return [known, lost, await online()];
  }
  const NOTICED = [
    { stderr: '', missing: [], facts: { pre_orders_asked: 3, pre_orders_missing: 0 } },
    {
      code: 1,
      missing: ['o-1'],
      facts: { pre_orders_asked: 3, pre_orders_missing: 1, pre_orders_unanswered: 0 },
    },
    { missing: [], facts: { pre_orders_missing: 0 } },
  ];

  it('asks for each pre-order by itself, notes the one that is gone, and that it is there again', async () => {
    expect(await loseOneAndFindItAgain()).toMatchObject(NOTICED);
  });

  it('takes the pre-order of another order for no answer', async () => {
    on.merchant.exec(`update merchant_orders set revision = revision + 1, pre_order_id =
      (select pre_order_id from merchant_orders where external_order_id = 'o-2') where external_order_id = 'o-1'`);
    expect(await online()).toMatchObject({ code: 1, missing: [], facts: { pre_orders_unanswered: 1 } });
  });

  it('asks through a daemon that runs', async () => {
    const daemon = await on.start(['run']);
    expect(await loseOneAndFindItAgain()).toMatchObject(NOTICED);
    daemon.process.kill('SIGTERM');
    expect(await daemon.exit).toEqual({ code: 0, signal: null });
  });

  it('is not clean when the exchange does not answer', async () => {
    await on.sandbox.close();
    expect(await online()).toMatchObject({
      code: 1,
      missing: [],
      facts: { verdict: 'not clean', pre_orders_asked: 3, pre_orders_unanswered: 3 },
    });
  });
});
