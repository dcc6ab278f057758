import type { Card, Fact, Section, Verdict } from '../../documents/document.ts';
import type { Tone } from '../../../cli/shared/terminal.ts';
import { counted, cut, emptyReason, sumOf } from '../../../base/words.ts';
import type { ReportTables } from '../tables/report.ts';
import type { ReconciliationCharts } from './charts.ts';
import { UNCHECKED, UNCHECKED_REASONS } from './judge.ts';
import { byCurrency, sumOf as moneyOf } from './money.ts';
import type { ReconciliationTotals } from './totals.ts';

export interface Problem {
  /** For programs; public, as scripts may look for it. */
  readonly because: string;
  readonly reason: string;
  readonly tone: 'error' | 'warning';
}

/** A part that only some reports have: answers of the exchange, or the ledger of another system. */
export interface Supplement {
  readonly facts: readonly Fact[];
  readonly sections: readonly Section[];
  readonly problems: readonly Problem[];
}

/** The orders of the scope, added up. */
export interface Reconciled {
  readonly totals: ReconciliationTotals;
  readonly charts: ReconciliationCharts;
  /** Also counts the orders that are unchecked or disputed, or have an open finding of severity error or warning. */
  readonly tables: ReportTables;
  /** Accounts that stand in no settings, and have so many rows that wait to be sent or followed. */
  readonly otherAccounts: readonly { readonly name: string; readonly rows: number }[];
  /** Rows whose creation time does not tell whether they are of the period. */
  readonly unknownAge: number;
  readonly supplements: readonly Supplement[];
}

const MOST_DIFFERENCES = 6;
const MOST_NAMES = 5;
/** An application may write any text as the account of a row. */
const LONGEST_NAME = 64;

export function problemsOf({ totals, otherAccounts, unknownAge, supplements }: Reconciled): readonly Problem[] {
  const { unchecked, disputed, errors, warnings } = totals.counts();
  const others = rowsOf(otherAccounts);
  const given: readonly (Problem & { readonly count: number })[] = [
    { count: unchecked, because: `${unchecked} unchecked`, reason: uncheckedReason(totals), tone: 'warning' },
    {
      count: disputed,
      because: `${disputed} disputed`,
      reason: `${counted(disputed, 'order is', 'orders are')} disputed: the exchange has an order for the id that contradicts ours. Pay and deliver nothing for it until this is settled.`,
      tone: 'error',
    },
    {
      count: errors,
      because: `open errors: ${errors}`,
      reason: `${counted(errors, 'error')}: the two sides contradict each other, and money may hang on it.`,
      tone: 'error',
    },
    {
      count: warnings,
      because: `open warnings: ${warnings}`,
      reason: `${counted(warnings, 'warning')}: something is late or odd.`,
      tone: 'warning',
    },
    {
      count: unknownAge,
      because: `rows whose created_at is no time before they were sent: ${unknownAge}`,
      reason: `${counted(unknownAge, 'row has', 'rows have')} a created_at that is no time before they were sent: nobody knows to which period they belong.`,
      tone: 'warning',
    },
    {
      count: others,
      because: `rows of other accounts, which are not driven: ${others}`,
      reason: othersReason(otherAccounts),
      tone: 'warning',
    },
  ];
  return [...given.filter(({ count }) => count > 0), ...supplements.flatMap(({ problems }) => problems)];
}

export const EMPTY: Problem = { because: 'no orders in the period', reason: emptyReason('order'), tone: 'warning' };

export function rowsOf(others: Reconciled['otherAccounts']): number {
  return sumOf(others, ({ rows }) => rows);
}

function othersReason(others: Reconciled['otherAccounts']): string {
  const names = others.slice(0, MOST_NAMES).map(({ name }) => cut(name, LONGEST_NAME));
  const rows = counted(rowsOf(others), 'row is', 'rows are');
  const some = `${names.join(', ')}${others.length > names.length ? ', …' : ''}`;
  const which = others.length === 1 ? `the account ${some}, which stands` : `accounts ${some}, which stand`;
  return `${rows} of ${which} in no settings of this machine: it sends and follows none of them.`;
}

function uncheckedReason({ unchecked }: ReconciliationTotals): string {
  const all = sumOf([...unchecked.values()], (count) => count);
  const reasons = UNCHECKED_REASONS.flatMap((reason) => {
    const [count, [text]] = [unchecked.get(reason) ?? 0, UNCHECKED[reason]];
    return count === 0 ? [] : [count === all ? text : `${text} (${count})`];
  });
  return `${counted(all, 'order')} could not be checked: ${reasons.join('; ')}.`;
}

