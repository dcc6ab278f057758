import { sumOf as totalOf } from '../../../base/words.ts';
import type { Column, Row, Section } from '../../documents/document.ts';
import { type GroupTotals, decimalDifference, sumOfDecimals } from './totals.ts';
import { compareTexts } from '../../documents/words.ts';

export const OUTCOME_COLUMNS: readonly Column[] = [
  { key: 'succeeded', label: 'Succeeded', kind: 'decimal' },
  { key: 'failed', label: 'Failed', kind: 'decimal', rank: 1 },
  { key: 'open', label: 'Open', kind: 'decimal', rank: 1 },
  { key: 'outcome_unknown', label: 'Final, outcome not known', kind: 'decimal', rank: 2 },
  { key: 'disputed', label: 'Disputed', kind: 'decimal', rank: 2 },
  { key: 'not_at_exchange', label: 'No order at the exchange', kind: 'decimal', rank: 2 },
];
export const NOT_IN_SUMS: Column = { key: 'unreadable', label: 'Not in the sums', kind: 'count', rank: 2 };
const ORDERS_AND_AMOUNTS: readonly Column[] = [
  { key: 'orders', label: 'Orders', kind: 'count' },
  // `ours` and `theirs` come first, because a narrow screen leaves out the last columns of a rank first.
  { key: 'ours', label: 'Ours, compared', kind: 'decimal', rank: 1 },
  { key: 'theirs', label: 'Theirs', kind: 'decimal', rank: 1 },
  { key: 'difference', label: 'Difference', kind: 'decimal' },
  ...OUTCOME_COLUMNS,
  NOT_IN_SUMS,
];
const CURRENCY: Column = { key: 'currency', label: 'Currency', kind: 'text' };
const PAIR: Column = { key: 'pair', label: 'Pair', kind: 'text' };
const DAY: Column = { key: 'day', label: 'Day (UTC)', kind: 'day' };
export const MONEY_COLUMNS: readonly Column[] = [CURRENCY, PAIR, ...ORDERS_AND_AMOUNTS];
export const MONEY_DAY_COLUMNS: readonly Column[] = [CURRENCY, DAY, ...ORDERS_AND_AMOUNTS];

const MONEY = { part: 'money', empty: 'There are no orders in the period.' } as const;
export const FOLDED = { ...MONEY, isFolded: true } as const;

const LEAD =
  'Amounts are those of our orders, in the currency of each order, by outcome. An order is compared if the exchange shows its amount.';
const NOT_SHOWN =
  'An amount is added up only within its pair if the exchange does not say which currency of the pair the amount is in.';

type Compared = 'compared' | 'ours' | 'theirs';
/** Sums of a group of orders. Reports that compare nothing with the exchange have no `Compared` fields. */
export type MoneyGroup = Omit<GroupTotals, 'day' | Compared> & Partial<Pick<GroupTotals, Compared>>;

type MoneySums = Row & Readonly<Record<'orders' | 'compared' | 'unreadable', number>>;

export function sumOf(groups: readonly MoneyGroup[]): MoneySums {
  const sums: Record<string, string> = {};
  for (const { key } of OUTCOME_COLUMNS) {
    const same = groups.filter(({ outcome }) => (outcome ?? 'not_at_exchange') === key);
    sums[key] = sumOfDecimals(same.map(({ asset }) => asset));
  }
  const ours = sumOfDecimals(groups.map((group) => group.ours ?? '0'));
  const theirs = sumOfDecimals(groups.map((group) => group.theirs ?? '0'));
  return {
    ...sums,
    ours,
    theirs,
    difference: decimalDifference(theirs, ours),
    orders: totalOf(groups, ({ orders }) => orders),
    compared: totalOf(groups, ({ compared = 0 }) => compared),
    unreadable: totalOf(groups, ({ unreadable }) => unreadable),
  };
}

export function moneySection(groups: readonly GroupTotals[]): Section {
  const currencies = rowsBy('pair', groups, currencyName);
  return {
    ...MONEY,
    name: 'money',
    title: 'Money by currency and pair',
    lead: groups.some(({ currency }) => currency === null) ? `${LEAD} ${NOT_SHOWN}` : LEAD,
    columns: MONEY_COLUMNS,
    rows: currencies.flatMap(({ rows }) => rows),
    rowsForPeople: currencies.flatMap(({ currency, same, rows }) => {
      const isAdded = rows.length > 1 && same[0]?.currency !== null;
      return isAdded ? [...rows, { currency, pair: 'all pairs', ...sumOf(same) }] : rows;
    }),
  };
}

export function moneyDaysSection(groups: readonly GroupTotals[]): Section {
  // Amounts of an unknown currency are added only within one pair.
  const nameOf = (group: GroupTotals) => group.currency ?? `${group.pair}, ${currencyName(group)}`;
  const rows = rowsBy('day', groups, nameOf).flatMap((currency) => currency.rows);
  return { ...FOLDED, name: 'money_days', title: 'Money by currency and day', columns: MONEY_DAY_COLUMNS, rows };
}

function rowsBy(key: 'pair' | 'day', groups: readonly GroupTotals[], nameOf: (group: GroupTotals) => string) {
  return byCurrency(groups, nameOf).map(([currency, same]) => {
    const parts = [...Map.groupBy(same, (group) => group[key])].toSorted(([a], [b]) => compareTexts(a, b));
    return { currency, same, rows: parts.map(([name, part]) => ({ currency, [key]: name, ...sumOf(part) })) };
  });
}

function currencyName({ currency, position }: MoneyGroup): string {
  return currency ?? `position ${position ?? '?'}: currency not shown`;
}

export function byCurrency<Group extends MoneyGroup>(
  groups: readonly Group[],
  nameOf: (group: Group) => string = currencyName,
): readonly (readonly [string, readonly Group[]])[] {
  const isUnknown = ([, [first]]: readonly [string, readonly Group[]]) => Number(first?.currency === null);
  return [...Map.groupBy(groups, nameOf)].toSorted((a, b) => isUnknown(a) - isUnknown(b) || compareTexts(a[0], b[0]));
}
