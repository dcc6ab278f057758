import type { Card, Fact, Section, Verdict } from '../../documents/document.ts';
import type { Tone } from '../../../cli/shared/terminal.ts';
import { sumOf } from '../../../base/words.ts';
import { ORDER_STATES } from '../../../orders/rules/states.ts';
import type { ReportTables } from '../tables/report.ts';
import type { ReconciliationCharts } from './charts.ts';
import { DISPUTED, findingHead, uncheckedHead } from './findings.ts';
import { UNCHECKED, UNCHECKED_REASONS } from './judge.ts';
import { byCurrency, sumOf as moneyOf } from './money.ts';
import { amountsText, LONGEST_NAME } from './rows.ts';
import type { ReconciliationTotals } from './totals.ts';
import { emptyVerdict } from '../../documents/sections.ts';
import { counted, cut, partsOf } from '../../documents/words.ts';

export interface Problem {
  /** Scripts may look for this text, so it must not change. */
  readonly because: string;
  readonly reason: string;
  readonly tone: 'error' | 'warning';
}

export interface Supplement {
  readonly facts: readonly Fact[];
  readonly sections: readonly Section[];
  readonly problems: readonly Problem[];
}

export interface Reconciled {
  readonly totals: ReconciliationTotals;
  readonly charts: ReconciliationCharts;
  /** `ordersToLookAt` counts orders that are unchecked or disputed, or have an error or warning of status `open`. */
  readonly tables: ReportTables;
  readonly otherAccounts: readonly { readonly name: string; readonly rows: number }[];
  readonly unknownAge: number;
  readonly outOfReachSince: string | null;
  readonly supplements: readonly Supplement[];
}

const OUT_OF_REACH = {
  title: 'The exchange is out of reach',
  advice: 'order-sync doctor says whether the cause is on this side. Make the report again when the exchange answers.',
};
const IN_DOUBT =
  'Money in doubt counts the whole amount of each order that is disputed, unknown, held or not checked, or has an open error or warning about which no person has decided. One order can be counted in several of these lines.';
const MOST_NAMES = 5;

export function problemsOf({ totals, tables, otherAccounts, unknownAge, supplements }: Reconciled): readonly Problem[] {
  const { unchecked, disputed, errors, warnings } = totals.counts();
  const others = rowsOf(otherAccounts);
  const contradict = 'the two sides contradict each other, or the outcome of an order is not known';
  const rows = counted(unknownAge, 'row has', 'rows have');
  const candidates: readonly (Problem & { readonly count: number })[] = [
    { count: unchecked, because: `${unchecked} unchecked`, reason: uncheckedReason(tables), tone: 'warning' },
    {
      count: disputed,
      because: `${disputed} disputed`,
      reason: `${counted(disputed, 'order is', 'orders are')} disputed: the exchange has an order with the same id that contradicts ours.`,
      tone: 'error',
    },
    openFindings(tables, errors, 'error', contradict),
    openFindings(tables, warnings, 'warning', 'an order is late, was not checked, or changed in an unusual way'),
    {
      count: unknownAge,
      because: `rows whose created_at is no time before they were sent: ${unknownAge}`,
      reason: `${rows} a created_at that is not a time, or is later than the sending of the order. The period of such an order is not known.`,
      tone: 'warning',
    },
    {
      count: others,
      because: `rows of other accounts, which are not driven: ${others}`,
      reason: othersReason(otherAccounts),
      tone: 'warning',
    },
  ];
  return [...candidates.filter(({ count }) => count > 0), ...supplements.flatMap(({ problems }) => problems)];
}

function openFindings(tables: ReportTables, count: number, tone: Problem['tone'], what: string) {
  const decided = tables.decided(tone);
  const are = `${counted(decided, 'is about an order', 'are about orders')} that a person has decided about`;
  const more = ` Of these, ${are}, and only ${decided === 1 ? 'needs' : 'need'} to be acknowledged.`;
  return {
    count,
    because: `open ${tone}s: ${count}${decided === 0 ? '' : `, ${decided} of them decided`}`,
    reason: `${counted(count, `open ${tone}`)}: ${what}.${decided === 0 ? '' : more}`,
    tone,
  };
}