export function verdictOf({ totals, tables }: Reconciled, problems: readonly Problem[]): Verdict {
  const { orders, checked, nothing_to_compare: nothing, infos, acknowledged, ...counts } = totals.counts();
  if (problems.length === 0 && orders === 0) return { tone: 'neutral', text: 'Nothing to reconcile', reasons: [] };
  if (problems.includes(EMPTY)) return { tone: 'warning', text: 'Nothing to reconcile', reasons: [EMPTY.reason] };
  if (problems.length === 0) {
    const listed = infos + acknowledged;
    const reasons = [
      `${counted(checked, 'order was', 'orders were')} compared with the exchange, and the two sides agree.`,
      nothing > 0 && `${counted(nothing, 'order has', 'orders have')} nothing to compare with.`,
      listed > 0 && `${counted(listed, 'finding below is', 'findings below are')} for information or acknowledged.`,
    ];
    return { tone: 'good', text: 'Both sides agree', reasons: reasons.filter((reason) => reason !== false) };
  }
  const toLookAt = tables.ordersToLookAt();
  const isRepeated = toLookAt > 0 && counts.unchecked + counts.disputed + counts.errors + counts.warnings > toLookAt;
  const gravestFirst = problems.toSorted((a, b) => Number(b.tone === 'error') - Number(a.tone === 'error'));
  const reasons = gravestFirst.map(({ reason }) => reason);
  return {
    tone: gravestFirst[0]?.tone ?? 'warning',
    text:
      toLookAt === 0 ? 'A person should look' : `A person should look at ${toLookAt} of ${counted(orders, 'order')}`,
    reasons: isRepeated ? [...reasons, 'An order may stand in several of these lines.'] : reasons,
  };
}

export function cardsOf({ totals }: Reconciled): readonly Card[] {
  const { orders, checked, unchecked, disputed, nothing_to_compare: nothing, ...counts } = totals.counts();
  const { errors, warnings, infos, acknowledged } = counts;
  // These findings are listed with their orders, not by class.
  const ofOrders = totals.byClass().filter((line) => line.class === 'UNCHECKED');
  const elsewhere = sumOf(ofOrders, (line) => line.open);
  const shown = (count: number, tone: Tone): Tone => (count > 0 ? tone : 'good');
  const cards: readonly (Card | false)[] = [
    { label: 'Orders', value: String(orders), section: 'money' },
    {
      label: 'Checked',
      value: `${checked} of ${orders}`,
      ...(nothing > 0 && { note: `${nothing} more have nothing to compare` }),
      tone: shown(unchecked + disputed, 'warning'),
      section: 'pairs',
    },
    { label: 'Unchecked', value: String(unchecked), tone: shown(unchecked, 'warning'), section: 'unchecked_orders' },
    disputed > 0 && { label: 'Disputed', value: String(disputed), tone: 'error', section: 'disputed_orders' },
    ...differenceCards(totals, errors > 0, disputed),
    { label: 'Errors', value: String(errors), tone: shown(errors, 'error'), section: 'attention' },
    {
      label: 'Warnings',
      value: String(warnings),
      ...(elsewhere > 0 && { note: `${elsewhere} with the orders that could not be checked` }),
      tone: shown(warnings, 'warning'),
      section: 'attention',
    },
    infos > 0 && { label: 'For information', value: String(infos), tone: 'info', section: 'attention' },
    acknowledged > 0 && { label: 'Acknowledged', value: String(acknowledged), section: 'attention' },
  ];
  return cards.filter((card) => card !== false);
}

function differenceCards(
  totals: ReconciliationTotals,
  hasErrors: boolean,
  disputed: number,
): readonly (Card | false)[] {
  const all = byCurrency(totals.groups())
    .map(([currency, same]) => ({ currency, sums: moneyOf(same) }))
    .filter(({ sums }) => sums.compared > 0)
    .map(({ currency, sums }) => ({ currency, compared: sums.compared, difference: String(sums['difference']) }));
  const differing = all.filter(({ difference }) => difference !== '0');
  const equal = all.filter(({ difference }) => difference === '0');
  const others = differing.length - MOST_DIFFERENCES;
  const cards = differing.slice(0, MOST_DIFFERENCES).map(({ currency, compared, difference }): Card => {
    const isLess = difference.startsWith('-');
    return {
      label: 'Difference',
      value: `${isLess ? '' : '+'}${difference} ${currency}`,
      note: `${isLess ? 'less' : 'more'} at the exchange than with us, in all; ${counted(compared, 'amount')} compared`,
      tone: hasErrors ? 'error' : 'info',
      section: 'money',
    };
  });
  const currencies = equal.slice(0, MOST_DIFFERENCES).map(({ currency }) => currency);
  const amounts = counted(
    sumOf(equal, ({ compared }) => compared),
    'amount',
  );
  return [
    ...cards,
    others > 0 && { label: 'Difference', value: counted(others, 'more currency', 'more currencies'), section: 'money' },
    equal.length > 0 && {
      label: 'No difference',
      value: [...currencies, ...(equal.length > MOST_DIFFERENCES ? ['…'] : [])].join(', '),
      // What a disputed order differs by is in no sum, so nobody may take the zero for all of it.
      note: `${amounts} compared${disputed === 0 ? '' : '; without disputed orders'}`,
      tone: disputed === 0 ? 'good' : 'neutral',
      section: 'money',
    },
  ];
}
