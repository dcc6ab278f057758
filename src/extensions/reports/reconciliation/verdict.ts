import type { Card, Column, Fact, Row, Section, Tone, Verdict } from '../../documents/document.ts';
import { counted, cut, emptyReason, sumOf } from '../../../base/words.ts';
import { UNCHECKED, UNCHECKED_REASONS } from './judge.ts';
import { differencesByCurrency } from './money.ts';
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

export interface Counted {
  readonly totals: ReconciliationTotals;
  /** Accounts that stand in no settings, and have so many rows that wait to be sent or followed. */
  readonly otherAccounts: readonly { readonly name: string; readonly rows: number }[];
  /** Rows whose creation time does not tell whether they are of the period. */
  readonly unknownAge: number;
  /** Orders that are unchecked or disputed, or have an open finding of severity error or warning. */
  readonly ordersToLookAt: number;
}

const MOST_DIFFERENCES = 6;
const MOST_NAMES = 5;
/** An application may write any text as the account of a row. */
const LONGEST_NAME = 64;

export function problemsOf({ totals, otherAccounts, unknownAge }: Counted): readonly Problem[] {
  const { unchecked, disputed, errors, warnings } = totals.counts();
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
      count: rowsOf(otherAccounts),
      because: `rows of other accounts, which are not driven: ${rowsOf(otherAccounts)}`,
      reason: othersReason(otherAccounts),
      tone: 'warning',
    },
  ];
  return given.filter(({ count }) => count > 0);
}

export const EMPTY: Problem = { because: 'no orders in the period', reason: emptyReason('order'), tone: 'warning' };

export function rowsOf(others: Counted['otherAccounts']): number {
  return sumOf(others, ({ rows }) => rows);
}

function othersReason(others: Counted['otherAccounts']): string {
  const names = others.slice(0, MOST_NAMES).map(({ name }) => cut(name, LONGEST_NAME));
  const rows = counted(rowsOf(others), 'row is', 'rows are');
  const some = `${names.join(', ')}${others.length > names.length ? ', …' : ''}`;
  const which = others.length === 1 ? `the account ${some}, which stands` : `accounts ${some}, which stand`;
  return `${rows} of ${which} in no settings of this machine: it sends and follows none of them.`;
}

const REPEATED = 'An order may stand in several of these lines.';

export function verdictOf({ totals, ordersToLookAt }: Counted, problems: readonly Problem[]): Verdict {
  const { orders, checked, nothing_to_compare: nothing, infos, acknowledged } = totals.counts();
  const { unchecked, disputed, errors, warnings } = totals.counts();
  if (problems.length === 0 && orders === 0) return { tone: 'neutral', text: 'Nothing to reconcile', reasons: [] };
  if (problems.includes(EMPTY)) return { tone: 'warning', text: 'Nothing to reconcile', reasons: [EMPTY.reason] };
  if (problems.length === 0) {
    const listed = infos + acknowledged;
    const reasons = [
      `${counted(checked, 'order was', 'orders were')} compared with the exchange, and the two sides agree.`,
      ...(nothing > 0 ? [`${counted(nothing, 'order has', 'orders have')} nothing to compare with.`] : []),
      ...(listed > 0
        ? [`${counted(listed, 'finding below is', 'findings below are')} for information or acknowledged.`]
        : []),
    ];
    return { tone: 'good', text: 'Both sides agree', reasons };
  }
  const repeated = ordersToLookAt > 0 && unchecked + disputed + errors + warnings > ordersToLookAt;
  const gravestFirst = problems.toSorted((a, b) => Number(b.tone === 'error') - Number(a.tone === 'error'));
  return {
    tone: gravestFirst[0]?.tone ?? 'warning',
    text:
      ordersToLookAt === 0
        ? 'A person should look'
        : `A person should look at ${ordersToLookAt} of ${counted(orders, 'order')}`,
    reasons: [...gravestFirst.map(({ reason }) => reason), ...(repeated ? [REPEATED] : [])],
  };
}

export function cardsOf({ totals }: Counted): readonly Card[] {
  const { orders, checked, unchecked, disputed, nothing_to_compare: nothing } = totals.counts();
  const { errors, warnings, infos, acknowledged } = totals.counts();
  // These findings are listed with their orders, not by class.
  const ofOrders = totals.byClass().filter((line) => line.class === 'UNCHECKED');
  const elsewhere = sumOf(ofOrders, (line) => line.open);
  const shown = (count: number, tone: Tone): Tone => (count > 0 ? tone : 'good');
  return [
    { label: 'Orders', value: String(orders), section: 'money' },
    {
      label: 'Checked',
      value: `${checked} of ${orders}`,
      ...(nothing > 0 ? { note: `${nothing} more have nothing to compare` } : {}),
      tone: unchecked + disputed > 0 ? 'warning' : 'good',
      section: 'pairs',
    },
    { label: 'Unchecked', value: String(unchecked), tone: shown(unchecked, 'warning'), section: 'unchecked_orders' },
    ...(disputed > 0
      ? [{ label: 'Disputed', value: String(disputed), tone: 'error' as const, section: 'disputed_orders' }]
      : []),
    ...differenceCards(totals, errors > 0, disputed),
    { label: 'Errors', value: String(errors), tone: shown(errors, 'error'), section: 'attention' },
    {
      label: 'Warnings',
      value: String(warnings),
      ...(elsewhere > 0 ? { note: `${elsewhere} with the orders that could not be checked` } : {}),
      tone: shown(warnings, 'warning'),
      section: 'attention',
    },
    ...(infos > 0
      ? [{ label: 'For information', value: String(infos), tone: 'info' as const, section: 'attention' }]
      : []),
    ...(acknowledged > 0 ? [{ label: 'Acknowledged', value: String(acknowledged), section: 'attention' }] : []),
  ];
}

