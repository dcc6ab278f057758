import { FINDING_CLASSES, type Severity } from '../../domain/findings/classes.ts';
import type { Finding } from '../../domain/findings/finding.ts';
import type { Column } from '../formats/document.ts';
import { dayOf, pairOf, type KnownFindingRow, type ReconciledRow } from './rows.ts';

/** A finding as the report lists it. `id` is the argument of `findings ack`; null where only the report found it. */
export type ReportFinding = Readonly<{
  id: number | null;
  /** 1 for an error, 2 for a warning, 3 for an info. */
  rank: number;
  severity: string;
  class: string;
  status: string;
  external_order_id: string;
  pair: string;
  day: string;
  expected: string | null;
  actual: string | null;
  since: string | null;
  reason: string | null;
}>;

/** The columns of the list of findings. */
export const FINDING_COLUMNS: readonly Column[] = [
  { key: 'id', label: 'Id', kind: 'count' },
  { key: 'severity', label: 'Severity', kind: 'severity' },
  { key: 'class', label: 'Class', kind: 'text' },
  { key: 'status', label: 'Status', kind: 'text' },
  { key: 'external_order_id', label: 'Order', kind: 'text' },
  { key: 'day', label: 'Day', kind: 'text', rank: 2 },
  { key: 'pair', label: 'Pair', kind: 'text', rank: 2 },
  { key: 'expected', label: 'Expected', kind: 'text' },
  { key: 'actual', label: 'Actual', kind: 'text' },
  { key: 'since', label: 'Since', kind: 'time', rank: 2 },
  { key: 'reason', label: 'Reason given', kind: 'text', rank: 2 },
];

const RANKS: Readonly<Record<string, number>> = { error: 1, warning: 2, info: 3 } satisfies Record<Severity, number>;

/** Gives a stored finding as it was at `asOf`: later decisions do not count. */
export function knownFinding(row: KnownFindingRow, asOf: string): ReportFinding {
  const { id, severity, first_seen_at: since } = row;
  const isAcknowledged = row.status !== 'open' && row.changed_at !== null && row.changed_at <= asOf;
  const status = isAcknowledged ? 'acknowledged' : 'open';
  return { id, status, since, reason: isAcknowledged ? row.reason : null, ...listed(row, severity, row) };
}

/** Gives a finding that the report itself found in a row. */
export function derivedFinding(row: ReconciledRow, finding: Finding): ReportFinding {
  const { severity } = FINDING_CLASSES[finding.class];
  return { id: null, status: 'open', since: null, reason: null, ...listed(row, severity, finding) };
}

function listed(
  row: Pick<KnownFindingRow, 'external_order_id' | 'from_currency' | 'to_currency' | 'created_at'>,
  severity: string,
  { class: name, expected, actual }: Pick<KnownFindingRow, 'class' | 'expected' | 'actual'>,
) {
  const external_order_id = row.external_order_id ?? '?';
  const rank = RANKS[severity] ?? 1;
  return {
    rank,
    severity,
    class: name,
    external_order_id,
    pair: pairOf(row),
    day: dayOf(row.created_at),
    expected,
    actual,
  };
}
