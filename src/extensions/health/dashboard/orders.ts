import { ORDER_STATES, type OrderState } from '../../../orders/rules/states.ts';
import { figureText } from '../../documents/chart.ts';
import { HALF_SIZES } from '../../documents/chart/svg.ts';
import { toneOf, type Column, type ColumnChart, type Row } from '../../documents/document.ts';
import { boxText } from '../../documents/html.ts';
import { ageOf } from '../../documents/html/cells.ts';
import { inUnits, sumOf, withCommas } from '../../../base/words.ts';
import { OUTCOME_COLUMNS, sumOf as sumsOf } from '../../reports/reconciliation/money.ts';
import { AGE_LIMITS_MS, MOVES, type DashboardFacts, type MoneyPeriod } from './facts.ts';
import { count, empty, note, table } from './markup.ts';

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

export function statesText({ overview, at }: DashboardFacts): string {
  const { orders, more, oldestPending, oldestUnknown } = overview;
  const boxes = ORDER_STATES.map((state) => {
    const number = orders[state];
    const waited = [oldestPending, oldestUnknown].find((order) => order?.state === state) ?? null;
    const since = waited === null || number === 0 ? '' : `, the oldest for ${ageOf(waited.since, at)}`;
    return boxText({
      label: state,
      value: `${count(number)}${more.includes(state) ? ' <small>or more</small>' : ''}`,
      note: `${MEANINGS[state]}${since}`,
      tone: number === 0 ? 'neutral' : toneOf('state', state),
    });
  });
  return `<ul class="cards states">\n${boxes.join('')}</ul>\n`;
}

const AGE_NAMES = [...AGE_LIMITS_MS.map((limit) => `under ${inUnits(limit).replace(' ', '\u00a0')}`), 'longer'];
const AGE_COLUMNS: readonly Column[] = [
  { key: 'state', label: 'State', kind: 'state' },
  ...AGE_NAMES.map((label) => ({ key: label, label, kind: 'count' as const })),
];

export function ageingText({ activity }: DashboardFacts): string {
  if (activity === null) return empty('Choose an account to see its ages.');
  const { rows: ages, isCut } = activity.ageing;
  if (ages.length === 0) return empty('No order is followed.');
  const text = isCut
    ? 'Not all orders were looked at, as there are too many: report ageing looks at each.'
    : 'Since the order last changed. A report of all: order-sync report ageing.';
  const rows = ages.map(({ state, orders }) => ({
    state,
    ...Object.fromEntries(AGE_NAMES.map((name, index) => [name, orders[index] ?? 0])),
  }));
  return `${table('Ageing', AGE_COLUMNS, rows)}${note(text)}`;
}

const TONES = { inserted: 'neutral', accepted: 'info', final: 'good' } as const;
const HOUR_NAMES = Array.from({ length: 24 }, (_, hour) =>
  hour % 6 === 0 ? `${String(hour).padStart(2, '0')}:00` : null,
);

export function flowText({ activity }: DashboardFacts): string {
  if (activity === null) return empty('Choose an account to see its hours.');
  const { hours } = activity;
  const chart: ColumnChart = {
    kind: 'columns',
    part: 'days',
    title: `Orders of ${hours.day} by hour`,
    text: 'Hours are UTC.',
    steps: HOUR_NAMES,
    series: MOVES.map((name) => ({
      name,
      note: withCommas(sumOf(hours[name], (orders) => orders)),
      look: { tone: TONES[name] },
    })),
    isBeside: true,
    panels: [{ unit: 'orders an hour', values: MOVES.map((name) => hours[name]) }],
  };
  const cut = hours.since === null ? '' : note(`Counted from ${hours.since.slice(11, 16)} UTC on, as there is more.`);
  return `${figureText(chart, 0, HALF_SIZES)}${cut}`;
}

const MONEY_COLUMNS: readonly Column[] = [
  { key: 'pair', label: 'Pair', kind: 'text' },
  { key: 'currency', label: 'Currency', kind: 'text' },
  { key: 'orders', label: 'Orders', kind: 'count' },
  ...OUTCOME_COLUMNS,
];
const MOST_ROWS = 30;

export function moneyText({ activity }: DashboardFacts): string {
  if (activity === null) return empty('Choose an account to see its money.');
  return activity.money.map(periodText).join('');
}

function periodText({ title, parts, cutAt }: MoneyPeriod): string {
  const orders = sumOf(parts, (part) => part.orders);
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
  const groups = Map.groupBy(parts, ({ pair, position }) => JSON.stringify([pair, position]));
  const rows = [...groups.values()].map((same) => {
    const { pair = '', currency = null, position } = same[0] ?? {};
    const shown = currency ?? `not shown (${position ?? 'no position'})`;
    return { pair, currency: shown, ...sumsOf(same) };
  });
  return rows.toSorted((a, b) => b.orders - a.orders);
}
