import { ORDER_STATES, type OrderState } from '../../../../orders/rules/states.ts';
import { figureText } from '../../../documents/chart.ts';
import { HALF_SIZES } from '../../../documents/chart/svg.ts';
import type { Column, ColumnChart, Row } from '../../../documents/document.ts';
import { commandText, ageOf, escapeText, proseText } from '../../../documents/html/cells.ts';
import { sumOf, withCommas } from '../../../../base/words.ts';
import { NOT_IN_SUMS, OUTCOME_COLUMNS, sumOf as sumsOf } from '../../../reports/reconciliation/money.ts';
import type { MoneyGroup } from '../../../reports/reconciliation/money.ts';
import type { Overview } from '../../status/status.ts';
import { RANGES, type DashboardFacts, type RangeName } from '../read-facts.ts';
import { count, link, listPath, pathTo, table } from '../markup.ts';
import { paragraph } from '../../../documents/html.ts';
import { counted } from '../../../documents/words.ts';

const MEANINGS: Readonly<Record<OrderState, string>> = {
  pending: 'waiting to be sent',
  sending: 'being sent',
  unknown: 'being looked up',
  held: 'waiting for a decision',
  accepted: 'pre-orders without an order yet',
  open: 'in progress at the exchange',
  disputed: 'contradicted by the exchange',
  final: 'finished',
  rejected: 'refused by the exchange',
  invalid: 'refused by our own check',
  cancelled: 'ended before they were sent',
  abandoned: 'given up by a person',
};
const STRIP = { width: 1_000, height: 22, gap: 2, least: 6 };

export function statesText({ overview, account, at }: DashboardFacts): string {
  const { orders, more, oldestPending, oldestUnknown, findings } = overview;
  const states = ORDER_STATES.filter((state) => orders[state] > 0);
  const pathOf = (state: OrderState) => listPath('/orders', account, { state });
  const items = states.map((state) => {
    const waited = [oldestPending, oldestUnknown].find((order) => order?.state === state);
    const age = ageOf(waited?.since ?? at, at).replace(' ', '\u00a0');
    const oldest = age === 'now' ? '' : `the oldest for ${age}`;
    const notes = [MEANINGS[state], oldest].filter((part) => part !== '').join(', ');
    const number = `${count(orders[state])}${more.includes(state) ? ' <small>or more</small>' : ''}`;
    const swatch = `<svg viewBox="0 0 14 14" aria-hidden="true"><path d="M0 0h14v14H0z"/></svg>`;
    return `<li class="state-${state}">${link(pathOf(state), `${swatch}<strong>${number}</strong> <span>${state}</span>`)}<small>${proseText(notes)}</small></li>\n`;
  });
  const infos = sumOf(findings, ({ severity, open }) => (severity === 'info' ? open : 0));
  const list = listPath('/findings', account, { severity: 'info', status: 'open' });
  const open = link(list, `${count(infos)} open ${infos === 1 ? 'finding' : 'findings'}`);
  const explained = infos === 0 ? '' : `<p class="note">${open} of severity info: no action is needed.</p>\n`;
  if (states.length === 0) return `${paragraph('panel empty', 'There are no orders yet.')}${explained}`;
  return `<div class="panel states">${stripText(states, orders, pathOf)}<ul>\n${items.join('')}</ul></div>\n${explained}`;
}

function stripText(states: readonly OrderState[], orders: Overview['orders'], pathOf: (state: OrderState) => string) {
  const { width, height, gap, least } = STRIP;
  const all = sumOf(states, (state) => orders[state]);
  const free = width - states.length * (least + gap);
  let x = 0;
  const parts = states.map((state) => {
    const wide = least + (free * orders[state]) / all;
    const bar = `<path class="state-${state}" d="M${x.toFixed(1)} 0h${wide.toFixed(1)}v${height}h-${wide.toFixed(1)}z"><title>${state}: ${withCommas(orders[state])}</title></path>`;
    x += wide + gap;
    return `<a href="${escapeText(pathOf(state))}" tabindex="-1" aria-hidden="true">${bar}</a>`;
  });
  return `<svg class="strip" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" aria-hidden="true">${parts.join('')}</svg>\n`;
}

const TONES = { inserted: 'neutral', accepted: 'info', final: 'good' } as const;

function rangesText({ account, range }: DashboardFacts): string {
  const links = (Object.keys(RANGES) as RangeName[]).map((name) => {
    const path = escapeText(pathTo('/', { account: account ?? 'all', range: name }));
    return `<a href="${path}"${name === range ? ' aria-current="true"' : ''}>${RANGES[name].label}</a>`;
  });
  return `<nav class="ranges" aria-label="Period">${links.join('')}</nav>\n`;
}

