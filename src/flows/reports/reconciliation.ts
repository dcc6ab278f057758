import type { FindingClassName } from '../../domain/findings/classes.ts';
import { findOverdue } from '../../domain/findings/age.ts';
import { type Finding, COMPARED_POSITION } from '../../domain/findings/finding.ts';
import { ReconciliationCharts } from '../../reports/reconciliation/charts.ts';
import { derivedFinding, knownFinding } from '../../reports/reconciliation/findings.ts';
import {
  ageOf,
  amountsOf,
  judgeRow,
  UNCHECKED_REASONS,
  type Judgement,
  type ReconciledRow,
  type RowAmounts,
  type UncheckedReason,
} from '../../reports/reconciliation/rows.ts';
import { isOfOtherPair, ReconciliationTotals } from '../../reports/reconciliation/totals.ts';
import type { Reconciled } from '../../reports/reconciliation/document.ts';
import type { LedgerStage } from '../../store/stage/ledger.ts';
import {
  knownFindings,
  reconciledRows,
  rowsOfOtherAccounts,
  rowsOfUnknownAge,
  type ReportScope,
} from '../../store/reports/reconciliation.ts';
import type { Scratch } from '../../store/stage/scratch.ts';
import type { Snapshot } from '../../store/port.ts';

/** What decides whether an order counts as checked and as equal. */
export interface ReconciliationSettings {
  readonly tolerance: string;
  /** In milliseconds. */
  readonly freshFor: number;
  /** An accepted pre-order is missing its order after so many milliseconds. */
  readonly orderMissingAfter: number;
}

/** What is done with the orders besides. */
export interface ReconciliationProgress {
  /** Called now and then; what it waits for gives way to signals. */
  readonly onProgress?: (orders: number) => Promise<void>;
  /** Where a ledger waits for our orders. */
  readonly stage?: LedgerStage | undefined;
}

const PROGRESS_EVERY = 5_000;
/** States of which time may show by itself that something is amiss. */
const WAITED_FOR: readonly string[] = ['accepted'];
/** Reasons why an order is unchecked that are findings of a class of their own. */
const CLASSES: Partial<Record<UncheckedReason, FindingClassName>> = {
  outcomeUnknown: 'CREATE_UNKNOWN',
  olderRecord: 'STALE_SNAPSHOT',
};

/**
 * Goes through every order of the scope beside what the exchange last said of it, in one snapshot, and adds both sides
 * up. Amounts and pairs are compared once more: a report does not rely on the findings that were written down.
 */
export async function reconcileOrders(
  snapshot: Snapshot,
  scratch: Scratch,
  scope: ReportScope,
  settings: ReconciliationSettings,
  { onProgress, stage }: ReconciliationProgress = {},
): Promise<Reconciled> {
  const totals = new ReconciliationTotals();
  const charts = new ReconciliationCharts();
  const unchecked = new Map<UncheckedReason, number>();
  const oldestLookup: { open: string | null; final: string | null } = { open: null, final: null };
  for (const row of snapshot.rows(knownFindings(scope))) {
    const finding = knownFinding(row, scope.asOf);
    scratch.add(finding);
    totals.addFinding(finding);
  }
  const asOf = new Date(scope.asOf);
  let orders = 0;
  for (const row of snapshot.rows(reconciledRows(scope))) {
    const amounts = amountsOf(row);
    const judgement = judgeRow(row, amounts, asOf, settings.freshFor);
    totals.addRow(row, amounts, judgement);
    charts.add(row, judgement, asOf);
    if (judgement.kind === 'unchecked') {
      unchecked.set(judgement.reason, (unchecked.get(judgement.reason) ?? 0) + 1);
    }
    for (const finding of derivedFindings(row, amounts, judgement, asOf, settings)) {
      const derived = derivedFinding(row, finding);
      if (scratch.addUnlessKnown(derived)) totals.addFinding(derived);
    }
    if (judgement.kind !== 'nothing') noteLookup(oldestLookup, row, scope.asOf);
    stage?.addOrder({
      id: row.external_order_id,
      amount: typeof row.asset === 'string' ? row.asset : null,
      currency: row.from_currency,
      // What a person gave up may have been taken all the same.
      isAtExchange: row.state === 'abandoned' ? null : judgement.kind !== 'nothing',
    });
    orders += 1;
    if (orders % PROGRESS_EVERY === 0) await onProgress?.(orders);
  }
  const otherAccounts = countOf(snapshot, rowsOfOtherAccounts(scope));
  const unknownAge = countOf(snapshot, rowsOfUnknownAge(scope));
  return { totals, charts, unchecked, otherAccounts, unknownAge, oldestLookup, findings: scratch.findings() };
}

function countOf(snapshot: Snapshot, counts: ReturnType<typeof rowsOfOtherAccounts>): number {
  let sum = 0;
  for (const { rows } of snapshot.rows(counts)) sum += rows;
  return sum;
}

/** What the row and its record show by themselves. */
function derivedFindings(
  row: ReconciledRow,
  { ours, theirs }: RowAmounts,
  judgement: Judgement,
  asOf: Date,
  settings: ReconciliationSettings,
): readonly Finding[] {
  if (judgement.kind === 'unchecked') {
    const actual = `${UNCHECKED_REASONS[judgement.reason]}${row.last_lookup_at === null ? '' : `, last ${row.last_lookup_at}`}`;
    return [{ class: CLASSES[judgement.reason] ?? 'UNCHECKED', expected: 'compared with the exchange', actual }];
  }
  if (WAITED_FOR.includes(row.state)) return waitedFor(row, asOf, settings);
  if (row.received_at === null) return [];
  if (isOfOtherPair(row)) {
    const expected = `${row.from_currency}/${row.to_currency}`;
    return [{ class: 'PAIR_MISMATCH', expected, actual: `${row.record_from}/${row.record_to}` }];
  }
  if (row.asset_position !== COMPARED_POSITION || !ours.ok || !theirs.ok) return [];
  return ours.value.minus(theirs.value).abs().lte(settings.tolerance)
    ? []
    : [{ class: 'AMOUNT_MISMATCH', expected: ours.text, actual: theirs.text }];
}

/** What a sweep writes down now and then. How long is unusual for an open order only a sweep knows. */
function waitedFor(row: ReconciledRow, asOf: Date, settings: ReconciliationSettings): readonly Finding[] {
  const overdue = findOverdue(ageOf(row), asOf, { ...settings, stuckAfter: Number.POSITIVE_INFINITY });
  return overdue.filter((finding) => finding.class !== 'UNCHECKED');
}

/** A look-up after the moment that found nothing new counts as one of the moment. */
function noteLookup(oldest: { open: string | null; final: string | null }, row: ReconciledRow, asOf: string): void {
  if (row.last_lookup_at === null) return;
  const at = row.last_lookup_at < asOf ? row.last_lookup_at : asOf;
  const side = row.state === 'final' ? 'final' : 'open';
  const known = oldest[side];
  if (known === null || at < known) oldest[side] = at;
}
