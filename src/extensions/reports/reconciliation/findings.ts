import type { AmountSettings } from '../../../base/decimal.ts';
import { FINDING_CLASSES, SEVERITIES, type FindingClass, type Severity } from '../../../findings/rules/classes.ts';
import type { Finding } from '../../../findings/rules/finding.ts';
import { instantMs } from '../../../base/instant.ts';
import { accountAdvice, accountColumns } from '../../documents/sections.ts';
import type { Column, GroupHead, Row, Section } from '../../documents/document.ts';
import type { Cell } from '../../../cli/shared/terminal.ts';
import { printable, capitalized, cut, inWords } from '../../../base/words.ts';
import type { KnownFindingRow, ReconciledRow } from '../tables/reconciliation.ts';
import { currencyOfRow, dayOf, pairOf } from './rows.ts';
import { UNCHECKED, UNCHECKED_REASONS, type JudgedOrder, type UncheckedReason } from './judge.ts';

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

const ORDER: Column = { key: 'external_order_id', label: 'Order', kind: 'text', isId: true };
const PAIR: Column = { key: 'pair', label: 'Pair', kind: 'text', rank: 2 };
const FINDING_COLUMNS: readonly Column[] = [
  { key: 'id', label: 'Id', kind: 'count' },
  { key: 'severity', label: 'Severity', kind: 'severity' },
  { key: 'class', label: 'Class', kind: 'text' },
  { key: 'status', label: 'Status', kind: 'text' },
  ORDER,
  { key: 'day', label: 'Day', kind: 'text', rank: 2 },
  PAIR,
  { key: 'expected', label: 'Expected', kind: 'text' },
  { key: 'actual', label: 'Actual', kind: 'text' },
  { key: 'currency', label: 'Currency', kind: 'text', rank: 2 },
  { key: 'since', label: 'Since', kind: 'time', rank: 2 },
  { key: 'reason', label: 'Reason given', kind: 'text', rank: 2 },
];
const ATTENTION_COLUMNS: readonly Column[] = [
  ORDER,
  { key: 'expected', label: 'We expected', kind: 'text' },
  { key: 'actual', label: 'We found', kind: 'text' },
  { key: 'age', label: 'Age', kind: 'text', rank: 1 },
  PAIR,
  { key: 'day', label: 'Day', kind: 'text', rank: 3 },
  { key: 'status', label: 'Status', kind: 'text', rank: 3 },
  { key: 'reason', label: 'Reason given', kind: 'text', rank: 3 },
  { key: 'id', label: 'Id', kind: 'count', rank: 1 },
];
const LONGEST_IN_LINE = 60;

type CurrencySettings = Pick<AmountSettings, 'outputPosition'>;

/** Gives a stored finding as it was at `asOf`: later decisions do not count. */
export function knownFinding(row: KnownFindingRow, asOf: string, settings: CurrencySettings): ReportFinding {
  const { id, acknowledged_at: at } = row;
  const isAcknowledged = row.status !== 'open' && at !== null && at <= asOf;
  const [status, reason] = isAcknowledged ? ['acknowledged', row.reason] : ['open', null];
  return { id, status, since: row.first_seen_at, reason, ...listed(row, row, settings) };
}

export function derivedFinding(row: ReconciledRow, finding: Finding, settings: CurrencySettings): ReportFinding {
  const { severity } = FINDING_CLASSES[finding.class];
  return { id: null, status: 'open', since: null, reason: null, ...listed(row, { ...finding, severity }, settings) };
}

