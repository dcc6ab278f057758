import { ReconciliationCharts } from '../../reports/reconciliation/charts.ts';
import type { Reconciled } from '../../reports/reconciliation/document.ts';
import { derivedFinding, knownFinding } from '../../reports/reconciliation/findings.ts';
import { judgeOrder, type JudgedOrder, type ReconciliationSettings } from '../../reports/reconciliation/judge.ts';
import { ReconciliationTotals } from '../../reports/reconciliation/totals.ts';
import type { Snapshot } from '../../store/port.ts';
import {
  knownFindings,
  reconciledRows,
  rowsOfOtherAccounts,
  rowsOfUnknownAge,
  type ReportScope,
} from '../../store/reports/reconciliation.ts';
import type { LedgerOrder, LedgerStage } from '../../store/stage/ledger.ts';
import type { Scratch } from '../../store/stage/scratch.ts';

/** Callbacks while the orders are read. */
export interface ReconciliationListener {
  /** Called after every 5,000 orders; waiting in it lets signals through. */
  readonly onProgress?: (orders: number) => Promise<void>;
  /** Takes our side of a comparison with a ledger. */
  readonly stage?: LedgerStage | undefined;
}

const PROGRESS_EVERY = 5_000;

/** Judges every order of the scope by its newest record, in one snapshot, and adds both sides up. */
export async function reconcileOrders(
  snapshot: Snapshot,
  scratch: Scratch,
  scope: ReportScope,
  settings: ReconciliationSettings,
  { onProgress, stage }: ReconciliationListener = {},
): Promise<Reconciled> {
  const totals = new ReconciliationTotals();
  const charts = new ReconciliationCharts();
  const asOf = new Date(scope.asOf);
  for (const row of snapshot.rows(knownFindings(scope))) {
    const finding = knownFinding(row, scope.asOf);
    scratch.add(finding);
    totals.addFinding(finding);
  }
  let orders = 0;
  for (const row of snapshot.rows(reconciledRows(scope))) {
    const order = judgeOrder(row, asOf, settings);
    totals.addOrder(order, scope.asOf);
    charts.addOrder(order, asOf);
    for (const finding of order.findings) {
      const derived = derivedFinding(row, finding);
      if (scratch.addUnlessKnown(derived)) totals.addFinding(derived);
    }
    stage?.addOrder(ledgerOrder(order));
    orders += 1;
    if (orders % PROGRESS_EVERY === 0) await onProgress?.(orders);
  }
  const count = (rows: Iterable<{ rows: number }>) => [...rows].reduce((sum, one) => sum + one.rows, 0);
  const otherAccounts = count(snapshot.rows(rowsOfOtherAccounts(scope)));
  const unknownAge = count(snapshot.rows(rowsOfUnknownAge(scope)));
  return { totals, charts, otherAccounts, unknownAge, findings: scratch.findings() };
}

function ledgerOrder({ row, judgement }: JudgedOrder): LedgerOrder {
  return {
    id: row.external_order_id,
    amount: typeof row.asset === 'string' ? row.asset : null,
    currency: row.from_currency,
    // The exchange may have taken an order that a person abandoned.
    isAtExchange: row.state === 'abandoned' ? null : judgement.kind !== 'nothing',
  };
}
