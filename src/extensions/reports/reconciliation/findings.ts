import type { AmountSettings } from '../../../base/decimal.ts';
import { FINDING_CLASSES, SEVERITIES, type FindingClass, type Severity } from '../../../findings/rules/classes.ts';
import type { Finding } from '../../../findings/rules/finding.ts';
import { instantMs } from '../../../base/instant.ts';
import { accountAdvice, accountColumns } from '../../documents/sections.ts';
import type { Cell, Column, GroupHead, Row, Section } from '../../documents/document.ts';
import { printable, capitalized, cut, inWords } from '../../../base/words.ts';
import { currencyOfRow, dayOf, pairOf, type AmountRow, type KnownFindingRow, type ReconciledRow } from './rows.ts';
import { UNCHECKED, UNCHECKED_REASONS, type UncheckedReason } from './judge.ts';

/** A finding as the report lists it. `id` is the argument of `findings ack`; null if only the report found it. */
export type ReportFinding = Readonly<{
  id: number | null;
  /** 1 for an error, 2 for a warning, 3 for an info. */
  rank: number;
  severity: string;
  class: string;
  status: string;
  account: string;
  external_order_id: string;
  pair: string;
  day: string;
  expected: string | null;
  actual: string | null;
  /** Of both values, where they are amounts. */
  currency: string | null;
  since: string | null;
  reason: string | null;
}>;

const FINDING_COLUMNS: readonly Column[] = [
  { key: 'id', label: 'Id', kind: 'count' },
  { key: 'severity', label: 'Severity', kind: 'severity' },
  { key: 'class', label: 'Class', kind: 'text' },
  { key: 'status', label: 'Status', kind: 'text' },
  { key: 'external_order_id', label: 'Order', kind: 'text' },
  { key: 'day', label: 'Day', kind: 'text', rank: 2 },
  { key: 'pair', label: 'Pair', kind: 'text', rank: 2 },
  { key: 'expected', label: 'Expected', kind: 'text' },
  { key: 'actual', label: 'Actual', kind: 'text' },
  { key: 'currency', label: 'Currency', kind: 'text', rank: 2 },
  { key: 'since', label: 'Since', kind: 'time', rank: 2 },
  { key: 'reason', label: 'Reason given', kind: 'text', rank: 2 },
];
const ATTENTION_COLUMNS: readonly Column[] = [
  { key: 'external_order_id', label: 'Order', kind: 'text' },
  { key: 'expected', label: 'We expected', kind: 'text' },
  { key: 'actual', label: 'We found', kind: 'text' },
  { key: 'age', label: 'Age', kind: 'text', rank: 1 },
  { key: 'pair', label: 'Pair', kind: 'text', rank: 2 },
  { key: 'day', label: 'Day', kind: 'text', rank: 3 },
  { key: 'status', label: 'Status', kind: 'text', rank: 3 },
  { key: 'reason', label: 'Reason given', kind: 'text', rank: 3 },
  { key: 'id', label: 'Id', kind: 'count', rank: 1 },
];
const LONGEST_IN_LINE = 60;

type CurrencySettings = Pick<AmountSettings, 'outputPosition'>;

/** Gives a stored finding as it was at `asOf`: later decisions do not count. */
export function knownFinding(row: KnownFindingRow, asOf: string, settings: CurrencySettings): ReportFinding {
  const { id, severity, first_seen_at: since } = row;
  const isAcknowledged = row.status !== 'open' && row.changed_at !== null && row.changed_at <= asOf;
  const status = isAcknowledged ? 'acknowledged' : 'open';
  return { id, status, since, reason: isAcknowledged ? row.reason : null, ...listed(row, severity, row, settings) };
}

export function derivedFinding(row: ReconciledRow, finding: Finding, settings: CurrencySettings): ReportFinding {
  const { severity } = FINDING_CLASSES[finding.class];
  return { id: null, status: 'open', since: null, reason: null, ...listed(row, severity, finding, settings) };
}

export function wantsPerson({ status, severity }: Pick<ReportFinding, 'status' | 'severity'>): boolean {
  return status === 'open' && severity !== 'info';
}

export function findingLine(finding: ReportFinding, isOfAll: boolean): string {
  const { expected, actual } = valuesOf(finding);
  const values = [finding.external_order_id, expected ?? 'nothing', actual ?? 'nothing'];
  const [order, ours, theirs] = values.map((one) => cut(one, LONGEST_IN_LINE));
  const of = isOfAll ? `${finding.account} ` : '';
  return printable(`${finding.severity} ${finding.class} ${of}${order}: expected ${ours}, is ${theirs}`);
}

