import { DecimalSum } from '../domain/decimal.ts';
import type { Column, ReportDocument } from './formats/document.ts';
import { pairOf } from './reconciliation/rows.ts';

/** Some of the orders of one pair, state and status: `asset` is their exact sum, without those whose asset is unreadable. */
export interface SummaryPart {
  readonly from_currency: string | null;
  readonly to_currency: string | null;
  readonly state: string;
  readonly order_status: string | null;
  readonly orders: number;
  readonly asset: string;
  readonly unreadable: number;
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

/** Counts and sums orders by pair, state and status. */
export function summarize(parts: Iterable<SummaryPart>) {
  const groups = new Map<string, ReturnType<typeof emptyGroup>>();
  for (const part of parts) {
    const id = JSON.stringify([pairOf(part), part.state, part.order_status]);
    const group = groups.get(id) ?? emptyGroup(part);
    groups.set(id, group);
    group.orders += part.orders;
    group.unreadable += part.unreadable;
    group.sum.add(part.asset);
  }
  return [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { sum, ...line }]) => ({ ...line, asset: sum.toString() }));
}

function emptyGroup(part: SummaryPart) {
  const { state, order_status: status } = part;
  return { pair: pairOf(part), state, status, orders: 0, asset: '0', unreadable: 0, sum: new DecimalSum() };
}

/** Builds the report. It has no schema of its own: its JSON is the lines. */
export function summaryDocument(parts: Iterable<SummaryPart>): ReportDocument {
  const title = 'Orders by pair, state and status';
  const sections = [{ name: 'summary', title, columns: SUMMARY_COLUMNS, rows: summarize(parts) }];
  return { schema: null, title: 'Summary', facts: [], sections, charts: [] };
}
