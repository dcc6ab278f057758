import { basename } from 'node:path';
import type { Clock } from '../../../base/clock.ts';
import type { AmountSettings } from '../../../base/decimal.ts';
import { accountRows, reconciliationDocument, type Reconciled, type ReconciliationReport } from './document.ts';
import { ReconciliationCharts } from './charts.ts';
import { derivedFinding, findingLine, knownFinding, wantsPerson } from './findings.ts';
import { judgeOrder, type JudgedOrder, type ReconciliationSettings } from './judge.ts';
import { ledgerSupplement, preOrderSupplement, type ComparedLedger } from './verdict.ts';
import { pairOf } from './rows.ts';
import { ReconciliationTotals } from './totals.ts';
import { accountNames } from '../../../store/tables/accounts.ts';
import type { Snapshot, Store } from '../../../store/port.ts';
import { allRows } from '../../../store/snapshot.ts';
import {
  knownFindings,
  reconciledRows,
  rowsOfUnknownAge,
  rowsToDrive,
  type ReportScope,
} from '../tables/reconciliation.ts';
import type { Query } from '../../../store/dialect.ts';
import { LedgerTables, type LedgerOrder } from '../tables/ledger.ts';
import { ReportTables } from '../tables/report.ts';
import type { AskedPreOrders } from './pre-orders.ts';
import { open } from 'node:fs/promises';
import { quote } from '../../../base/text.ts';
import { csvRecords } from '../../documents/csv.ts';

interface ReconciliationRequest extends Omit<ReportScope, 'account' | 'asOf'> {
  /** All accounts where none is named: then there is no ledger, as an id of an order is one of its account alone. */
  readonly account: string | undefined;
  /** Accounts that a process drives; the rows of others are counted. The account of the report unless given. */
  readonly drivenAccounts?: readonly string[] | undefined;
  readonly settingsOf?: (account: string) => Pick<AmountSettings, 'outputPosition'>;
  readonly asOf?: string | undefined;
  readonly settings: ReconciliationSettings;
  /** A period without orders is as it should be. */
  readonly mayBeEmpty?: boolean | undefined;
  readonly ledger?: Ledger | undefined;
  readonly asked?: AskedPreOrders | undefined;
  /** Called now and then with what was done; waiting in it lets signals through. */
  readonly onProgress?: (text: string) => Promise<void>;
}

type ReportDeps = { readonly store: Pick<Store, 'snapshot'>; readonly clock: Pick<Clock, 'now'> };

const PROGRESS_EVERY = 5_000;
const MOST_WORST = 5;

/** Judges every order of the scope in one snapshot. Rows can be read until it is disposed of. Throws `LedgerError`. */
export async function reconcileOrders(
  deps: ReportDeps,
  request: ReconciliationRequest,
): Promise<ReconciliationReport & Disposable> {
  const { settings, mayBeEmpty, ledger, asked, onProgress = async () => {} } = request;
  using resources = new DisposableStack();
  const tables = resources.use(new ReportTables());
  const ledgerTables = ledger && resources.use(new LedgerTables());
  if (ledger !== undefined && ledgerTables !== undefined) await readLedger(ledgerTables, ledger, onProgress);
  const { account, by, from, to } = request;
  const { asOf, reconciled } = await addUp(deps, request, tables, ledgerTables);
  const report = reconciliationDocument({ account, by, from, to, asOf, ...settings, mayBeEmpty }, reconciled, [
    ...(asked === undefined ? [] : [preOrderSupplement(asked)]),
    ...(ledgerTables === undefined ? [] : [ledgerSupplement(compared(ledgerTables, request))]),
  ]);
  const kept = resources.move();
  return { ...report, [Symbol.dispose]: () => kept.dispose() };
}

interface Adding {
  readonly snapshot: Snapshot;
  readonly request: ReconciliationRequest;
  readonly asOf: string;
  readonly tables: ReportTables;
  readonly charts: ReconciliationCharts;
  readonly ledgerTables: LedgerTables | undefined;
  readonly progress: { orders: number };
}

