import { lostReach } from '../tables/story.ts';
import { accountNames } from '../../commands/tables/accounts.ts';
import type { Clock } from '../../../base/clock.ts';
import type { AmountSettings } from '../../../base/decimal.ts';
import { sumOf } from '../../../base/words.ts';
import { reconciliationDocument, type ReconciliationScope } from './document.ts';
import { ReconciliationCharts } from './charts.ts';
import { derivedFinding, knownFinding, uncheckedOrder, wantsPerson, type ReportFinding } from './findings.ts';
import { judgeOrder } from './judge.ts';
import { ledgerOrder, PROGRESS_EVERY } from './ledger.ts';
import { ReconciliationTotals, type ListedRow } from './totals.ts';
import type { Reconciled, Supplement } from './verdict.ts';
import type { Snapshot, Store } from '../../../store/port.ts';
import { allRows } from '../../../store/pages.ts';
import { knownFindings, reconciledRows, rowsOfUnknownAge, waitingRows } from '../tables/reconciliation.ts';
import type { Query } from '../../../store/dialect.ts';
import type { LedgerTables } from '../tables/ledger.ts';
import { ReportTables } from '../tables/report.ts';

interface ReconciliationRequest extends Omit<ReconciliationScope, 'asOf'> {
  readonly asOf?: string | undefined;
  readonly settingsOf?: (account: string) => Pick<AmountSettings, 'outputPosition'>;
  /** Accounts in the settings; by default the account of the report. Waiting rows of other accounts are counted. */
  readonly drivenAccounts?: readonly string[] | undefined;
  /** Receives the orders of the scope, which must have one account, because ids are unique only within an account. */
  readonly ledger?: LedgerTables | undefined;
  readonly supplements?: () => readonly Supplement[];
  /** Called after every `PROGRESS_EVERY` orders. Signals are handled while the report waits for the promise. */
  readonly onProgress?: (text: string) => Promise<void>;
}

type ReportDeps = { readonly store: Pick<Store, 'snapshot'>; readonly clock: Pick<Clock, 'now'> };

/** Judges the orders of the scope in one snapshot. Rows of the document can be read until the result is disposed of. */
export async function reconcileOrders(deps: ReportDeps, request: ReconciliationRequest) {
  using resources = new DisposableStack();
  const tables = resources.use(new ReportTables());
  const { scope, ...added } = await addUp(deps, request, tables);
  const report = reconciliationDocument(scope, { ...added, supplements: request.supplements?.() ?? [] });
  const kept = resources.move();
  return { ...report, [Symbol.dispose]: () => kept.dispose() };
}

interface Adding extends Pick<Reconciled, 'tables' | 'charts'> {
  readonly snapshot: Snapshot;
  readonly scope: ReconciliationScope & ReconciliationRequest;
  readonly progress: { orders: number };
}

async function addUp({ store, clock }: ReportDeps, request: ReconciliationRequest, tables: ReportTables) {
  // The snapshot is closed before the report is written, because a slow reader of the output may take hours.
  await using snapshot = await store.snapshot();
  const scope = { ...request, asOf: request.asOf ?? clock.now().toISOString() };
  const { account, asOf, drivenAccounts = account === undefined ? [] : [account] } = scope;
  const charts = new ReconciliationCharts();
  const adding = { snapshot, scope, tables, charts, progress: { orders: 0 } };
  const inDatabase = (await allRows(snapshot, accountNames('merchant_orders'))).map((row) => row.account);
  let totals = new ReconciliationTotals(scope.settings, asOf);
  if (account === undefined) {
    const withFindings = new Set((await allRows(snapshot, accountNames('findings'))).map((row) => row.account));
    for (const name of [...withFindings.union(new Set(inDatabase))].toSorted()) {
      const accountTotals = await addAccount(name, adding, withFindings.has(name));
      tables.addAccountRow('accounts', { account: name, ...accountTotals.counts() });
      for (const row of accountTotals.byPair()) tables.addAccountRow('account_pairs', { account: name, ...row });
      totals.addAll(accountTotals);
    }
  } else {
    totals = await addAccount(account, adding);
  }
  const unknownAge = await countOf(snapshot, rowsOfUnknownAge(account, asOf));
  const otherAccounts: { name: string; rows: number }[] = [];
  for (const name of inDatabase.filter((one) => !drivenAccounts.includes(one))) {
    const rows = await countOf(snapshot, waitingRows({ account: name, asOf }));
    if (rows > 0) otherAccounts.push({ name, rows });
  }
  const lost = (await lostReach(snapshot.db, account, 'exchange')).map(({ since }) => since).filter((at) => at <= asOf);
  const outOfReachSince = lost.toSorted()[0] ?? null;
  return { scope, totals, charts, tables, otherAccounts, unknownAge, outOfReachSince };
}

async function addAccount(account: string, adding: Adding, hasFindings = true): Promise<ReconciliationTotals> {
  const { snapshot, scope, tables, charts, progress } = adding;
  const { by, from, to, asOf } = scope;
  const settings = { ...scope.settings, ...scope.settingsOf?.(account) };
  const ofAccount = { account, by, from, to, asOf, ignore: settings.ignore };
  const totals = new ReconciliationTotals(settings, asOf);
  const moment = new Date(asOf);
  const addToLookAt = (row: ListedRow) => {
    // A finding of the class `FAIL_OVER` has no order: the orders that it counts are unchecked.
    const { external_order_id: id } = row;
    if (id !== null && tables.addToLookAt(account, id)) totals.addInDoubt(row);
  };
  const addFinding = (finding: ReportFinding, row: ListedRow) => {
    totals.addFinding(finding, row);
    if (wantsPerson(finding)) addToLookAt(row);
  };
  for await (const page of hasFindings ? snapshot.pages(knownFindings(ofAccount)) : []) {
    for (const row of page) {
      const finding = knownFinding(row, asOf, settings);
      tables.add(finding);
      addFinding(finding, row);
    }
  }
  for await (const page of snapshot.pages(reconciledRows(ofAccount))) {
    for (const row of page) {
      const order = judgeOrder(row, moment, settings);
      totals.addOrder(order);
      charts.addOrder(order, moment);
      const unchecked = uncheckedOrder(order);
      if (unchecked !== undefined) {
        tables.addUnchecked(unchecked);
        addToLookAt(row);
      }
      for (const finding of order.findings) {
        const derived = derivedFinding(row, finding, settings);
        if (tables.addUnlessKnown(derived)) addFinding(derived, row);
      }
      scope.ledger?.addOrder(ledgerOrder(order));
      progress.orders += 1;
      if (progress.orders % PROGRESS_EVERY === 0) await scope.onProgress?.(`${progress.orders} orders compared`);
    }
  }
  return totals;
}

async function countOf(snapshot: Snapshot, counts: Query<{ rows: number }>): Promise<number> {
  return sumOf(await allRows(snapshot, counts), ({ rows }) => rows);
}