export function findingsSection(findings: Iterable<ReportFinding>, account: string | undefined): Section {
  const columns = [...accountColumns(account), ...FINDING_COLUMNS];
  return { name: 'findings', title: 'Findings', columns, rows: findings, isForPrograms: true };
}

/** Leaves out the findings of orders that could not be checked: these have a section of their own. */
export function attentionSection(
  findings: Iterable<ReportFinding>,
  { account, asOf }: { readonly account: string | undefined; readonly asOf: string },
): Section {
  return {
    name: 'attention',
    title: 'Findings',
    part: 'attention',
    lead: leadOf(account),
    empty: 'There is no finding.',
    columns: [...accountColumns(account), ...ATTENTION_COLUMNS],
    rows: attentionRows(findings, instantMs(asOf) ?? 0),
    groups: { key: 'group', describe: headOf },
    isForPeople: true,
  };
}

function leadOf(account: string | undefined): string {
  const words = accountAdvice(account);
  return `A finding is something that does not agree, is late or odd. For whoever runs order-sync: order-sync orders explain ORDER${words} tells the story of an order, and order-sync findings ack ID${words} --reason TEXT says that a finding has been dealt with.`;
}

function* attentionRows(findings: Iterable<ReportFinding>, asOfMs: number): Generator<Row> {
  for (const finding of findings) {
    if (finding.class === 'UNCHECKED') continue;
    const sinceMs = instantMs(finding.since);
    const age = sinceMs === undefined ? null : inWords(asOfMs - sinceMs);
    yield { ...finding, ...valuesOf(finding), age, group: groupOf(finding) };
  }
}

function valuesOf({ expected, actual, currency }: ReportFinding): Pick<ReportFinding, 'expected' | 'actual'> {
  const shown = (value: string | null) => (value === null || currency === null ? value : `${value} ${currency}`);
  return { expected: shown(expected), actual: shown(actual) };
}

function groupOf({ class: name, severity, status }: Pick<ReportFinding, 'class' | 'severity' | 'status'>): string {
  return JSON.stringify([name, severity, status]);
}

function headOf(group: Cell): GroupHead {
  const [name, severity, status] = JSON.parse(String(group)) as [string, string, string];
  const { meaning, advice } = (FINDING_CLASSES as Readonly<Record<string, FindingClass>>)[name] ?? {
    meaning: 'This version does not know this class of findings.',
    advice: 'look at both values.',
  };
  const titled = (what: string) => `${capitalized(what)}: ${wordsOf(name)} (${name})`;
  if (status === 'open') {
    const lines = [meaning, `What to do: ${advice}`];
    return { title: titled(severity), tone: gravityOf(severity), lines };
  }
  const lines = [meaning, 'A person has dealt with it, so it does not count.'];
  return { title: titled(status), tone: 'neutral', lines };
}

function wordsOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll('_', ' ')
    .replace('preorder', 'pre-order')
    .replace(/\btx\b/, 'transaction');
}

/** A severity of another version may be that of an error. */
function gravityOf(severity: string): Severity {
  return SEVERITIES.find((one) => one === severity) ?? 'error';
}

function listed(
  row: AmountRow & Pick<KnownFindingRow, 'account' | 'external_order_id' | 'at'>,
  severity: string,
  { class: name, expected, actual }: Pick<KnownFindingRow, 'class' | 'expected' | 'actual'>,
  settings: CurrencySettings,
) {
  return {
    rank: SEVERITIES.indexOf(gravityOf(severity)) + 1,
    severity,
    class: name,
    account: row.account,
    external_order_id: row.external_order_id ?? '?',
    pair: pairOf(row),
    day: dayOf(row.at),
    expected,
    actual,
    currency: name === 'AMOUNT_MISMATCH' ? currencyOfRow(row, settings) : null,
  };
}

/** An order that was not compared with the exchange, or is disputed. Times are UTC, ISO 8601. */
export type UncheckedOrder = Readonly<{
  reason: UncheckedReason | 'disputed';
  account: string;
  external_order_id: string;
  pair: string;
  state: string;
  /** When the order last changed, or was inserted. */
  since: string;
  last_lookup: string | null;
  state_reason: string | null;
}>;