function differenceCards(totals: ReconciliationTotals, hasErrors: boolean, disputed: number): readonly Card[] {
  const all = differencesByCurrency(totals.groups());
  const differing = all.filter(({ difference }) => difference !== '0');
  const equal = all.filter(({ difference }) => difference === '0');
  const others = differing.length - MOST_DIFFERENCES;
  const card = ({ currency, compared, difference }: (typeof all)[number]): Card => ({
    label: 'Difference',
    value: `${difference.startsWith('-') ? '' : '+'}${difference} ${currency}`,
    note: `${difference.startsWith('-') ? 'less' : 'more'} at the exchange than with us, in all; ${counted(compared, 'amount')} compared`,
    tone: hasErrors ? 'error' : 'info',
    section: 'money',
  });
  const currencies = equal.slice(0, MOST_DIFFERENCES).map(({ currency }) => currency);
  const more = equal.length > MOST_DIFFERENCES ? ['…'] : [];
  const sum = sumOf(equal, ({ compared }) => compared);
  // What a disputed order differs by is in no sum, so nobody may take the zero for all of it.
  const note = `${counted(sum, 'amount')} compared${disputed === 0 ? '' : '; without disputed orders'}`;
  const tone = disputed === 0 ? ('good' as const) : ('neutral' as const);
  const value = [...currencies, ...more].join(', ');
  return [
    ...differing.slice(0, MOST_DIFFERENCES).map(card),
    ...(others > 0
      ? [{ label: 'Difference', value: counted(others, 'more currency', 'more currencies'), section: 'money' }]
      : []),
    ...(equal.length > 0 ? [{ label: 'No difference', value, note, tone, section: 'money' }] : []),
  ];
}

function uncheckedReason({ unchecked }: ReconciliationTotals): string {
  const all = sumOf([...unchecked.values()], (count) => count);
  const reasons = UNCHECKED_REASONS.flatMap((reason) => {
    const [count, [text]] = [unchecked.get(reason) ?? 0, UNCHECKED[reason]];
    return count === 0 ? [] : [count === all ? text : `${text} (${count})`];
  });
  return `${counted(all, 'order')} could not be checked: ${reasons.join('; ')}.`;
}

const PROBLEMS = {
  duplicate: 'more than once in the ledger',
  notOurs: 'not among our orders of the period',
  notInLedger: 'missing in the ledger',
  notAtExchange: 'in the ledger, but never at the exchange',
  givenUp: 'in the ledger, but abandoned by a person or disputed; the exchange may have it',
  currencyDiffers: 'the currency differs',
  amountDiffers: 'the amount differs',
  amountUnreadable: 'an amount cannot be read',
} as const;

export type LedgerDifference = Readonly<{
  problem: keyof typeof PROBLEMS;
  external_order_id: string;
  file: string | null;
  line: number | null;
  ours: string | null;
  ledger: string | null;
}>;

const COLUMNS: readonly Column[] = [
  { key: 'problem', label: 'Problem', kind: 'text' },
  { key: 'external_order_id', label: 'Order', kind: 'text' },
  { key: 'ours', label: 'Ours', kind: 'text' },
  { key: 'ledger', label: 'Ledger', kind: 'text' },
  { key: 'file', label: 'File', kind: 'text', rank: 2 },
  { key: 'line', label: 'Line', kind: 'count' },
];

export interface ComparedLedger {
  readonly files: readonly string[];
  readonly lines: number;
  readonly count: number;
  readonly differences: Iterable<LedgerDifference>;
}

export function ledgerSupplement({ files, lines, count, differences }: ComparedLedger): Supplement {
  return {
    facts: [
      { key: 'ledger', label: 'Ledger', value: files.join(', ') },
      { key: 'ledger_lines', label: 'Ledger lines', value: lines },
      { key: 'ledger_differences', label: 'Ledger differences', value: count },
    ],
    sections: [
      {
        name: 'ledger',
        title: 'Differences from the ledger',
        part: 'attention',
        empty: 'The ledger has the same orders with the same amounts.',
        columns: COLUMNS,
        rows: described(differences),
      },
    ],
    problems: count === 0 ? [] : [ledgerProblem(count)],
  };
}

function ledgerProblem(count: number): Problem {
  const reason = `${counted(count, 'line or order differs', 'lines or orders differ')} between the ledger and our orders.`;
  return { because: `differences from the ledger: ${count}`, reason, tone: 'error' };
}

function* described(differences: Iterable<LedgerDifference>): Generator<Row> {
  for (const difference of differences) yield { ...difference, problem: PROBLEMS[difference.problem] };
}

export interface PreOrderCounts {
  readonly asked: number;
  /** Not answered with the pre-order, or no longer asked because too many in a row were not answered. */
  readonly unanswered: number;
  readonly missing: number;
  readonly differing: number;
}

export function preOrderSupplement({ asked, unanswered, missing, differing }: PreOrderCounts): Supplement {
  return {
    facts: [
      { key: 'pre_orders_asked', label: 'Pre-orders asked for', value: asked },
      { key: 'pre_orders_missing', label: 'Pre-orders missing', value: missing },
      { key: 'pre_orders_differing', label: 'Pre-orders that differ', value: differing },
      { key: 'pre_orders_unanswered', label: 'Pre-orders not answered', value: unanswered },
    ],
    sections: [],
    problems: unanswered === 0 ? [] : [unansweredProblem(unanswered)],
  };
}

function unansweredProblem(count: number): Problem {
  const reason = `The exchange did not answer for ${counted(count, 'pre-order')}: make the report again when it does.`;
  return { because: `pre-orders not answered: ${count}`, reason, tone: 'warning' };
}
