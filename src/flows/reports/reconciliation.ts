import { basename } from 'node:path';
import type { Clock } from '../../clock.ts';
import { ReconciliationCharts } from '../../reports/reconciliation/charts.ts';
import {
  reconciliationDocument,
  type Reconciled,
  type ReconciliationReport,
} from '../../reports/reconciliation/document.ts';
import { derivedFinding, findingLine, knownFinding, wantsPerson } from '../../reports/reconciliation/findings.ts';
import { judgeOrder, type JudgedOrder, type ReconciliationSettings } from '../../reports/reconciliation/judge.ts';
import { ledgerSupplement, preOrderSupplement, type ComparedLedger } from '../../reports/reconciliation/supplements.ts';
import { pairOf } from '../../reports/reconciliation/rows.ts';
import { ReconciliationTotals } from '../../reports/reconciliation/totals.ts';
import type { Snapshot, Store } from '../../store/port.ts';
import { allRows } from '../../store/snapshot.ts';
import {
  knownFindings,
  reconciledRows,
  rowsOfOtherAccounts,
  rowsOfUnknownAge,
  type ReportScope,
} from '../../store/reports/reconciliation.ts';
import type { Query } from '../../store/dialect.ts';
import { openLedgerStage, type LedgerOrder, type LedgerStage } from '../../store/stage/ledger.ts';
import { openScratch, type Scratch } from '../../store/stage/scratch.ts';
import { readLedger, type Ledger } from './ledger.ts';
import type { AskedPreOrders } from './pre-orders.ts';

/** The orders of a report, and what they are compared with. */
export interface ReconciliationRequest extends Omit<ReportScope, 'asOf'> {
  /** Now where none is given. */
  readonly asOf?: string | undefined;
  readonly settings: ReconciliationSettings;
  /** A period without orders is as it should be. */
  readonly mayBeEmpty?: boolean | undefined;
  readonly ledger?: Ledger | undefined;
  /** The answers of the exchange about the pre-orders. */
  readonly asked?: AskedPreOrders | undefined;
  /** Called now and then with what was done; waiting in it lets signals through. */
  readonly onProgress?: (text: string) => Promise<void>;
}

type ReportDeps = { readonly store: Pick<Store, 'snapshot'>; readonly clock: Pick<Clock, 'now'> };

const PROGRESS_EVERY = 5_000;
/** So many findings are named beside the verdict. */
const MOST_WORST = 5;

/**
 * Judges every order of the scope by its newest record, in one snapshot, and makes the report. Its rows can be read until
 * it is disposed of. Throws `LedgerError`.
 */
export async function reconcileOrders(
  deps: ReportDeps,
  request: ReconciliationRequest,
): Promise<ReconciliationReport & Disposable> {
  const { settings, mayBeEmpty, ledger, asked, onProgress = async () => {} } = request;
  using resources = new DisposableStack();
  const scratch = resources.use(openScratch());
  const stage = ledger && resources.use(openLedgerStage());
  if (ledger !== undefined && stage !== undefined) await readLedger(stage, ledger, onProgress);
  const { scope, reconciled } = await addUp(deps, request, scratch, stage, onProgress);
  const report = reconciliationDocument({ ...scope, ...settings, mayBeEmpty }, reconciled, [
    ...(asked === undefined ? [] : [preOrderSupplement(asked)]),
    ...(stage === undefined ? [] : [ledgerSupplement(compared(stage, request))]),
  ]);
  const kept = resources.move();
  return { ...report, [Symbol.dispose]: () => kept.dispose() };
}