function listed(
  row: KnownFindingRow | ReconciledRow,
  { class: name, severity, expected, actual }: Pick<KnownFindingRow, 'class' | 'severity' | 'expected' | 'actual'>,
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

interface OfReport {
  readonly account: string | undefined;
  readonly asOf: string;
}

export function findingsSection(findings: Iterable<ReportFinding>, { account }: OfReport): Section {
  const columns = [...accountColumns(account), ...FINDING_COLUMNS];
  return { name: 'findings', title: 'Findings', columns, rows: findings, isForPrograms: true };
}

/** Leaves out the findings of orders that could not be checked: these have a section of their own. */
export function attentionSection(findings: Iterable<ReportFinding>, { account, asOf }: OfReport): Section {
  const words = accountAdvice(account);
  return {
    name: 'attention',
    title: 'Findings',
    part: 'attention',
    lead: `A finding is something that does not agree, is late or odd. For whoever runs order-sync: order-sync orders explain ORDER${words} tells the story of an order, and order-sync findings ack ID${words} --reason TEXT says that a finding has been dealt with.`,
    empty: 'There is no finding.',
    columns: [...accountColumns(account), ...ATTENTION_COLUMNS],
    rows: attentionRows(findings, asOf),
    groups: { key: 'group', describe: headOf },
    isForPeople: true,
  };
}

function* attentionRows(findings: Iterable<ReportFinding>, asOf: string): Generator<Row> {
  for (const finding of findings) {
    const { class: name, severity, status, since } = finding;
    const group = JSON.stringify([name, severity, status]);
    if (name !== 'UNCHECKED') yield { ...finding, ...valuesOf(finding), age: ageOf(since, asOf), group };
  }
}

function valuesOf({ expected, actual, currency }: ReportFinding): Pick<ReportFinding, 'expected' | 'actual'> {
  const shown = (value: string | null) => (value === null || currency === null ? value : `${value} ${currency}`);
  return { expected: shown(expected), actual: shown(actual) };
}

function ageOf(since: string | null, asOf: string): string | null {
  const ms = instantMs(since);
  return ms === undefined ? null : inWords((instantMs(asOf) ?? 0) - ms);
}

function headOf(group: Cell): GroupHead {
  const [name, severity, status] = JSON.parse(String(group)) as [string, string, string];
  const { meaning, advice } = (FINDING_CLASSES as Readonly<Record<string, FindingClass>>)[name] ?? {
    meaning: 'This version does not know this class of findings.',
    advice: 'look at both values.',
  };
  const words = name.toLowerCase().replaceAll('_', ' ').replace('preorder', 'pre-order');
  const titled = (what: string) => `${capitalized(what)}: ${words.replace(/\btx\b/, 'transaction')} (${name})`;
  if (status === 'open') {
    return { title: titled(severity), tone: gravityOf(severity), lines: [meaning, `What to do: ${advice}`] };
  }
  const lines = [meaning, 'A person has dealt with it, so it does not count.'];
  return { title: titled(status), tone: 'neutral', lines };
}

/** A severity of another version may be that of an error. */
function gravityOf(severity: string): Severity {
  return SEVERITIES.find((one) => one === severity) ?? 'error';
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

/** Undefined if the order was checked, or there is nothing to check. */
export function uncheckedOrder({ row, judgement }: JudgedOrder): UncheckedOrder | undefined {
  if (judgement.kind !== 'unchecked' && judgement.kind !== 'disputed') return undefined;
  const { account, external_order_id, state, state_reason, last_lookup_at: last_lookup } = row;
  const reason = judgement.kind === 'unchecked' ? judgement.reason : judgement.kind;
  const since = row.changed_at ?? row.created_at;
  return { account, external_order_id, reason, pair: pairOf(row), state, since, last_lookup, state_reason };
}

/** The most orders of a reason that are listed: the longest waits. The others are only counted. */
export const MOST_UNCHECKED = 500;

const REASON: Column = { key: 'reason', label: 'Reason', kind: 'text' };
const AGE: Column = { key: 'age', label: 'Unchanged for', kind: 'text' };
const SINCE: Column = { key: 'since', label: 'Unchanged since', kind: 'time', rank: 2 };
const LOOK_UP: Column = { key: 'last_lookup', label: 'Last look-up', kind: 'time', rank: 1 };

/** The section of the orders that were not checked, by reason. `counts` are those of all of them. */
export function uncheckedOrdersSection(
  orders: Iterable<UncheckedOrder>,
  counts: ReadonlyMap<UncheckedReason, number>,
  { account, asOf }: OfReport,
): Section {
  const state: Column = { key: 'state', label: 'State', kind: 'state' };
  const columns = [ORDER, REASON, { ...PAIR, rank: 1 }, state, AGE, SINCE, LOOK_UP];
  return {
    name: 'unchecked_orders',
    title: 'Orders that could not be checked',
    part: 'attention',
    empty: 'No order is left unchecked.',
    columns: [...accountColumns(account), ...columns],
    rows: orderRows(orders, asOf),
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
  const why: Column = { key: 'state_reason', label: 'Why', kind: 'text' };
  const columns = [ORDER, why, { ...PAIR, rank: 1 }, { ...AGE, rank: 1 }, SINCE, { ...LOOK_UP, rank: 2 }];
  return {
    name: 'disputed_orders',
    title: 'Disputed orders',
    part: 'attention',
    lead: count > MOST_UNCHECKED ? lead + most : lead,
    isForPrograms: count === 0,
    columns: [...accountColumns(account), ...columns],
    rows: orderRows(orders, asOf),
  };
}

function* orderRows(orders: Iterable<UncheckedOrder>, asOf: string): Generator<Row> {
  for (const { reason, ...order } of orders) {
    yield { ...order, reason: reason === 'disputed' ? null : UNCHECKED[reason][0], age: ageOf(order.since, asOf) };
  }
}

export function uncheckedSection(counts: ReadonlyMap<UncheckedReason, number>): Section {
  const columns: readonly Column[] = [REASON, { key: 'orders', label: 'Orders', kind: 'count' }];
  const rows = UNCHECKED_REASONS.map((reason) => ({ reason: UNCHECKED[reason][0], orders: counts.get(reason) ?? 0 }));
  const found = rows.filter(({ orders }) => orders > 0);
  return { name: 'unchecked', title: 'Unchecked orders', columns, rows: found, isForPrograms: true };
}
