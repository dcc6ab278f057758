import { DecimalSum } from '../../../base/decimal.ts';
import type { Cell, Column, GroupHead, Row, Section } from '../../documents/document.ts';
import { compareTexts } from '../../../base/words.ts';
import type { GroupTotals } from './totals.ts';

export const OUTCOME_COLUMNS: readonly Column[] = [
  { key: 'succeeded', label: 'Succeeded', kind: 'decimal', hasGroupUnit: true },
  { key: 'failed', label: 'Failed', kind: 'decimal', rank: 1, hasGroupUnit: true },
  { key: 'open', label: 'Open', kind: 'decimal', rank: 1, hasGroupUnit: true },
  { key: 'outcome_unknown', label: 'Final, unclassified', kind: 'decimal', rank: 2, hasGroupUnit: true },
  { key: 'disputed', label: 'Disputed', kind: 'decimal', rank: 2, hasGroupUnit: true },
  { key: 'not_at_exchange', label: 'Not at the exchange', kind: 'decimal', rank: 2, hasGroupUnit: true },
];
const ORDERS_AND_AMOUNTS: readonly Column[] = [
  { key: 'orders', label: 'Orders', kind: 'count' },
  ...OUTCOME_COLUMNS,
  // Both sides of the orders that were compared.
  { key: 'ours', label: 'Ours, compared', kind: 'decimal', rank: 1, hasGroupUnit: true },
  { key: 'theirs', label: 'Theirs', kind: 'decimal', rank: 1, hasGroupUnit: true },
  { key: 'difference', label: 'Difference', kind: 'decimal', hasGroupUnit: true },
  { key: 'unreadable', label: 'Amount unreadable', kind: 'count', rank: 2 },
];
const CURRENCY: Column = { key: 'currency', label: 'Currency', kind: 'text' };
export const MONEY_COLUMNS: readonly Column[] = [
  CURRENCY,
  { key: 'pair', label: 'Pair', kind: 'text' },
  ...ORDERS_AND_AMOUNTS,
];
export const MONEY_DAY_COLUMNS: readonly Column[] = [
  CURRENCY,
  { key: 'day', label: 'Day (UTC)', kind: 'text' },
  ...ORDERS_AND_AMOUNTS,
];

export const NO_ORDER = 'There is no order in the period.';

const LEAD =
  'Amounts are those of our orders, in the currency that they were given in, by what became of the orders; only orders that the exchange has an amount for are compared.';
const NOT_SHOWN =
  'The interface does not say in which currency of the pair these amounts are, so they are not added over pairs.';

type Compared = 'compared' | 'ours' | 'theirs';
/** Amounts that may be added; not every report compares them with those of the exchange. */
export type MoneyGroup = Omit<GroupTotals, 'day' | Compared> & Partial<Pick<GroupTotals, Compared>>;

