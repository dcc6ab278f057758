import type { AmountSettings } from '../../../base/decimal.ts';
import { findingClass, placeOfFinding, QUESTION_OF_OWN } from '../../operate/finding-classes.ts';
import { FINDING_CLASSES, SEVERITIES } from '../../../findings/rules/classes.ts';
import type { Finding } from '../../../findings/rules/finding.ts';
import { instantMs } from '../../../base/instant.ts';
import { accountAdvice, accountColumns } from '../../documents/sections.ts';
import type { Column, GroupHead, Row, Section } from '../../documents/document.ts';
import type { KnownFindingRow, ReconciledRow } from '../tables/reconciliation.ts';
import { currencyOfRow, dayOf, pairOf } from './rows.ts';
import { UNCHECKED, UNCHECKED_REASONS, type JudgedOrder, type UncheckedReason } from './judge.ts';
import { capitalized, inWords } from '../../documents/words.ts';

const ORDER: Column = { key: 'external_order_id', label: 'Order', kind: 'text', isId: true };
const PAIR: Column = { key: 'pair', label: 'Pair', kind: 'text', rank: 2 };
const FINDING_COLUMNS: readonly Column[] = [
  { key: 'id', label: 'Id', kind: 'count' },
  { key: 'severity', label: 'Severity', kind: 'severity' },
  { key: 'class', label: 'Class', kind: 'text' },
  { key: 'status', label: 'Status', kind: 'text' },
  ORDER,
  { key: 'day', label: 'Day (UTC)', kind: 'day', rank: 2 },
  PAIR,
  { key: 'expected', label: 'Expected', kind: 'text' },
  { key: 'actual', label: 'Found', kind: 'text' },
  { key: 'currency', label: 'Currency', kind: 'text', rank: 2 },
  { key: 'since', label: 'Since', kind: 'time', rank: 2 },
  { key: 'reason', label: 'Reason given', kind: 'text', rank: 2 },
];
type CurrencySettings = Pick<AmountSettings, 'outputPosition'>;

/** `id` is the argument of `findings ack`; null if only the report found the finding. */
export type ReportFinding = Readonly<ReturnType<typeof listed>>;

/** Returns a stored finding with its status at `asOf` and its newest values, because older values are not stored. */
export function knownFinding(row: KnownFindingRow, asOf: string, settings: CurrencySettings): ReportFinding {
  const { id, acknowledged_at: at, first_seen_at: since } = row;
  const isAcknowledged = row.status !== 'open' && at !== null && at <= asOf;
  const [status, reason] = isAcknowledged ? ['acknowledged', row.reason] : [row.is_decided ? 'decided' : 'open', null];
  return listed(row, { ...row, id, status, since, reason }, settings);
}

export function derivedFinding(row: ReconciledRow, finding: Finding, settings: CurrencySettings): ReportFinding {
  const { severity } = FINDING_CLASSES[finding.class];
  return listed(row, { ...finding, severity, id: null, status: 'open', since: null, reason: null }, settings);
}

interface FindingFields extends Pick<KnownFindingRow, 'class' | 'severity' | 'expected' | 'actual' | 'reason'> {
  readonly id: number | null;
  readonly status: string;
  readonly since: string | null;
}

function listed(row: KnownFindingRow | ReconciledRow, finding: FindingFields, settings: CurrencySettings) {
  const { id, status, since, reason, class: name, severity, expected, actual } = finding;
  const fields = { id, status, since, reason, class: name, severity, expected, actual };
  return {
    ...fields,
    rank: placeOfFinding(severity, name),
    account: row.account,
    external_order_id: row.external_order_id ?? '?',
    pair: pairOf(row),
    day: dayOf(row.at),
    currency: name === 'AMOUNT_MISMATCH' ? currencyOfRow(row, settings) : null,
  };
}

export function wantsPerson({ status, severity }: Pick<ReportFinding, 'status' | 'severity'>): boolean {
  return status === 'open' && severity !== 'info';
}

type OfReport = { readonly account: string | undefined; readonly asOf: string };

export function findingsSection(findings: Iterable<ReportFinding>, { account }: OfReport): Section {
  const words = accountAdvice(account);
  return {
    name: 'findings',
    title: 'Findings',
    part: 'attention',
    lead: `A finding is a difference between the two sides, a delay, or another doubt about an order. order-sync report explain CLASS says what a class means and what to do, order-sync orders explain ORDER${words} tells the story of an order, and order-sync findings ack ID${words} --reason TEXT marks a finding as dealt with.`,
    empty: 'There are no findings.',
    columns: [...accountColumns(account), ...FINDING_COLUMNS],
    rows: findings,
    groups: { describe: (row) => headOf(row, words), says: ['severity', 'class', 'status'] },
  };
}

function headOf(row: Row, words: string): GroupHead {
  const [name, status] = [String(row['class']), String(row['status'])];
  if (status === 'open') return findingHead(name, String(row['severity']));
  const advice =
    status === 'decided'
      ? `A person has decided about the orders of these findings. To acknowledge the findings: order-sync findings ack --class ${name} --decided --reason TEXT${words}.`
      : 'Nothing. A person has acknowledged these findings.';
  const { meaning = '' } = findingHead(name, '');
  return { title: `${name} (${status})`, meaning, advice };
}