export const EMPTY: Problem = { because: 'no orders in the period', reason: '', tone: 'warning' };

export function rowsOf(others: Reconciled['otherAccounts']): number {
  return sumOf(others, ({ rows }) => rows);
}

function othersReason(others: Reconciled['otherAccounts']): string {
  const names = others.slice(0, MOST_NAMES).map(({ name }) => cut(name, LONGEST_NAME));
  const rows = counted(rowsOf(others), 'row is', 'rows are');
  const some = `${names.join(', ')}${others.length > names.length ? ', …' : ''}`;
  const [which, them] = others.length === 1 ? ['the account', 'it'] : ['the accounts', 'them'];
  return `${rows} of ${which} ${some}. The settings of this machine do not name ${them}, so the rows are neither sent nor followed here.`;
}

function uncheckedReason(tables: ReportTables): string {
  const unchecked = tables.uncheckedCounts();
  const all = sumOf([...unchecked.values()], (count) => count);
  const reasons = UNCHECKED_REASONS.flatMap((reason) => {
    const [count, [text]] = [unchecked.get(reason) ?? 0, UNCHECKED[reason]];
    return count === 0 ? [] : [count === all ? text : `${text} (${count})`];
  });
  return `${counted(all, 'order')} could not be checked: ${reasons.join('; ')}.`;
}

function nothingReasons({ totals: { nothing }, outOfReachSince }: Reconciled): readonly (string | false)[] {
  const all = sumOf([...nothing.values()], (count) => count);
  const counts = ORDER_STATES.map((state) => [state, nothing.get(state) ?? 0] as const);
  const states = partsOf(Object.fromEntries(counts.toSorted(([, a], [, b]) => b - a)));
  const invalid = nothing.get('invalid') ?? 0;
  const rows = counted(invalid, 'order is invalid: its row waits', 'orders are invalid: their rows wait');
  return [
    outOfReachSince !== null && `The exchange has been out of reach since ${outOfReachSince}.`,
    all > 0 && `${counted(all, 'order has', 'orders have')} nothing at the exchange to compare with: ${states}.`,
    invalid > 0 && `${rows} for a person to correct or delete.`,
  ];
}

export function verdictOf(reconciled: Reconciled, problems: readonly Problem[]): Verdict {
  const { totals, tables } = reconciled;
  const { orders, checked, infos, acknowledged } = totals.counts();
  if (problems.includes(EMPTY)) return emptyVerdict('order', 'Nothing to reconcile');
  if (problems.length === 0) {
    if (orders === 0) return emptyVerdict('order', 'Nothing to reconcile', true);
    const listed = infos + acknowledged;
    const reasons = [
      `${counted(checked, 'order was', 'orders were')} compared with the exchange, and the two sides agree.`,
      ...nothingReasons(reconciled),
      listed > 0 && `${counted(listed, 'finding below is', 'findings below are')} for information or acknowledged.`,
    ];
    return { tone: 'good', text: 'Both sides agree', reasons: reasons.filter((reason) => reason !== false) };
  }
  const inDoubt = tables.ordersToLookAt();
  const invalid = totals.nothing.get('invalid') ?? 0;
  const some = inDoubt + invalid === 0 ? '' : ` at ${inDoubt + invalid} of ${counted(orders, 'order')}`;
  const { amounts } = differencesOf(totals);
  const gravestFirst = problems.toSorted((a, b) => Number(b.tone === 'error') - Number(a.tone === 'error'));
  const reasons = [
    inDoubt > 0 && invalid > 0 && `Of these orders ${inDoubt} are in doubt, and ${invalid} are invalid.`,
    inDoubt > 0 && `Money in doubt: ${totals.moneyInDoubt() ?? 'none'}.`,
    amounts.length > 0 &&
      `Difference of the sums: ${amountsText(amounts)}. A plus means that the exchange has more than we have.`,
    ...gravestFirst.map(({ reason }) => reason),
    ...nothingReasons(reconciled),
    inDoubt > 0 && IN_DOUBT,
  ];
  return {
    tone: gravestFirst[0]?.tone ?? 'warning',
    text: `A person should look${some}`,
    reasons: reasons.filter((reason) => reason !== false),
    first: firstOf(reconciled),
  };
}

