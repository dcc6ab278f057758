import { DecimalSum } from '../../domain/decimal.ts';
import type { Column, Row } from '../formats/document.ts';
import { withCommas } from '../formats/words.ts';
import { outcomeOf } from '../reconciliation/outcome.ts';
import { pairOf } from '../reconciliation/rows.ts';
import type { DashboardFacts, MoneyPeriod } from './facts.ts';
import { empty, note, section, table } from './markup.ts';

const OUTCOMES = ['succeeded', 'failed', 'open', 'outcome_unknown', 'disputed'] as const;
const COLUMNS: readonly Column[] = [
  { key: 'pair', label: 'Pair', kind: 'text' },
  { key: 'currency', label: 'Currency', kind: 'text' },
  { key: 'orders', label: 'Orders', kind: 'count' },
  { key: 'succeeded', label: 'Succeeded', kind: 'decimal' },
  { key: 'failed', label: 'Failed', kind: 'decimal' },
  { key: 'open', label: 'Open', kind: 'decimal' },
  { key: 'outcome_unknown', label: 'Final, unclassified', kind: 'decimal' },
  { key: 'disputed', label: 'Disputed', kind: 'decimal' },
  { key: 'none', label: 'Not at the exchange', kind: 'decimal' },
];
/** Pairs; more are counted. */
const MOST_ROWS = 30;

/** The volumes and the money of today and of the last days, by pair and outcome. */
export function moneySection({ activity }: DashboardFacts): string {
  const title = 'Volumes and money';
  if (activity === null) return section('money', title, empty('Choose an account to see its money.'), { wide: true });
  return section('money', title, activity.money.map(periodText).join(''), { wide: true });
}

function periodText({ title, parts, cutAt }: MoneyPeriod): string {
  const orders = parts.reduce((sum, part) => sum + part.orders, 0);
  const heading = `<h3>${title} <small>${withCommas(orders)} orders</small></h3>\n`;
  if (orders === 0) return `${heading}${empty('No order was inserted.')}`;
  const rows = rowsOf(parts);
  const columns = COLUMNS.filter(({ key, kind }) => kind !== 'decimal' || rows.some((row) => row[key] !== '0'));
  const more = rows.length > MOST_ROWS ? note(`${rows.length - MOST_ROWS} more: order-sync report summary`) : '';
  const cut = cutAt === null ? '' : note(`Only the newest orders are added up, those since ${cutAt}.`);
  const isUnclassified = columns.some(({ key }) => key === 'outcome_unknown');
  const hint = isUnclassified ? note('Unclassified: follow.succeededStatuses does not say which statuses paid.') : '';
  return `${heading}${table(title, columns, rows.slice(0, MOST_ROWS))}${more}${hint}${cut}`;
}

function rowsOf(parts: MoneyPeriod['parts']): readonly Row[] {
  const groups = Map.groupBy(parts, (part) => JSON.stringify([pairOf(part), part.asset_position]));
  const rows = [...groups.values()].map((same) => {
    const sums = new Map([...OUTCOMES, 'none'].map((key) => [key, new DecimalSum()]));
    for (const part of same) sums.get(outcomeOf(part) ?? 'none')?.add(part.asset);
    const [first] = same;
    return {
      pair: first === undefined ? '' : pairOf(first),
      currency: first?.currency ?? `not shown (${first?.asset_position ?? 'no position'})`,
      orders: same.reduce((sum, part) => sum + part.orders, 0),
      ...Object.fromEntries([...sums].map(([key, sum]) => [key, String(sum)])),
    };
  });
  return rows.toSorted((a, b) => b.orders - a.orders);
}
