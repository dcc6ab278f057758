import { DecimalSum } from '../../domain/decimal.ts';
import { ORDER_STATES, type OrderState } from '../../domain/orders/states.ts';
import { figureText } from '../formats/chart.ts';
import { HALF_SIZES } from '../formats/chart/svg.ts';
import { toneOf, type Column, type ColumnChart, type Row } from '../formats/document.ts';
import { inUnits, withCommas } from '../formats/words.ts';
import { outcomeOf } from '../reconciliation/outcome.ts';
import { pairOf } from '../reconciliation/rows.ts';
import { AGE_LIMITS_MS, type Ageing, type DashboardFacts, type MoneyPeriod } from './facts.ts';
import { ageOf } from '../formats/html/cells.ts';
import { count, empty, note, section, table, tile } from './markup.ts';

const MEANINGS: Readonly<Record<OrderState, string>> = {
  pending: 'waits to be sent',
  sending: 'one request is in flight',
  unknown: 'the outcome is looked up',
  held: 'a person must decide',
  accepted: 'a pre-order, no order yet',
  open: 'under way at the exchange',
  disputed: 'contradicts ours',
  final: 'done',
  rejected: 'the exchange refused it',
  invalid: 'our own check refused it',
  cancelled: 'ended before it was sent',
  abandoned: 'a person gave it up',
};

/** The orders by state, in the order in which an order goes through them. */
export function ordersSection({ overview, at }: DashboardFacts): string {
  const { orders, more, oldestPending, oldestUnknown } = overview;
  const tiles = ORDER_STATES.map((state) => {
    const number = orders[state];
    const waited = [oldestPending, oldestUnknown].find((order) => order?.state === state) ?? null;
    const since = waited === null || number === 0 ? '' : `, the oldest for ${ageOf(waited.since, at)}`;
    return tile({
      label: state,
      value: `${count(number)}${more.includes(state) ? ' <small>or more</small>' : ''}`,
      detail: `${MEANINGS[state]}${since}`,
      tone: number === 0 ? 'neutral' : toneOf('state', state),
    });
  });
  return section('orders', 'Orders by state', `<ul class="cards states">\n${tiles.join('')}</ul>\n`, { wide: true });
}

/** How long the orders that are followed have not changed. */
export function ageingSection({ activity }: DashboardFacts): string {
  const title = 'Ageing';
  if (activity === null) return section('ageing', title, empty('Choose an account to see its ages.'));
  const { rows, isCut } = activity.ageing;
  if (rows.length === 0) return section('ageing', title, empty('No order is followed.'));
  const cut = isCut ? note('Not all orders were looked at, as there are too many: report ageing looks at each.') : '';
  const text = 'Since the order last changed. A report of all: order-sync report ageing.';
  return section('ageing', title, `${table(title, AGE_COLUMNS, rows.map(ageRow))}${cut === '' ? note(text) : cut}`);
}

const AGE_NAMES = [...AGE_LIMITS_MS.map((limit) => `under ${inUnits(limit).replace(' ', '\u00a0')}`), 'longer'];
const AGE_COLUMNS: readonly Column[] = [
  { key: 'state', label: 'State', kind: 'state' },
  ...AGE_NAMES.map((label) => ({ key: label, label, kind: 'count' as const })),
];

function ageRow({ state, orders }: Ageing['rows'][number]) {
  return { state, ...Object.fromEntries(AGE_NAMES.map((name, index) => [name, orders[index] ?? 0])) };
}

const SERIES = [
  ['inserted', 'neutral'],
  ['accepted', 'info'],
  ['final', 'good'],
] as const;
/** Each sixth hour has its name below the drawing. */
const HOUR_NAMES = Array.from({ length: 24 }, (_, hour) =>
  hour % 6 === 0 ? `${String(hour).padStart(2, '0')}:00` : null,
);

/** The orders of today by hour: how many came, were accepted, and became final. */
export function flowSection({ activity }: DashboardFacts): string {
  const title = 'Orders of today by hour';
  if (activity === null) return section('flow', title, empty('Choose an account to see its hours.'));
  const { hours } = activity;
  const series = SERIES.map(([name, tone]) => {
    const sum = hours[name].reduce((total, orders) => total + orders, 0);
    return { name, note: withCommas(sum), look: { tone } };
  });
  const chart: ColumnChart = {
    kind: 'columns',
    part: 'days',
    title: `Orders of ${hours.day} by hour`,
    text: 'Hours are UTC.',
    steps: HOUR_NAMES,
    series,
    isBeside: true,
    panels: [{ unit: 'orders an hour', values: SERIES.map(([name]) => hours[name]) }],
  };
  const cut = hours.since === null ? '' : note(`Counted from ${hours.since.slice(11, 16)} UTC on, as there is more.`);
  return section('flow', title, `${figureText(chart, 0, HALF_SIZES)}${cut}`);
}

const OUTCOMES = ['succeeded', 'failed', 'open', 'outcome_unknown', 'disputed'] as const;
const MONEY_COLUMNS: readonly Column[] = [
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
  const rows = moneyRows(parts);
  const columns = MONEY_COLUMNS.filter(({ key, kind }) => kind !== 'decimal' || rows.some((row) => row[key] !== '0'));
  const more = rows.length > MOST_ROWS ? note(`${rows.length - MOST_ROWS} more: order-sync report summary`) : '';
  const cut = cutAt === null ? '' : note(`Only the newest orders are added up, those since ${cutAt}.`);
  const isUnclassified = columns.some(({ key }) => key === 'outcome_unknown');
  const hint = isUnclassified ? note('Unclassified: follow.succeededStatuses does not say which statuses paid.') : '';
  return `${heading}${table(title, columns, rows.slice(0, MOST_ROWS))}${more}${hint}${cut}`;
}

function moneyRows(parts: MoneyPeriod['parts']): readonly Row[] {
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
