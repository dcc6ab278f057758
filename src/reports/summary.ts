import { DecimalSum } from '../domain/decimal.ts';
import type { Column, ReportDocument } from './formats/document.ts';
import { outcomeOf, sumsByOutcome } from './reconciliation/outcome.ts';
import { pairOf } from './reconciliation/rows.ts';

/** Some of the orders of one pair, asset position, state, status and outcome: `asset` is their exact sum, without those whose asset is unreadable. */
export interface SummaryPart {
  readonly from_currency: string | null;
  readonly to_currency: string | null;
  readonly state: string;
  readonly order_status: string | null;
  readonly outcome: string | null;
  readonly asset_position: string | null;
  readonly orders: number;
  readonly asset: string;
  readonly unreadable: number;
}

/** The columns of the summary, with the same names for programs and people. */
export const SUMMARY_COLUMNS = [
  { key: 'pair', label: 'pair', kind: 'text' },
  { key: 'state', label: 'state', kind: 'state' },
  { key: 'status', label: 'status', kind: 'text' },
  { key: 'outcome', label: 'outcome', kind: 'outcome' },
  { key: 'position', label: 'position', kind: 'text' },
  { key: 'orders', label: 'orders', kind: 'count' },
  // The exact sum.
  { key: 'asset', label: 'asset', kind: 'decimal' },
  // The same sum by its outcome, so that a column of these may be added up.
  { key: 'succeeded', label: 'succeeded', kind: 'decimal', rank: 2 },
  { key: 'failed', label: 'failed', kind: 'decimal', rank: 2 },
  { key: 'open', label: 'open', kind: 'decimal', rank: 2 },
  { key: 'outcome_unknown', label: 'outcome unknown', kind: 'decimal', rank: 2 },
  // Orders whose asset is not a number; they are counted and not summed.
  { key: 'unreadable', label: 'unreadable', kind: 'count' },
] as const satisfies readonly Column[];

/**
 * Counts and sums orders by pair, state, status, outcome and asset position: what paid and what failed are never added, nor
 * amounts that may be in two currencies.
 */
export function summarize(parts: Iterable<SummaryPart>) {
  const groups = new Map<string, ReturnType<typeof emptyGroup>>();
  for (const part of parts) {
    const { state, order_status, asset_position } = part;
    const id = JSON.stringify([pairOf(part), state, order_status, outcomeOf(part), asset_position]);
    const group = groups.get(id) ?? emptyGroup(part);
    groups.set(id, group);
    group.orders += part.orders;
    group.unreadable += part.unreadable;
    group.sum.add(part.asset);
  }
  return [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { sum, unreadable, ...line }]) => {
      const asset = sum.toString();
      return { ...line, asset, ...sumsByOutcome(line.outcome, asset), unreadable };
    });
}

function emptyGroup(part: SummaryPart) {
  const { state, order_status: status, asset_position: position } = part;
  const sum = new DecimalSum();
  return { pair: pairOf(part), state, status, outcome: outcomeOf(part), position, orders: 0, unreadable: 0, sum };
}

/** Builds the report. It has no schema of its own: its JSON is the lines. */
export function summaryDocument(parts: Iterable<SummaryPart>): ReportDocument {
  const title = 'Orders by pair, state and status';
  const sections = [{ name: 'summary', title, columns: SUMMARY_COLUMNS, rows: summarize(parts) }];
  return { schema: null, title: 'Summary', facts: [], sections, charts: [] };
}
