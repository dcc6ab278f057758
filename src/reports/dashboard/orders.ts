import { ORDER_STATES, type OrderState } from '../../domain/orders/states.ts';
import { figureText } from '../formats/chart.ts';
import { HALF_SIZES } from '../formats/chart/svg.ts';
import type { Column, ColumnChart } from '../formats/document.ts';
import { toneOf } from '../formats/tone.ts';
import { inUnits, withCommas } from '../formats/words.ts';
import { AGE_LIMITS_MS, type Ageing, type DashboardFacts } from './facts.ts';
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
export function ordersSection({ orders, oldest, at }: DashboardFacts): string {
  const tiles = ORDER_STATES.map((state) => {
    const found = orders.find((one) => one.state === state);
    const [number, waited] = [found?.orders ?? 0, oldest.find((one) => one.state === state)];
    const since = waited === undefined || number === 0 ? '' : `, the oldest for ${ageOf(waited.since, at)}`;
    return tile({
      label: state,
      value: `${count(number)}${found?.isMore === true ? ' <small>or more</small>' : ''}`,
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