/** The most orders of a reason that are listed: the longest waits. The others are only counted. */
export const MOST_UNCHECKED = 500;

const COLUMNS: readonly Column[] = [
  { key: 'external_order_id', label: 'Order', kind: 'text' },
  { key: 'reason', label: 'Reason', kind: 'text' },
  { key: 'pair', label: 'Pair', kind: 'text', rank: 1 },
  { key: 'state', label: 'State', kind: 'state' },
  { key: 'age', label: 'Unchanged for', kind: 'text' },
  { key: 'since', label: 'Unchanged since', kind: 'time', rank: 2 },
  { key: 'last_lookup', label: 'Last look-up', kind: 'time', rank: 1 },
];
const DISPUTED_COLUMNS: readonly Column[] = [
  { key: 'external_order_id', label: 'Order', kind: 'text' },
  { key: 'state_reason', label: 'Why', kind: 'text' },
  { key: 'pair', label: 'Pair', kind: 'text', rank: 1 },
  { key: 'age', label: 'Unchanged for', kind: 'text', rank: 1 },
  { key: 'since', label: 'Unchanged since', kind: 'time', rank: 2 },
  { key: 'last_lookup', label: 'Last look-up', kind: 'time', rank: 2 },
];
const COUNT_COLUMNS: readonly Column[] = [
  { key: 'reason', label: 'Reason', kind: 'text' },
  { key: 'orders', label: 'Orders', kind: 'count' },
];

type OfReport = { readonly account: string | undefined; readonly asOf: string };

/** The section of the orders that were not checked, by reason. `counts` are those of all of them. */
export function uncheckedOrdersSection(
  orders: Iterable<UncheckedOrder>,
  counts: ReadonlyMap<UncheckedReason, number>,
  { account, asOf }: OfReport,
): Section {
  return {
    name: 'unchecked_orders',
    title: 'Orders that could not be checked',
    part: 'attention',
    empty: 'No order is left unchecked.',
    columns: [...accountColumns(account), ...COLUMNS],
    rows: orderRows(orders, instantMs(asOf) ?? 0),
    groups: {
      key: 'reason',
      describe: (value) => {
        const reason = UNCHECKED_REASONS.find((one) => UNCHECKED[one][0] === value) ?? 'neverLookedUp';
        const [text, advice] = UNCHECKED[reason];
        const all = counts.get(reason) ?? 0;
        const most = `Of ${all} orders those ${MOST_UNCHECKED} are listed that have waited the longest.`;
        const lines = [`What to do: ${advice}`, ...(all > MOST_UNCHECKED ? [most] : [])];
        return { title: capitalized(text), tone: 'warning', lines };
      },
    },
  };
}

/** The section of the disputed orders; it lists no more orders than a reason above. */
export function disputedOrdersSection(
  orders: Iterable<UncheckedOrder>,
  count: number,
  { account, asOf }: OfReport,
): Section {
  const lead =
    'An order of the exchange answers for the id of ours and contradicts it. Pay and deliver nothing for it until a person has decided: order-sync orders resolve ORDER --as ours|abandoned --reason TEXT.';
  const most = ` Of ${count} orders those ${MOST_UNCHECKED} are listed that have been disputed the longest.`;
  return {
    name: 'disputed_orders',
    title: 'Disputed orders',
    part: 'attention',
    lead: count > MOST_UNCHECKED ? lead + most : lead,
    isForPrograms: count === 0,
    columns: [...accountColumns(account), ...DISPUTED_COLUMNS],
    rows: orderRows(orders, instantMs(asOf) ?? 0),
  };
}

export function uncheckedSection(counts: ReadonlyMap<UncheckedReason, number>): Section {
  const rows = UNCHECKED_REASONS.map((reason) => ({ reason: UNCHECKED[reason][0], orders: counts.get(reason) ?? 0 }));
  const found = rows.filter(({ orders }) => orders > 0);
  return { name: 'unchecked', title: 'Unchecked orders', columns: COUNT_COLUMNS, rows: found, isForPrograms: true };
}

function* orderRows(orders: Iterable<UncheckedOrder>, asOfMs: number): Generator<Row> {
  for (const { reason, ...order } of orders) {
    const sinceMs = instantMs(order.since);
    const age = sinceMs === undefined ? null : inWords(asOfMs - sinceMs);
    yield { ...order, reason: reason === 'disputed' ? null : UNCHECKED[reason][0], age };
  }
}
