import type { AmountSettings } from '../../base/decimal.ts';
import { ORDER_STATES } from '../../orders/rules/states.ts';
import { countOf, PERSON_STATES, statesOf } from './ageing.ts';
import { accountColumns, accountFact, emptyVerdict, periodFacts, type ReportScope } from '../documents/sections.ts';
import type { Card, Column, ReportDocument, Verdict } from '../documents/document.ts';
import { sumOf } from '../../base/words.ts';
import { sumOfDecimals } from './reconciliation/totals.ts';
import { byCurrency, OUTCOME_COLUMNS, sumOf as moneyOf, type MoneyGroup } from './reconciliation/money.ts';
import { outcomeOf, sumsByOutcome, currencyOfRow, pairOf, type AmountRow } from './reconciliation/rows.ts';
import { counted, compareTexts } from '../documents/words.ts';

const MOST_CURRENCIES = 6;

/** Orders with the same pair, position, state, status and outcome. `asset` is the exact sum of the readable amounts. */
export type SummaryPart = AmountRow &
  Readonly<Record<'account' | 'state' | 'asset', string>> &
  Readonly<Record<'order_status' | 'outcome', string | null>> &
  Readonly<Record<'orders' | 'unreadable', number>>;

export const SUMMARY_COLUMNS = [
  { key: 'pair', label: 'Pair', kind: 'text' },
  { key: 'state', label: 'State', kind: 'state' },
  { key: 'status', label: 'Order status', kind: 'text' },
  { key: 'outcome', label: 'Outcome', kind: 'outcome' },
  { key: 'position', label: 'Position', kind: 'text', rank: 1 },
  { key: 'orders', label: 'Orders', kind: 'count' },
  { key: 'asset', label: 'Asset', kind: 'decimal' },
  { key: 'succeeded', label: 'Asset, succeeded', kind: 'decimal', isForPrograms: true },
  { key: 'failed', label: 'Asset, failed', kind: 'decimal', isForPrograms: true },
  { key: 'open', label: 'Asset, open', kind: 'decimal', isForPrograms: true },
  { key: 'outcome_unknown', label: 'Asset, final, outcome not known', kind: 'decimal', isForPrograms: true },
  { key: 'unreadable', label: 'Not in the sum', kind: 'count', rank: 2 },
] as const satisfies readonly Column[];

/** Returns a row for each pair, state, status, outcome and position. The position decides the currency of a row. */
export function summarize(parts: readonly SummaryPart[], isByAccount = false) {
  const named = parts.map((part) => {
    const { account, state, order_status: status, asset_position: position } = part;
    const names = { pair: pairOf(part), state, status, outcome: outcomeOf(part), position };
    return { ...part, names: { ...(isByAccount && { account }), ...names } };
  });
  const groups = [...Map.groupBy(named, ({ names }) => JSON.stringify(Object.values(names)))];
  return groups
    .toSorted(([a], [b]) => compareTexts(a, b))
    .map(([, same]) => {
      const { names } = same[0]!;
      const asset = sumOfDecimals(same.map((part) => part.asset));
      const [orders, unreadable] = [sumOf(same, (part) => part.orders), sumOf(same, (part) => part.unreadable)];
      return { ...names, orders, asset, ...sumsByOutcome(names.outcome, asset), unreadable };
    });
}

interface SummaryFacts extends ReportScope {
  readonly settingsOf: (account: string) => Pick<AmountSettings, 'outputPosition'>;
  readonly asOf: string;
}

export function summaryDocument(parts: readonly SummaryPart[], facts: SummaryFacts): ReportDocument {
  const orders = sumOf(parts, (part) => part.orders);
  const note = statesOf(parts, ORDER_STATES);
  const ordersCard: Card = { label: 'Orders', value: String(orders), section: 'summary', ...(note !== '' && { note }) };
  return {
    schema: null,
    title: 'Summary',
    verdict: verdictOf(orders, parts, facts),
    cards: [ordersCard, ...moneyCards(parts, facts.settingsOf)],
    facts: [accountFact(facts.account), ...periodFacts(facts), { key: 'as_of', label: 'As of', value: facts.asOf }],
    sections: [
      {
        name: 'summary',
        title: 'Orders by pair, state and status',
        empty: 'There are no orders.',
        columns: [...accountColumns(facts.account), ...SUMMARY_COLUMNS],
        rows: summarize(parts, facts.account === undefined),
      },
    ],
    charts: [],
  };
}

function verdictOf(orders: number, parts: readonly SummaryPart[], { mayBeEmpty }: SummaryFacts): Verdict {
  if (orders === 0) return emptyVerdict('order', 'There are no orders', mayBeEmpty);
  const undecided = countOf(parts, PERSON_STATES);
  if (undecided === 0) return { tone: 'neutral', text: counted(orders, 'order'), reasons: [] };
  const reasons = PERSON_STATES.flatMap((state) => {
    const count = countOf(parts, [state]);
    return count === 0 ? [] : [`${counted(count, 'order is', 'orders are')} ${state}.`];
  });
  return { tone: 'warning', text: `A person should look at ${counted(undecided, 'order')}`, reasons };
}

export function moneyGroup(part: SummaryPart, settings: Pick<AmountSettings, 'outputPosition'>): MoneyGroup {
  const { asset_position: position, orders, unreadable, asset } = part;
  const currency = currencyOfRow(part, settings);
  return { pair: pairOf(part), outcome: outcomeOf(part), position, currency, orders, unreadable, asset };
}

function moneyCards(parts: readonly SummaryPart[], settingsOf: SummaryFacts['settingsOf']): readonly Card[] {
  const groups = parts.map((part) => moneyGroup(part, settingsOf(part.account)));
  return byCurrency(groups.filter(({ currency }) => currency !== null))
    .slice(0, MOST_CURRENCIES)
    .flatMap(([currency, same]) => {
      const sums = moneyOf(same);
      const [first, ...others] = OUTCOME_COLUMNS.filter(({ key }) => sums[key] !== '0');
      if (first === undefined) return [];
      const note = others.map(({ key, label }) => `${label.toLowerCase()} ${sums[key]}`).join(', ');
      const value = `${sums[first.key]} ${currency}`;
      return [{ label: first.label, value, section: 'summary', ...(note !== '' && { note }) }];
    });
}
