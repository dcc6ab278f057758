import { HIDDEN } from '../../../base/text.ts';
import { PRE_ORDER_NUMBERS, PRE_ORDER_PATHS, RECORD_NUMBERS, RECORD_PATHS } from '../../../orders/rules/record.ts';
import { readFields } from '../../../exchange/record-view.ts';
import type { Column, Row, Section } from '../../documents/document.ts';
import type { Cell } from '../../../cli/shared/terminal.ts';
import { ROW_COLUMNS } from '../../../store/orders/order-columns.ts';
import type { Database } from '../../../store/port.ts';
import { exportedOrders, type ExportedRow, type ExportFilter } from '../tables/exported-orders.ts';
import { reportedAccounts } from '../tables/report.ts';
import { withoutTokens } from '../../documents/hidden-tokens.ts';

const NUMBERS: readonly string[] = [
  'asset',
  'order_limit',
  'bonus',
  ...PRE_ORDER_NUMBERS.map((path) => `pre_order.${path}`),
  ...RECORD_NUMBERS.map((path) => `record.${path}`),
];

/** The row by its columns, pre-order (§2.6) and record (§2.7) by their paths; all other fields are JSON in `other`. */
const EXPORT_COLUMNS: readonly Column[] = [
  ...ROW_COLUMNS,
  ...[...PRE_ORDER_PATHS, 'other'].map((path) => `pre_order.${path}`),
  ...[...RECORD_PATHS, 'other'].map((path) => `record.${path}`),
].map((key) => ({ key, label: key, kind: NUMBERS.includes(key) ? 'digits' : 'text' }));

type ExportRequest = Omit<ExportFilter, 'account'> & { readonly account: string | undefined };

export function exportSection(db: Database, filter: ExportRequest, reveals: boolean): Section {
  return { name: 'orders', title: 'Orders', columns: EXPORT_COLUMNS, rows: exportedRows(db, filter, reveals) };
}

async function* exportedRows(db: Database, filter: ExportRequest, reveals: boolean): AsyncGenerator<Row> {
  for (const account of await reportedAccounts(db, filter.account)) {
    for await (const order of exportedOrders(db, { ...filter, account })) yield exportedRow(order, reveals);
  }
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

/** Another program may have written bytes into a column. */
function cell(value: unknown): Cell {
  if (value instanceof Uint8Array) return `x'${Buffer.from(value).toString('hex')}'`;
  return typeof value === 'number' ? value : (value as string | null);
}

function fieldsOf(prefix: string, body: string | null, paths: ReadonlySet<string>, reveals: boolean): Row {
  if (body === null) return {};
  const { documented, other } = readFields(reveals ? body : withoutTokens(body), paths);
  const fields = [...documented].map(([path, text]) => [`${prefix}.${path}`, text]);
  return { ...Object.fromEntries(fields), [`${prefix}.other`]: other.size === 0 ? null : objectOf(other) };
}

function objectOf(values: ReadonlyMap<string, string>): string {
  return `{${[...values].map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`;
}