function firstOf({ totals, tables, outOfReachSince }: Reconciled): Verdict['first'] {
  if (outOfReachSince !== null) return { head: OUT_OF_REACH };
  if (totals.counts().disputed > 0) return { section: 'disputed_orders', head: DISPUTED };
  const worst = tables.worst();
  if (worst !== undefined) return { section: 'findings', head: findingHead(worst.class, worst.severity) };
  const unchecked = tables.uncheckedCounts();
  const reason = UNCHECKED_REASONS.find((one) => unchecked.has(one));
  return reason && { section: 'unchecked_orders', head: uncheckedHead(reason) };
}

export function cardsOf({ totals, tables }: Reconciled): readonly Card[] {
  const { orders, checked, unchecked, disputed, nothing_to_compare: nothing, ...counts } = totals.counts();
  const { errors, warnings, infos, acknowledged } = counts;
  const inDoubt = tables.ordersToLookAt();
  const parts = { checked, 'not checked': unchecked, disputed, 'with nothing to compare': nothing };
  const named = { [errors === 1 ? 'error' : 'errors']: errors, [warnings === 1 ? 'warning' : 'warnings']: warnings };
  const findings = partsOf({ ...named, 'for information': infos, acknowledged });
  const tone = (isError: boolean, isWarning: boolean): Tone => (isError ? 'error' : isWarning ? 'warning' : 'good');
  return [
    { label: 'Orders', value: String(orders), note: partsOf(parts), section: 'pairs' },
    {
      label: 'Orders in doubt',
      value: String(inDoubt),
      ...(inDoubt > 0 && { note: totals.moneyInDoubt() ?? '' }),
      tone: tone(disputed + errors > 0, inDoubt > 0),
      section: 'findings',
    },
    differenceCard(totals, errors > 0, disputed > 0),
    {
      label: 'Findings',
      value: String(errors + warnings + infos + acknowledged),
      ...(findings !== '' && { note: findings }),
      tone: tone(errors > 0, warnings > 0),
      section: 'findings',
    },
  ];
}

function differencesOf(totals: ReconciliationTotals) {
  const all = byCurrency(totals.groups()).map(([currency, same]) => ({ currency, sums: moneyOf(same) }));
  const differing = all.filter(({ sums }) => sums['difference'] !== '0');
  const amounts = differing.map(({ currency, sums }) => `+${sums['difference']} ${currency}`.replace('+-', '-'));
  return { amounts, compared: sumOf(all, ({ sums }) => sums.compared) };
}

function differenceCard(totals: ReconciliationTotals, hasErrors: boolean, isDisputed: boolean): Card {
  const { amounts, compared } = differencesOf(totals);
  const unchecked = totals.comparedUnchecked;
  const without = totals.counts().checked + unchecked - compared;
  const notes = [
    amounts.length > 0 && 'what the exchange has more (+) or less (-) than we have',
    `${counted(compared, 'amount')} compared`,
    unchecked > 0 && `${counted(unchecked, 'of them belongs', 'of them belong')} to orders not checked`,
    without > 0 && `${counted(without, 'checked order has', 'checked orders have')} no order at the exchange yet`,
    isDisputed && 'disputed orders are not compared',
  ];
  // Sums may agree although addresses, ids or dates differ.
  const agreeing = hasErrors || isDisputed ? 'neutral' : 'good';
  return {
    label: 'Difference of the compared sums',
    value: amountsText(amounts) || 'none',
    note: notes.filter((note) => note !== false).join('; '),
    tone: amounts.length === 0 ? agreeing : hasErrors ? 'error' : 'info',
    section: 'money',
  };
}
