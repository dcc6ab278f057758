import { ORDER_STATES, type OrderState } from '../../domain/orders/states.ts';
import { toneOf } from '../formats/tone.ts';
import { inUnits } from '../formats/words.ts';
import { AGE_LIMITS_MS, type ActivityFacts, type Ageing, type DashboardFacts } from './facts.ts';
import { ageOf, badge, count, empty, note, section, table, tile, type ShownColumn } from './markup.ts';

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

const AGE_NAMES = [...AGE_LIMITS_MS.map((limit) => `under ${inUnits(limit)}`), 'longer'];
const AGE_COLUMNS: readonly ShownColumn[] = [
  { key: 'state', label: 'State', kind: 'state' },
  ...AGE_NAMES.map((label) => ({ key: label, label, kind: 'count' as const })),
];

function ageRow({ state, orders }: Ageing['rows'][number]) {
  return { state, ...Object.fromEntries(AGE_NAMES.map((name, index) => [name, orders[index] ?? 0])) };
}

const SERIES = [
  ['inserted', 'neutral', 'inserted'],
  ['accepted', 'info', 'accepted'],
  ['final', 'good', 'final'],
] as const;
/** The drawing, in its own units. */
const [WIDTH, HEIGHT, BASE, TOP] = [720, 190, 166, 14];

/** The orders of today by hour: how many came, were accepted, and became final. */
export function flowSection({ activity }: DashboardFacts): string {
  const title = 'Orders of today by hour';
  if (activity === null) return section('flow', title, empty('Choose an account to see its hours.'));
  const { hours } = activity;
  const sums = SERIES.map(([key, tone, name]) => {
    const sum = hours[key].reduce((all, one) => all + one, 0);
    return `<li>${badge(tone, name)} ${count(sum)}</li>`;
  });
  const cut = hours.since === null ? '' : note(`Counted from ${hours.since.slice(11, 16)} UTC on, as there is more.`);
  return section(
    'flow',
    title,
    `<div class="panel chart-panel"><ul class="legend">${sums.join('')}</ul>\n${drawing(hours)}</div>\n${cut}`,
  );
}

function drawing(hours: ActivityFacts['hours']): string {
  const most = niceTop(Math.max(1, ...SERIES.flatMap(([key]) => hours[key])));
  const [left, step] = [44, (WIDTH - 52) / 24];
  const yOf = (value: number) => BASE - ((BASE - TOP) * value) / most;
  const lines = [0, most / 2, most].map((value) => {
    const y = yOf(value);
    return `<path class="line" d="M${left} ${y}H${WIDTH - 8}"/><text class="muted" x="${left - 8}" y="${y + 4}" text-anchor="end">${shortNumber(value)}</text>`;
  });
  const bars = SERIES.map(([key, tone], place) => {
    const path = hours[key].map((value, hour) => {
      if (value === 0) return '';
      const x = left + hour * step + step * (0.14 + place * 0.25);
      return `M${x.toFixed(1)} ${BASE}V${yOf(value).toFixed(1)}h${(step * 0.22).toFixed(1)}V${BASE}z`;
    });
    return `<path class="${tone}" d="${path.join('')}"/>`;
  });
  const labels = [0, 6, 12, 18].map(
    (hour) =>
      `<text class="muted" x="${(left + hour * step).toFixed(1)}" y="${HEIGHT - 6}">${String(hour).padStart(2, '0')}:00</text>`,
  );
  const sum = (key: (typeof SERIES)[number][0]) => hours[key].reduce((all, one) => all + one, 0);
  const words = SERIES.map(([key, , name]) => `${sum(key)} ${name}`).join(', ');
  return `<svg class="hours" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Of ${hours.day}: ${words}">${lines.join('')}${bars.join('')}${labels.join('')}</svg>`;
}

/** The least of 1, 2, 4, 10, 20 and so on that is not below. */
function niceTop(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most));
  return ([1, 2, 4, 10].find((one) => one * power >= most) ?? 10) * power;
}

function shortNumber(value: number): string {
  return value >= 10_000 ? `${value / 1_000}k` : String(value);
}
