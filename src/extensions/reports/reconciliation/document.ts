import { accountFact, periodFacts, type ReportScope, accountColumns } from '../../documents/sections.ts';
import type { Column, Fact, ReportDocument, Section } from '../../documents/document.ts';
import { findingsSection, disputedOrdersSection, uncheckedOrdersSection, uncheckedSection } from './findings.ts';
import type { ReconciliationSettings } from './judge.ts';
import { FOLDED, moneyDaysSection, moneySection } from './money.ts';
import { dayOf } from './rows.ts';
import { DAY_COLUMNS, PAIR_COLUMNS } from './totals.ts';
import { cardsOf, EMPTY, problemsOf, rowsOf, verdictOf, type Problem, type Reconciled } from './verdict.ts';

export interface ReconciliationScope extends ReportScope {
  readonly asOf: string;
  readonly settings: ReconciliationSettings;
  readonly isWhole?: boolean | undefined;
}

const CLASSES: readonly Column[] = [
  { key: 'day', label: 'Day (UTC)', kind: 'day' },
  { key: 'pair', label: 'Pair', kind: 'text' },
  { key: 'class', label: 'Class', kind: 'text' },
  { key: 'severity', label: 'Severity', kind: 'severity' },
  { key: 'open', label: 'Open', kind: 'count' },
  { key: 'acknowledged', label: 'Acknowledged', kind: 'count' },
];
const ACCOUNT_COUNTS: readonly string[] = [
  'orders',
  'at_exchange',
  'checked',
  'unchecked',
  'disputed',
  'nothing_to_compare',
  'errors',
  'warnings',
  'infos',
  'acknowledged',
];
const RULE =
  'Clean: no order is unchecked or disputed, no finding of severity error or warning is open, no row is left out, no ledger differs, and no pre-order stayed unanswered. Acknowledged findings and findings of severity info are listed and do not count.';
const BY_COMPLETION = 'An order without a readable completion date is in no period.';
const OUTCOME_UNKNOWN = 'Final with an unknown outcome, or changed after "As of"';
const IGNORED = 'Classes of findings that are left out (reconcile.ignore)';

export type ReconciliationReport = { readonly document: ReportDocument; readonly isClean: boolean };

export function reconciliationDocument(scope: ReconciliationScope, reconciled: Reconciled): ReconciliationReport {
  const { totals, charts, supplements } = reconciled;
  const { from, to, asOf, isWhole } = scope;
  const found = problemsOf(reconciled);
  const isEmpty = totals.counts().orders === 0 && found.length === 0;
  const problems = isEmpty && scope.mayBeEmpty !== true ? [EMPTY] : found;
  const end = to === undefined || to > asOf ? asOf : new Date(Date.parse(to) - 1).toISOString();
  const period = from === undefined || from > end ? [] : [dayOf(from), dayOf(end)];
  const drawn = charts.charts(totals.groups(), period);
  const document: ReportDocument = {
    schema: 'order-sync.reconciliation/1',
    title: 'Reconciliation of our orders with the exchange',
    verdict: verdictOf(reconciled, problems),
    cards: isEmpty ? [] : cardsOf(reconciled),
    facts: [...factsOf(scope, reconciled, problems), ...supplements.flatMap(({ facts }) => facts)],
    sections: sectionsOf(scope, reconciled),
    charts: isWhole === true ? drawn : drawn.filter(({ kind }) => kind !== 'spans'),
    isWhole,
  };
  return { document, isClean: problems.length === 0 };
}

function sectionsOf(scope: ReconciliationScope, { totals, tables, supplements }: Reconciled): readonly Section[] {
  const groups = totals.groups();
  const unchecked = tables.uncheckedCounts();
  const forPrograms = { isForPrograms: true };
  return [
    disputedOrdersSection(tables.unchecked(true), totals.counts().disputed, scope),
    findingsSection(tables.findings(), scope),
    uncheckedOrdersSection(tables.unchecked(false), unchecked, scope),
    ...supplements.flatMap(({ sections }) => sections),
    ...(scope.account === undefined ? accountSections(tables) : []),
    moneySection(groups),
    moneyDaysSection(groups),
    { ...FOLDED, name: 'pairs', title: 'Orders by pair and outcome', columns: PAIR_COLUMNS, rows: totals.byPair() },
    { ...forPrograms, name: 'days', title: 'Orders by day and pair', columns: DAY_COLUMNS, rows: totals.byDay() },
    uncheckedSection(unchecked),
    { ...forPrograms, name: 'classes', title: 'Findings by day and class', columns: CLASSES, rows: tables.classes() },
  ];
}

