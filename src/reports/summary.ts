import { DecimalSum, readDecimal } from '../domain/decimal.ts';
import type { Column, ReportDocument } from './formats/document.ts';
import { pairOf } from './reconciliation/rows.ts';

/** The columns of an order that the summary needs. */
export interface SummaryInput {
  readonly from_currency: string | null;
  readonly to_currency: string | null;
  readonly state: string;
  readonly order_status: string | null;
  readonly asset: unknown;
}

/** The columns of the summary, with the same names for programs and people. */
export const SUMMARY_COLUMNS = [
  { key: 'pair', label: 'pair', kind: 'text' },
  { key: 'state', label: 'state', kind: 'text' },
  { key: 'status', label: 'status', kind: 'text' },
  { key: 'orders', label: 'orders', kind: 'count' },
  // The exact sum.
  { key: 'asset', label: 'asset', kind: 'decimal' },
  // Orders whose asset is not a number; they are counted and not summed.
  { key: 'unreadable', label: 'unreadable', kind: 'count' },
] as const satisfies readonly Column[];

/** Counts and sums orders by pair, state and status. Memory grows with the groups, not with the rows. */
export async function summarize(rows: AsyncIterable<SummaryInput>) {
  const groups = new Map<string, ReturnType<typeof emptyGroup>>();
  for await (const row of rows) {
    const id = JSON.stringify([pairOf(row), row.state, row.order_status]);
    const group = groups.get(id) ?? emptyGroup(row);
    groups.set(id, group);
    group.orders += 1;
    const asset = readDecimal(row.asset);
    if (asset.ok) group.sum.add(asset.text);
    else group.unreadable += 1;
  }
  return [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { sum, ...line }]) => ({ ...line, asset: sum.toString() }));
}

function emptyGroup(row: SummaryInput) {
  const { state, order_status: status } = row;
  return { pair: pairOf(row), state, status, orders: 0, asset: '0', unreadable: 0, sum: new DecimalSum() };
}

/** Builds the report. It has no schema of its own: its JSON is the lines. */
export async function summaryDocument(rows: AsyncIterable<SummaryInput>): Promise<ReportDocument> {
  const title = 'Orders by pair, state and status';
  const sections = [{ name: 'summary', title, columns: SUMMARY_COLUMNS, rows: await summarize(rows) }];
  return { schema: null, title: 'Summary', facts: [], sections, charts: [] };
}