/** The snapshot is closed before the report is written: output may wait for its reader for hours. */
async function addUp(
  { store, clock }: ReportDeps,
  { account, by, from, to, settings, ...given }: ReconciliationRequest,
  scratch: Scratch,
  stage: LedgerStage | undefined,
  onProgress: (text: string) => Promise<void>,
): Promise<{ scope: ReportScope; reconciled: Reconciled }> {
  await using snapshot = await store.snapshot();
  const scope = { account, by, from, to, asOf: given.asOf ?? clock.now().toISOString() };
  const totals = new ReconciliationTotals(settings);
  const charts = new ReconciliationCharts();
  const moment = new Date(scope.asOf);
  for await (const page of snapshot.pages(knownFindings(scope))) {
    for (const row of page) {
      const finding = knownFinding(row, scope.asOf, settings);
      scratch.add(finding);
      if (wantsPerson(finding)) scratch.addToLookAt(finding.external_order_id);
      totals.addFinding(finding, row, row.order_changed_at, scope.asOf);
    }
  }
  let orders = 0;
  for await (const page of snapshot.pages(reconciledRows(scope))) {
    for (const row of page) {
      const order = judgeOrder(row, moment, settings);
      totals.addOrder(order, scope.asOf);
      charts.addOrder(order, moment);
      addToLookAt(order, scratch);
      addDerived(order, settings, scratch, totals, scope.asOf);
      stage?.addOrder(ledgerOrder(order));
      orders += 1;
      if (orders % PROGRESS_EVERY === 0) await onProgress(`${orders} orders compared`);
    }
  }
  const otherAccounts = await countOf(snapshot, rowsOfOtherAccounts(scope));
  const unknownAge = await countOf(snapshot, rowsOfUnknownAge(scope));
  const worst = scratch.worst(MOST_WORST).map(findingLine);
  const ordersToLookAt = scratch.ordersToLookAt();
  const rows = {
    findings: () => scratch.findings(),
    unchecked: scratch.unchecked(),
    disputed: scratch.disputed(),
    worst,
    ordersToLookAt,
  };
  return { scope, reconciled: { totals, charts, otherAccounts, unknownAge, ...rows } };
}

/** Adds the findings that the report derives by itself, where the order has none of their class. */
function addDerived(
  { row, findings }: JudgedOrder,
  settings: ReconciliationSettings,
  scratch: Scratch,
  totals: ReconciliationTotals,
  asOf: string,
): void {
  for (const finding of findings) {
    const derived = derivedFinding(row, finding, settings);
    if (!scratch.addUnlessKnown(derived)) continue;
    totals.addFinding(derived, row, row.changed_at, asOf);
    if (wantsPerson(derived)) scratch.addToLookAt(row.external_order_id);
  }
}

async function countOf(snapshot: Snapshot, counts: Query<{ rows: number }>): Promise<number> {
  return (await allRows(snapshot, counts)).reduce((sum, one) => sum + one.rows, 0);
}

/** Notes an order that was not checked, or is disputed, whatever became of its findings. */
function addToLookAt({ row, judgement }: JudgedOrder, scratch: Scratch): void {
  if (judgement.kind !== 'unchecked' && judgement.kind !== 'disputed') return;
  const { external_order_id, state, state_reason, last_lookup_at: last_lookup } = row;
  const reason = 'reason' in judgement ? judgement.reason : 'disputed';
  const since = row.changed_at ?? row.created_at;
  scratch.addToLookAt(external_order_id);
  scratch.addUnchecked({ external_order_id, reason, pair: pairOf(row), state, since, last_lookup, state_reason });
}

function compared(stage: LedgerStage, { ledger, settings }: ReconciliationRequest): ComparedLedger {
  const files = (ledger?.files ?? []).map((file) => basename(file));
  return { files, lines: stage.lines, count: stage.compare(settings.tolerance), differences: stage.differences() };
}

function ledgerOrder({ row, currency, judgement }: JudgedOrder): LedgerOrder {
  return {
    id: row.external_order_id,
    amount: typeof row.asset === 'string' ? row.asset : null,
    currency,
    // The exchange may have taken an order that a person abandoned, and one whose id another order answers for.
    isAtExchange: row.state === 'abandoned' || row.state === 'disputed' ? null : judgement.kind !== 'nothing',
  };
}