function accountSections(tables: Reconciled['tables']): readonly Section[] {
  const account = accountColumns(undefined);
  const rows = tables.accountRows('accounts');
  const columns = [...account, ...PAIR_COLUMNS.filter(({ key }) => ACCOUNT_COUNTS.includes(key))];
  const pairs = { rows: tables.accountRows('account_pairs'), columns: [...account, ...PAIR_COLUMNS] };
  return [
    { name: 'accounts', title: 'By account', empty: 'There are no accounts.', columns, rows },
    { name: 'account_pairs', title: 'By account, pair and outcome', ...pairs, isForPrograms: true },
  ];
}

function factsOf(scope: ReconciliationScope, reconciled: Reconciled, problems: readonly Problem[]): readonly Fact[] {
  const { totals, tables, otherAccounts, unknownAge } = reconciled;
  const counts = totals.counts();
  const outcomes = totals.outcomes();
  const { by = 'insertion', settings } = scope;
  const { tolerance } = settings;
  const byCurrency = Object.entries(tolerance).map(([currency, decimal]) => `${currency} ${decimal}`);
  const because = problems.map((problem) => problem.because).join('; ');
  return [
    { key: 'verdict', label: 'Verdict', value: problems.length === 0 ? 'clean' : 'not clean' },
    { key: 'because', label: 'Because', value: because || null },
    { key: 'rule', label: 'Rule', value: by === 'insertion' ? RULE : `${RULE} ${BY_COMPLETION}` },
    accountFact(scope.account),
    { key: 'as_of', label: 'As of', value: scope.asOf },
    { key: 'by', label: 'Period by', value: by },
    ...periodFacts(scope),
    { key: 'orders', label: 'Orders', value: counts.orders },
    { key: 'checked', label: 'Checked', value: counts.checked },
    { key: 'unchecked', label: 'Unchecked', value: counts.unchecked },
    { key: 'disputed', label: 'Disputed', value: counts.disputed },
    { key: 'succeeded', label: 'Succeeded', value: outcomes.succeeded },
    { key: 'failed', label: 'Failed', value: outcomes.failed },
    { key: 'open', label: 'Open', value: outcomes.open },
    { key: 'outcome_unknown', label: OUTCOME_UNKNOWN, value: outcomes.outcome_unknown },
    { key: 'nothing_to_compare', label: 'Nothing to compare', value: counts.nothing_to_compare },
    { key: 'given_up', label: 'Given up after sending', value: counts.given_up },
    { key: 'sent_again', label: 'Sent again after an unknown outcome', value: counts.sent_again },
    { key: 'orders_in_doubt', label: 'Orders in doubt', value: tables.ordersToLookAt() },
    { key: 'in_doubt', label: 'Money in doubt', value: totals.moneyInDoubt() },
    { key: 'errors', label: 'Open errors', value: counts.errors },
    { key: 'warnings', label: 'Open warnings', value: counts.warnings },
    { key: 'infos', label: 'Open, for information', value: counts.infos },
    { key: 'acknowledged', label: 'Acknowledged', value: counts.acknowledged },
    { key: 'unknown_age', label: 'Rows of no known period', value: unknownAge },
    { key: 'other_accounts', label: 'Rows of other accounts', value: rowsOf(otherAccounts) },
    { key: 'oldest_lookup', label: 'Oldest look-up of an order that is not final', value: totals.oldestLookup.open },
    { key: 'oldest_lookup_final', label: 'Oldest look-up of a final order', value: totals.oldestLookup.final },
    { key: 'fresh_for_seconds', label: 'Seconds for which a look-up counts', value: settings.freshFor / 1_000 },
    { key: 'tolerance', label: 'Tolerance', value: typeof tolerance === 'string' ? tolerance : byCurrency.join(', ') },
    { key: 'ignored', label: IGNORED, value: settings.ignore.join(', ') || null },
  ];
}