/** The snapshot is closed before the report is written: output may wait for its reader for hours. */
async function addUp(
  { store, clock }: ReportDeps,
  request: ReconciliationRequest,
  tables: ReportTables,
  ledgerTables: LedgerTables | undefined,
): Promise<{ asOf: string; reconciled: Reconciled }> {
  const { account, settings, drivenAccounts = account === undefined ? [] : [account] } = request;
  await using snapshot = await store.snapshot();
  const asOf = request.asOf ?? clock.now().toISOString();
  const charts = new ReconciliationCharts();
  const adding = { snapshot, request, asOf, tables, charts, ledgerTables, progress: { orders: 0 } };
  const inDatabase = (await allRows(snapshot, accountNames('merchant_orders'))).map((row) => row.account);
  let totals = new ReconciliationTotals(settings);
  if (account === undefined) {
    const withFindings = new Set((await allRows(snapshot, accountNames('findings'))).map((row) => row.account));
    for (const name of [...new Set([...inDatabase, ...withFindings])].toSorted()) {
      const its = await addAccount(name, adding, withFindings.has(name));
      tables.addAccount(accountRows(name, its));
      totals.addAll(its);
    }
  } else {
    totals = await addAccount(account, adding);
  }
  const unknownAge = await countOf(snapshot, rowsOfUnknownAge(account, asOf));
  const driven = new Set(drivenAccounts);
  const otherAccounts: { name: string; rows: number }[] = [];
  for (const name of inDatabase.filter((one) => !driven.has(one))) {
    const waiting = await countOf(snapshot, rowsToDrive({ account: name, asOf }));
    if (waiting > 0) otherAccounts.push({ name, rows: waiting });
  }
  const rows = {
    findings: () => tables.findings(),
    unchecked: tables.unchecked(),
    disputed: tables.disputed(),
    worst: tables.worst(MOST_WORST).map((finding) => findingLine(finding, account === undefined)),
    ordersToLookAt: tables.ordersToLookAt(),
    ...(account === undefined && {
      byAccount: { counts: tables.accountRows('counts'), pairs: tables.accountRows('pairs') },
    }),
  };
  return { asOf, reconciled: { totals, charts, otherAccounts, unknownAge, ...rows } };
}

async function addAccount(
  account: string,
  { snapshot, request, asOf, tables, charts, ledgerTables, progress }: Adding,
  hasFindings = true,
): Promise<ReconciliationTotals> {
  const { by, from, to, onProgress = async () => {} } = request;
  const scope = { account, by, from, to, asOf, ignore: request.settings.ignore };
  const settings = { ...request.settings, ...request.settingsOf?.(account) };
  const totals = new ReconciliationTotals(settings);
  const moment = new Date(asOf);
  for await (const page of hasFindings ? snapshot.pages(knownFindings(scope)) : []) {
    for (const row of page) {
      const finding = knownFinding(row, asOf, settings);
      tables.add(finding);
      if (wantsPerson(finding)) tables.addToLookAt(account, finding.external_order_id);
      totals.addFinding(finding, row, row.order_changed_at, asOf);
    }
  }
  for await (const page of snapshot.pages(reconciledRows(scope))) {
    for (const row of page) {
      const order = judgeOrder(row, moment, settings);
      totals.addOrder(order, asOf);
      charts.addOrder(order, moment);
      addToLookAt(order, tables);
      addDerived(order, settings, tables, totals, asOf);
      ledgerTables?.addOrder(ledgerOrder(order));
      progress.orders += 1;
      if (progress.orders % PROGRESS_EVERY === 0) await onProgress(`${progress.orders} orders compared`);
    }
  }
  return totals;
}

/** Adds the findings that the report derives by itself, where the order has none of their class. */
function addDerived(
  { row, findings }: JudgedOrder,
  settings: ReconciliationSettings,
  tables: ReportTables,
  totals: ReconciliationTotals,
  asOf: string,
): void {
  for (const finding of findings) {
    const derived = derivedFinding(row, finding, settings);
    if (!tables.addUnlessKnown(derived)) continue;
    totals.addFinding(derived, row, row.changed_at, asOf);
    if (wantsPerson(derived)) tables.addToLookAt(row.account, row.external_order_id);
  }
}

