import type { Clock } from '../../../clock.ts';
import { latenessOf } from '../../../domain/orders/pace/lateness.ts';
import { readHistory } from '../../../flows/pass/learn-pace.ts';
import { reconcileOrders } from '../../../flows/reports/reconciliation.ts';
import { accountColumns } from '../../../reports/formats/sections.ts';
import type { Column, Row } from '../../../reports/formats/document.ts';
import { tableOf } from '../../../reports/formats/terminal/layout.ts';
import { inUnits, withCommas } from '../../../reports/formats/words.ts';
import { SUMMARY_COLUMNS, summarize, type SummaryPart } from '../../../reports/summary.ts';
import type { Store } from '../../../store/port.ts';
import { summaryParts } from '../../../store/reports/summary.ts';
import { screenOf } from '../../shared/screen.ts';

const FINDING_COLUMNS: readonly Column[] = [
  { key: 'severity', label: 'Severity', kind: 'severity' },
  { key: 'class', label: 'Class', kind: 'text' },
  { key: 'external_order_id', label: 'Order', kind: 'text' },
  { key: 'expected', label: 'Expected', kind: 'text', rank: 1 },
  { key: 'actual', label: 'Actual', kind: 'text', rank: 1 },
];
/** The defaults of the settings. */
const SETTINGS = { tolerance: '0', freshFor: 24 * 60 * 60_000, orderMissingAfter: 24 * 60 * 60_000, ignore: [] };

/** What is reported on: the orders of the accounts, and the findings that the report has to list. */
export interface Verdict {
  readonly store: Store;
  readonly clock: Clock;
  readonly accounts: readonly string[];
  readonly expected: readonly string[];
}

/** The table of the summary. */
export async function summaryOf({ store, accounts }: Pick<Verdict, 'store' | 'accounts'>): Promise<string> {
  const parts: SummaryPart[] = [];
  for (const account of accounts) parts.push(...(await Array.fromAsync(summaryParts(store, { account }))));
  const columns = SUMMARY_COLUMNS.filter((column) => !('isForPrograms' in column));
  const only = onlyOf(accounts);
  return tableOf([...accountColumns(only), ...columns], summarize(parts, only === undefined), screenOf());
}

/** The account, where there is one alone. */
function onlyOf(accounts: readonly string[]): string | undefined {
  return accounts.length === 1 ? accounts[0] : undefined;
}

/** Says how late the changes of the orders were seen; undefined where it is known of none. */
export async function lateChanges({ store, clock, accounts }: Omit<Verdict, 'expected'>): Promise<string | undefined> {
  const { signal } = new AbortController();
  const lateMs: number[] = [];
  for (const account of accounts) {
    const { stays } = await readHistory({ account, store: store.forAccount(account), clock }, signal);
    for (const stay of stays) if (stay.isByExchange && stay.lateMs !== undefined) lateMs.push(stay.lateMs);
  }
  const late = latenessOf(lateMs);
  if (late === undefined) return undefined;
  const { changes, meanMs, p95Ms } = late;
  const seen = changes === 1 ? 'One change was' : `${withCommas(changes)} changes were`;
  return `${seen} seen ${inUnits(meanMs)} after the exchange made them in the mean, 95 % within ${inUnits(p95Ms)}.`;
}

/** Prints the verdict and the findings of the reconciliation report. True when it lists the expected findings and no others. */
export async function reconcileDemo(verdict: Verdict, print: (line: string) => void): Promise<boolean> {
  const { store, clock, accounts, expected } = verdict;
  const asOf = clock.now().toISOString();
  const request = { account: onlyOf(accounts), drivenAccounts: accounts, asOf, settings: SETTINGS };
  using report = await reconcileOrders({ store, clock }, request);
  const { facts, sections } = report.document;
  const fact = (key: string) => facts.find((one) => one.key === key)?.value;
  const because = fact('because');
  const of = accounts.length === 1 ? '' : ` of ${accounts.length} accounts`;
  print(
    `Reconciliation of ${fact('orders')} orders${of}: ${fact('verdict')}${because === null ? '' : ` (${because})`}.`,
  );
  const findings: Row[] = [];
  for await (const row of sections.find(({ name }) => name === 'findings')?.rows ?? []) findings.push(row);
  if (findings.length > 0) print(tableOf(FINDING_COLUMNS, findings, screenOf()).trimEnd());
  const listed = findings.map((row) => `${row['class']} ${row['external_order_id']}`);
  const missing = expected.filter((finding) => !listed.includes(finding));
  const others = listed.filter((finding) => !expected.includes(finding));
  for (const finding of missing) print(`Not found: ${finding}`);
  for (const finding of others) print(`Found, although nobody tampered: ${finding}`);
  const isExact = missing.length === 0 && others.length === 0;
  if (isExact && expected.length > 0)
    print(`It lists the ${expected.length} orders that were tampered with, and no other.`);
  return isExact;
}