export function flowText(facts: DashboardFacts): string {
  const { activity, range, account } = facts;
  if (activity === null) return paragraph('panel empty', 'Choose an account to see its orders over time.');
  const { starts, moves, movesSince } = activity;
  const { step } = RANGES[range];
  const inserted = sumOf(moves.inserted, (orders) => orders);
  const since = movesSince ?? starts[0] ?? '';
  const path = listPath('/orders', account, { since });
  const lead = `<div class="titled"><p>${link(path, `${count(inserted)} ${inserted === 1 ? 'order was' : 'orders were'} inserted`)} since ${shortTime(since)} UTC.</p>${rangesText(facts)}</div>\n`;
  const chart: ColumnChart = {
    kind: 'columns',
    part: 'days',
    title: `Orders per ${step}`,
    text: 'Times are UTC. The last column is not complete yet.',
    steps: starts.map((start) => stepName(start, range)),
    series: Object.entries(TONES).map(([name, tone]) => ({ name, look: { tone } })),
    isBeside: true,
    panels: [{ unit: `orders per ${step}`, values: [moves.inserted, moves.accepted, moves.final] }],
  };
  return `${lead}${figureText(chart, 0, HALF_SIZES)}${cutNote(movesSince)}`;
}

function stepName(start: string, range: RangeName): string | null {
  const [hour, minute] = [Number(start.slice(11, 13)), Number(start.slice(14, 16))];
  if (range === '7d') return hour === 0 ? start.slice(5, 10) : null;
  return (range === '1h' ? minute % 15 : hour % 6) === 0 ? start.slice(11, 16) : null;
}

function cutNote(since: string | null): string {
  if (since === null) return '';
  const many = 'There are too many orders to count them all';
  return paragraph('note', `${many}: only those since ${shortTime(since)} UTC are counted.`);
}

function shortTime(at: string): string {
  return at.slice(0, 16).replace('T', ' ');
}

const MONEY_COLUMNS: readonly Column[] = [
  { key: 'pair', label: 'Pair', kind: 'text' },
  { key: 'currency', label: 'Currency', kind: 'text' },
  { key: 'orders', label: 'Orders', kind: 'count' },
  ...OUTCOME_COLUMNS,
  NOT_IN_SUMS,
];
const FILTERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  orders: {},
  succeeded: { outcome: 'succeeded' },
  failed: { outcome: 'failed' },
  open: { state: 'open' },
  outcome_unknown: { outcome: 'outcome_unknown' },
  disputed: { state: 'disputed' },
};
const MOST_ROWS = 30;

const UNCLASSIFIED =
  'Unclassified: follow.succeededStatuses and follow.finalStatuses do not say which of these orders paid.';

export function moneyText({ activity, account }: DashboardFacts): string {
  if (activity === null) return paragraph('panel empty', 'Choose an account to see its amounts.');
  const { money, moneySince, starts } = activity;
  if (money.length === 0) return paragraph('panel empty', 'No order was inserted in this period.');
  const rows = moneyRows(money);
  const since = moneySince ?? starts[0] ?? '';
  const isShown = ({ key, kind }: Column) => kind === 'text' || rows.some((row) => Number(row[key]) !== 0);
  const columns = MONEY_COLUMNS.filter(isShown).map((column): Column => {
    const filter = FILTERS[column.key];
    if (filter === undefined) return column;
    const pathOf = ({ pair }: Row) => listPath('/orders', account, { since, pair: String(pair), ...filter });
    return { ...column, href: (row) => (row[column.key] === '0' ? undefined : pathOf(row)) };
  });
  const left = rows.length - MOST_ROWS;
  const more =
    left > 0 ? `<p class="note">${counted(left, 'more pair')}: ${commandText('order-sync report summary')}</p>\n` : '';
  const hint = columns.some(({ key }) => key === 'outcome_unknown') ? paragraph('note', UNCLASSIFIED) : '';
  return `${table('Amounts', columns, rows.slice(0, MOST_ROWS))}${more}${hint}${cutNote(moneySince)}`;
}

function moneyRows(money: readonly MoneyGroup[]): readonly Row[] {
  const groups = Map.groupBy(money, ({ pair, position }) => JSON.stringify([pair, position]));
  const rows = [...groups.values()].map((same) => {
    const { pair = '', currency = null, position } = same[0] ?? {};
    const shown = currency ?? `not shown (${position ?? 'no position'})`;
    return { pair, currency: shown, ...sumsOf(same) };
  });
  return rows.toSorted((a, b) => b.orders - a.orders);
}