class Money {
  readonly #sums = Object.fromEntries(
    ORDERS_AND_AMOUNTS.filter(({ kind }) => kind === 'decimal').map(({ key }) => [key, new DecimalSum()]),
  );
  orders = 0;
  compared = 0;
  #unreadable = 0;

  add({ outcome, orders, unreadable, asset, compared = 0, ours = '0', theirs = '0' }: MoneyGroup): void {
    this.orders += orders;
    this.compared += compared;
    this.#unreadable += unreadable;
    this.#sums[outcome ?? 'not_at_exchange']?.add(asset);
    this.#sums['ours']?.add(ours);
    this.#sums['theirs']?.add(theirs);
    this.#sums['difference']?.add(theirs);
    this.#sums['difference']?.subtract(ours);
  }

  get difference(): string {
    return String(this.#sums['difference']);
  }

  asRow(): Row {
    const sums = Object.fromEntries(Object.entries(this.#sums).map(([key, sum]) => [key, String(sum)]));
    return { orders: this.orders, ...sums, unreadable: this.#unreadable };
  }
}

export function moneySection(groups: readonly GroupTotals[]): Section {
  const rows: Row[] = [];
  const rowsForPeople: Row[] = [];
  for (const [currency, ofCurrency] of byCurrency(groups, currencyName)) {
    const pairs = [...Map.groupBy(ofCurrency, ({ pair }) => pair)].toSorted(([a], [b]) => compareTexts(a, b));
    const row = (pair: string, same: readonly GroupTotals[]) => ({ currency, pair, ...sumOf(same).asRow() });
    const ofPairs = pairs.map(([pair, same]) => row(pair, same));
    rows.push(...ofPairs);
    rowsForPeople.push(...ofPairs);
    if (pairs.length > 1 && ofCurrency[0]?.currency !== null) rowsForPeople.push(row('all pairs', ofCurrency));
  }
  return {
    name: 'money',
    title: 'Money by currency and pair',
    part: 'money',
    lead: LEAD,
    empty: NO_ORDER,
    columns: MONEY_COLUMNS,
    rows,
    rowsForPeople,
    groups: { key: 'currency', describe: headOf(groups, currencyName) },
  };
}

export function moneyDaysSection(groups: readonly GroupTotals[]): Section {
  // Amounts of an unknown currency are added within their pair alone.
  const name = (group: GroupTotals) =>
    group.currency === null ? `${group.pair}, ${currencyName(group)}` : group.currency;
  const rows = byCurrency(groups, name).flatMap(([currency, ofCurrency]) =>
    [...Map.groupBy(ofCurrency, ({ day }) => day)]
      .toSorted(([a], [b]) => compareTexts(a, b))
      .map(([day, same]) => ({ currency, day, ...sumOf(same).asRow() })),
  );
  return {
    name: 'money_days',
    title: 'Money by currency and day',
    part: 'days',
    empty: NO_ORDER,
    columns: MONEY_DAY_COLUMNS,
    rows,
    groups: { key: 'currency', describe: headOf(groups, name) },
  };
}

/** The orders that were compared in each currency, and by how much the two sides differ: what the exchange has less what we have. */
export function differencesByCurrency(
  groups: readonly GroupTotals[],
): readonly { readonly currency: string; readonly compared: number; readonly difference: string }[] {
  return byCurrency(groups, currencyName)
    .map(([currency, same]) => {
      const { compared, difference } = sumOf(same);
      return { currency, compared, difference };
    })
    .filter(({ compared }) => compared > 0);
}

export function amountsByCurrency(groups: readonly MoneyGroup[]): readonly {
  readonly currency: string;
  readonly amounts: readonly { readonly label: string; readonly sum: string }[];
}[] {
  const known = groups.filter(({ currency }) => currency !== null);
  return byCurrency(known, currencyName).map(([currency, same]) => {
    const row = sumOf(same).asRow();
    const sums = OUTCOME_COLUMNS.map(({ key, label }) => ({ label, sum: String(row[key]) }));
    return { currency, amounts: sums.filter(({ sum }) => sum !== '0') };
  });
}

function currencyName({ currency, position }: MoneyGroup): string {
  return currency ?? `position ${position ?? '?'}: currency not shown`;
}

/** The groups by a name of their currency, those whose currency is not known last. */
function byCurrency<Group extends MoneyGroup>(
  groups: readonly Group[],
  nameOf: (group: Group) => string,
): readonly (readonly [string, readonly Group[]])[] {
  const isUnknown = ([, [first]]: readonly [string, readonly Group[]]) => Number(first?.currency === null);
  return [...Map.groupBy(groups, nameOf)].toSorted((a, b) => isUnknown(a) - isUnknown(b) || compareTexts(a[0], b[0]));
}

function headOf(groups: readonly GroupTotals[], nameOf: (group: GroupTotals) => string): (value: Cell) => GroupHead {
  const known = new Set(groups.filter(({ currency }) => currency !== null).map(nameOf));
  return (value) => {
    const title = String(value);
    return known.has(title) ? { title, lines: [], unit: title } : { title, lines: [NOT_SHOWN] };
  };
}

export function sumOf(groups: readonly MoneyGroup[]): Money {
  const money = new Money();
  for (const group of groups) money.add(group);
  return money;
}