async function countOf(snapshot: Snapshot, counts: Query<{ rows: number }>): Promise<number> {
  return (await allRows(snapshot, counts)).reduce((sum, one) => sum + one.rows, 0);
}

/** Notes an order that was not checked, or is disputed, whatever became of its findings. */
function addToLookAt({ row, judgement }: JudgedOrder, tables: ReportTables): void {
  if (judgement.kind !== 'unchecked' && judgement.kind !== 'disputed') return;
  const { account, external_order_id, state, state_reason, last_lookup_at: last_lookup } = row;
  const reason = 'reason' in judgement ? judgement.reason : 'disputed';
  const since = row.changed_at ?? row.created_at;
  tables.addToLookAt(account, external_order_id);
  tables.addUnchecked({
    account,
    external_order_id,
    reason,
    pair: pairOf(row),
    state,
    since,
    last_lookup,
    state_reason,
  });
}

function compared(ledgerTables: LedgerTables, { ledger, settings }: ReconciliationRequest): ComparedLedger {
  const files = (ledger?.files ?? []).map((file) => basename(file));
  return {
    files,
    lines: ledgerTables.lines,
    count: ledgerTables.compare(settings.tolerance),
    differences: ledgerTables.differences(),
  };
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

/** A ledger of another system: CSV files with a header, and the names of its columns. */
export interface Ledger {
  readonly files: readonly string[];
  readonly id: string;
  readonly amount: string;
  /** Currencies are compared only if their column is named. */
  readonly currency?: string | undefined;
}

export class LedgerError extends Error {
  override readonly name = 'LedgerError';
}

/** Reads the files of a ledger into temporary tables. Throws `LedgerError`. */
export async function readLedger(
  ledgerTables: LedgerTables,
  ledger: Ledger,
  onProgress: (text: string) => Promise<void>,
): Promise<void> {
  for (const path of ledger.files) {
    const file = basename(path);
    let header: readonly string[] | undefined;
    let places: Places = { id: 0, amount: 0, currency: undefined };
    await using handle = await open(path);
    if ((await handle.stat()).isDirectory()) throw new LedgerError(`${path} is a folder; name a CSV file`);
    for await (const read of csvRecords(handle.createReadStream())) {
      const refuse = (problem: string) => new LedgerError(`${file}:${read.line}: ${problem}`);
      if ('problem' in read) throw refuse(read.problem);
      const { line, record } = read;
      if (header === undefined) {
        places = placesOf(record, ledger, refuse);
        header = record;
        continue;
      }
      if (record.length !== header.length) throw refuse(`has ${record.length} fields, the header has ${header.length}`);
      const id = record[places.id] ?? '';
      const amount = record[places.amount]?.trim() ?? null;
      const currency = places.currency === undefined ? null : (record[places.currency]?.trim() ?? null);
      ledgerTables.addLine({ id, amount, currency, file, line });
      if (ledgerTables.lines % PROGRESS_EVERY === 0) await onProgress(`${ledgerTables.lines} lines of the ledger read`);
    }
    if (header === undefined) throw new LedgerError(`${file}: is empty; the first line names the columns`);
  }
}

interface Places {
  readonly id: number;
  readonly amount: number;
  readonly currency: number | undefined;
}

function placesOf(
  header: readonly string[],
  { id, amount, currency }: Ledger,
  refuse: (problem: string) => Error,
): Places {
  const placeOf = (column: string) => {
    const place = header.indexOf(column);
    if (place < 0) throw refuse(`has no column ${quote(column)}; it has ${header.map(quote).join(', ')}`);
    if (header.lastIndexOf(column) !== place) throw refuse(`has the column ${quote(column)} twice`);
    return place;
  };
  return { id: placeOf(id), amount: placeOf(amount), currency: currency === undefined ? undefined : placeOf(currency) };
}
