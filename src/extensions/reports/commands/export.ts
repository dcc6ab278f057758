import { Option, type Command } from 'commander';
import { HIDDEN } from '../../../base/text.ts';
import { chooseFormat, isFolder, writeReport } from '../../commands/output.ts';
import { readPair, addByOption, addPeriodOptions, REVEAL } from '../../commands/options.ts';
import type { Column, Row, Section } from '../../documents/document.ts';
import { withoutTokens } from '../../documents/hidden-tokens.ts';
import { CommandError, EXIT } from '../../../cli/shared/exit.ts';
import { withAccounts } from '../../commands/store.ts';
import type { Cell } from '../../../cli/shared/terminal.ts';
import { readFields } from '../../../exchange/record-view.ts';
import { PRE_ORDER_NUMBERS, PRE_ORDER_PATHS, RECORD_NUMBERS, RECORD_PATHS } from '../../../orders/rules/record.ts';
import { ORDER_STATES } from '../../../orders/rules/states.ts';
import { ROW_COLUMNS } from '../../../store/orders/order-columns.ts';
import type { Database } from '../../../store/port.ts';
import { OUTCOMES } from '../reconciliation/rows.ts';
import { exportedOrders, type ExportedRow, type ExportFilter } from '../tables/exported-orders.ts';
import { reportedAccounts } from '../tables/report.ts';

/** The most orders of a workbook, because a workbook is made in memory and its rows are long. */
const MOST_IN_XLSX = 10_000;

const FORMATS = ['csv', 'ndjson', 'xlsx'] as const;

interface ExportOptions extends Omit<ExportFilter, 'account'> {
  readonly format?: (typeof FORMATS)[number];
  readonly out?: string;
  readonly reveal?: boolean;
}

export function define(command: Command): void {
  const formatOption = new Option('--format <format>', 'default: by the ending of --out, else csv');
  addByOption(addPeriodOptions(command, 'orders'))
    .option('--pair <pair>', 'only orders of this pair, such as BTC/EUR', readPair)
    .addOption(new Option('--state <state>', 'only orders in this state').choices(ORDER_STATES))
    .addOption(new Option('--outcome <outcome>', 'only orders with this outcome').choices(OUTCOMES))
    .addOption(formatOption.choices(FORMATS))
    .option('--out <file>', 'write to a file, made readable for you alone, instead of stdout')
    .option(...REVEAL)
    .addHelpText('after', '\nExample:\n  order-sync orders export --by completion --from 2026-01-01 --out january.csv')
    .action(async ({ format, out, reveal, ...filter }: ExportOptions) => {
      if (isFolder(out)) command.error('error: --out is a folder: name a file');
      const chosen = chooseFormat(FORMATS, format, out) ?? 'csv';
      await withAccounts(command, async ({ db }, account) => {
        const section = exportSection(db, { ...filter, account }, reveal === true);
        const rows = chosen === 'xlsx' ? atMost(section.rows, MOST_IN_XLSX) : section.rows;
        const document = { schema: null, title: 'Orders', facts: [], sections: [{ ...section, rows }], charts: [] };
        await writeReport(document, { format: chosen, out });
      });
    });
}

/** Throws `CommandError` if there are more than `most` rows, because an incomplete file must not look complete. */
async function* atMost(rows: Section['rows'], most: number): AsyncGenerator<Row> {
  let count = 0;
  for await (const row of rows) {
    count += 1;
    if (count > most) {
      const message = `an .xlsx file takes at most ${most} orders: choose fewer, or give --format csv`;
      throw new CommandError(EXIT.usage, message);
    }
    yield row;
  }
}

const NUMBERS: readonly string[] = [
  'asset',
  'order_limit',
  'bonus',
  ...PRE_ORDER_NUMBERS.map((path) => `pre_order.${path}`),
  ...RECORD_NUMBERS.map((path) => `record.${path}`),
];

/** The row, the pre-order (§2.6) and the record (§2.7). `other` has the fields that are not documented, as JSON. */
const EXPORT_COLUMNS: readonly Column[] = [
  ...ROW_COLUMNS,
  ...[...PRE_ORDER_PATHS, 'other'].map((path) => `pre_order.${path}`),
  ...[...RECORD_PATHS, 'other'].map((path) => `record.${path}`),
].map((key) => ({ key, label: key, kind: NUMBERS.includes(key) ? 'digits' : 'text' }));

type ExportRequest = Omit<ExportFilter, 'account'> & { readonly account: string | undefined };

export function exportSection(db: Database, filter: ExportRequest, reveals: boolean): Section {
  const rows = async function* () {
    for (const account of await reportedAccounts(db, filter.account)) {
      for await (const order of exportedOrders(db, { ...filter, account })) yield exportedRow(order, reveals);
    }
  };
  return { name: 'orders', title: 'Orders', columns: EXPORT_COLUMNS, rows: rows() };
}

const PRE_ORDER = new Set<string>(PRE_ORDER_PATHS);
const RECORD = new Set<string>(RECORD_PATHS);

function exportedRow(order: ExportedRow, reveals: boolean): Row {
  const { pre_order_body: preOrder, record_body: record, ...row } = order;
  const token = row.payment_token === null || reveals ? row.payment_token : HIDDEN;
  return {
    ...Object.fromEntries(Object.entries({ ...row, payment_token: token }).map(([name, value]) => [name, cell(value)])),
    ...fieldsOf('pre_order', preOrder, PRE_ORDER, reveals),
    ...fieldsOf('record', record, RECORD, reveals),
  };
}

/** Shows bytes as SQL writes them, because another program may have written bytes into a column. */
function cell(value: unknown): Cell {
  return value instanceof Uint8Array ? `x'${Buffer.from(value).toString('hex')}'` : (value as Cell);
}

function fieldsOf(prefix: string, body: string | null, paths: ReadonlySet<string>, reveals: boolean): Row {
  if (body === null) return {};
  const { documented, other } = readFields(reveals ? body : withoutTokens(body), paths);
  const fields = [...documented].map(([path, text]) => [`${prefix}.${path}`, text]);
  const others = [...other].map(([name, json]) => `${JSON.stringify(name)}:${json}`);
  return { ...Object.fromEntries(fields), [`${prefix}.other`]: other.size === 0 ? null : `{${others.join(',')}}` };
}