const UNKNOWN = 'This version of order-sync does not know this class of findings.';

export function findingHead(name: string, severity: string): GroupHead {
  const { meaning = UNKNOWN, advice = 'Compare both values.' } = findingClass(name) ?? {};
  const part = severity === 'info' ? ({ part: 'details' } as const) : {};
  // Another version may have stored a severity that this version does not have.
  const tone = SEVERITIES.find((one) => one === severity) ?? 'error';
  return { title: `${name} (${severity})`, ...part, tone, meaning, advice };
}

export type UncheckedOrder = Readonly<NonNullable<ReturnType<typeof uncheckedOrder>>>;

export function uncheckedOrder({ row, judgement }: JudgedOrder) {
  if (judgement === 'checked' || judgement === 'nothing') return undefined;
  const { account, external_order_id, state, state_reason, last_lookup_at: last_lookup } = row;
  const since = row.changed_at ?? row.created_at;
  return { account, external_order_id, reason: judgement, pair: pairOf(row), state, since, last_lookup, state_reason };
}

/** The most orders that are listed for one reason, the longest waits first. Further orders are only counted. */
export const MOST_UNCHECKED = 500;

type Counts = ReadonlyMap<UncheckedReason, number>;

const REASON: Column = { key: 'reason', label: 'Reason', kind: 'text' };
const AGE: Column = { key: 'age', label: 'Unchanged for', kind: 'text' };
const SINCE: Column = { key: 'since', label: 'Unchanged since', kind: 'time', rank: 2 };
const LOOK_UP: Column = { key: 'last_lookup', label: 'Last look-up', kind: 'time', rank: 1 };

export function uncheckedOrdersSection(orders: Iterable<UncheckedOrder>, counts: Counts, report: OfReport): Section {
  const { account, asOf } = report;
  const state: Column = { key: 'state', label: 'State', kind: 'state' };
  const columns = [ORDER, REASON, { ...PAIR, rank: 1 }, state, AGE, SINCE, LOOK_UP];
  return {
    name: 'unchecked_orders',
    title: 'Orders not checked',
    part: 'attention',
    empty: 'All orders that can be compared were checked.',
    columns: [...accountColumns(account), ...columns],
    rows: orderRows(orders, asOf),
    groups: {
      says: ['reason'],
      describe: (row) => {
        const reason = UNCHECKED_REASONS.find((one) => UNCHECKED[one][0] === row['reason']) ?? 'neverLookedUp';
        const all = counts.get(reason) ?? 0;
        const most = `Of ${all} orders, the ${MOST_UNCHECKED} that have waited the longest are listed.`;
        return { ...uncheckedHead(reason), ...(all > MOST_UNCHECKED && { meaning: most }) };
      },
    },
  };
}

export function uncheckedHead(reason: UncheckedReason): GroupHead {
  const [text, advice] = UNCHECKED[reason];
  return { title: capitalized(text), tone: 'warning', advice };
}

export const DISPUTED: GroupHead = {
  title: 'Disputed orders',
  tone: 'error',
  meaning: 'The exchange has an order with the same id that contradicts ours.',
  advice: `Do not pay or deliver for these orders until a person has decided. If an order is not yours, first ask the exchange ${QUESTION_OF_OWN}, then run order-sync orders resolve ORDER --as abandoned --reason TEXT. If an order is yours, run order-sync orders resolve ORDER --as ours --reason TEXT.`,
};

export function disputedOrdersSection(orders: Iterable<UncheckedOrder>, count: number, report: OfReport): Section {
  const { account, asOf } = report;
  const { title, meaning, advice } = DISPUTED;
  const most = `Of ${count} orders, the ${MOST_UNCHECKED} that have been disputed the longest are listed.`;
  const why: Column = { key: 'state_reason', label: 'Why', kind: 'text' };
  const columns = [ORDER, why, { ...PAIR, rank: 1 }, { ...AGE, rank: 1 }, SINCE, { ...LOOK_UP, rank: 2 }];
  return {
    name: 'disputed_orders',
    title,
    part: 'attention',
    lead: [meaning, advice, ...(count > MOST_UNCHECKED ? [most] : [])].join(' '),
    isForPrograms: count === 0,
    columns: [...accountColumns(account), ...columns],
    rows: orderRows(orders, asOf),
  };
}

function orderRows(orders: Iterable<UncheckedOrder>, asOf: string): Iterable<Row> {
  return Iterator.from(orders).map(({ reason, ...order }) => {
    const ms = instantMs(order.since);
    const age = ms === undefined ? null : inWords((instantMs(asOf) ?? 0) - ms);
    return { ...order, reason: reason === 'disputed' ? null : UNCHECKED[reason][0], age };
  });
}

export function uncheckedSection(counts: Counts): Section {
  const columns: readonly Column[] = [REASON, { key: 'orders', label: 'Orders', kind: 'count' }];
  const rows = UNCHECKED_REASONS.map((reason) => ({ reason: UNCHECKED[reason][0], orders: counts.get(reason) ?? 0 }));
  const found = rows.filter(({ orders }) => orders > 0);
  return { name: 'unchecked', title: 'Unchecked orders by reason', columns, rows: found, isForPrograms: true };
}
