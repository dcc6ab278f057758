import { instantMs } from '../domain/instant.ts';
import { ORDER_STATES, WAITING_STATES, type OrderState } from '../domain/orders/states.ts';
import type { Card, Chart, Column, ReportDocument, Row, Span, Verdict } from './formats/document.ts';
import { accountAdvice, accountColumns, accountFact, emptyVerdict, type ReportScope } from './formats/sections.ts';
import { counted, cut, inWords } from './formats/text.ts';
import { waitingChart } from './reconciliation/charts.ts';

const SPAN = ['p1', 'p25', 'p50', 'p75', 'p99'] as const;

/** Orders of one state, order status and pair (null: all pairs), with the times since which the orders at these ranks have not changed. */
export interface AgeGroup extends Readonly<Record<(typeof SPAN)[number] | 'p90' | 'longest', string>> {
  readonly state: string;
  readonly status: string | null;
  readonly pair: string | null;
  readonly orders: number;
}

export interface OldestOrder {
  readonly account: string;
  readonly id: string;
  readonly pair: string;
  readonly state: string;
  readonly status: string | null;
  readonly since: string;
}

/** The orders that the report is about; times are UTC, ISO 8601. */
interface AgeingFacts extends ReportScope {
  readonly asOf: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly orders: number;
}

/** Name and version of the JSON form. A change that breaks its readers needs the next number. */
const AGEING_SCHEMA = 'order-sync.ageing/1';

/** The states in which an order stays until a person decides, or may come to that. */
export const PERSON_STATES: readonly OrderState[] = ['held', 'disputed', 'unknown'];

const PERCENTILES = [
  ['p50', 'Half within', 3],
  ['p90', '90 % within', 2],
  ['p99', '99 % within', 1],
  ['longest', 'Longest', 0],
] as const;
const RULE =
  'age is the time since the state or the order status last changed; a percentile is the smallest age that so many of the orders do not exceed';
const STATE_AND_STATUS: readonly Column[] = [
  { key: 'state', label: 'State', kind: 'state' },
  { key: 'status', label: 'Order status', kind: 'text' },
];
const PAIR: Column = { key: 'pair', label: 'Pair', kind: 'text' };
/** Each age is given in words for people and in seconds for programs. */
const AGES: readonly Column[] = [
  { key: 'orders', label: 'Orders', kind: 'count' },
  ...PERCENTILES.map(([key, label, rank]) => ({ key, label, kind: 'text' as const, rank })),
  ...PERCENTILES.map(([key, label]) => secondsOf(key, label)),
];
const OLDEST: readonly Column[] = [
  { key: 'external_order_id', label: 'Order', kind: 'text' },
  { ...PAIR, rank: 2 },
  ...STATE_AND_STATUS,
  { key: 'since', label: 'Since', kind: 'time', rank: 1 },
  { key: 'age', label: 'For', kind: 'text' },
  secondsOf('age', 'For'),
];

export function ageingDocument(
  facts: AgeingFacts,
  byStatus: readonly AgeGroup[],
  byPair: readonly AgeGroup[],
  oldest: readonly OldestOrder[],
): ReportDocument {
  const asOfMs = instantMs(facts.asOf) ?? 0;
  const [longest] = oldest;
  const longestMs = ageMs(longest?.since ?? '', asOfMs);
  const longestCard = longest !== undefined &&
    longestMs !== null && {
      label: 'Longest',
      value: inWords(longestMs),
      note: `${longest.state}: ${cut(longest.id, 40)}`,
      section: 'oldest',
    };
  const rows = (groups: readonly AgeGroup[]) => inOrder(groups).map((group) => groupRow(group, asOfMs));
  return {
    schema: AGEING_SCHEMA,
    title: 'Age of orders in their state and order status',
    verdict: verdictOf(facts, byStatus, longestMs),
    cards: [...cardsOf(facts, byStatus), ...(longestCard === false ? [] : [longestCard])],
    facts: [
      accountFact(facts.account),
      { key: 'asOf', label: 'As of', value: facts.asOf },
      { key: 'from', label: 'Orders inserted from', value: facts.from },
      { key: 'to', label: 'Orders inserted before', value: facts.to },
      { key: 'orders', label: 'Orders', value: facts.orders },
      { key: 'rule', label: 'Rule', value: RULE },
    ],
    sections: [
      {
        name: 'oldest',
        title: 'Orders that have waited the longest',
        lead: `The story of an order: order-sync orders explain ORDER${accountAdvice(facts.account)}.`,
        empty: 'No order waits.',
        columns: [...accountColumns(facts.account), ...OLDEST],
        rows: oldest.map(({ id, ...order }) => ({
          external_order_id: id,
          ...order,
          ...ageCells('age', order.since, asOfMs),
        })),
      },
      {
        name: 'statuses',
        title: 'By state and order status',
        columns: [...STATE_AND_STATUS, ...AGES],
        rows: rows(byStatus),
      },
      {
        name: 'pairs',
        title: 'By state, order status and pair',
        columns: [...STATE_AND_STATUS, PAIR, ...AGES],
        rows: rows(byPair),
      },
    ],
    charts: chartOf(byStatus, asOfMs),
  };
}

function verdictOf(
  { account, orders, mayBeEmpty }: AgeingFacts,
  byStatus: readonly AgeGroup[],
  longestMs: number | null,
): Verdict {
  if (orders === 0) return emptyVerdict('order', 'There are no orders', mayBeEmpty);
  const [waiting, undecided] = [countOf(byStatus, WAITING_STATES), countOf(byStatus, PERSON_STATES)];
  const explain = `order-sync orders explain ORDER${accountAdvice(account)} says what to do.`;
  const reasons = [
    ...(undecided === 0 ? [] : [`${statesOf(byStatus, PERSON_STATES)}: ${explain}`]),
    ...(longestMs === null ? [] : [`The longest has waited for ${inWords(longestMs)}.`]),
  ];
  if (undecided > 0)
    return { tone: 'warning', text: `A person should look at ${counted(undecided, 'order')}`, reasons };
  if (waiting === 0) return { tone: 'good', text: 'No order waits', reasons };
  return { tone: 'info', text: counted(waiting, 'order waits', 'orders wait'), reasons };
}

function cardsOf({ orders }: AgeingFacts, byStatus: readonly AgeGroup[]): readonly Card[] {
  const figure = (states: readonly string[]) => {
    const value = String(countOf(byStatus, states));
    return value === '0' ? { value } : { value, note: statesOf(byStatus, states) };
  };
  const tone = countOf(byStatus, PERSON_STATES) === 0 ? 'good' : 'warning';
  return [
    { label: 'Orders', value: String(orders), section: 'statuses' },
    { label: 'Waiting', ...figure(WAITING_STATES), section: 'statuses' },
    { label: 'For a person', ...figure(PERSON_STATES), tone, section: 'oldest' },
  ];
}

function countOf(groups: readonly AgeGroup[], states: readonly string[]): number {
  return groups.reduce((sum, { state, orders }) => (states.includes(state) ? sum + orders : sum), 0);
}

function statesOf(groups: readonly AgeGroup[], states: readonly string[]): string {
  const counts = states.map((state) => [state, countOf(groups, [state])] as const);
  return counts.flatMap(([state, count]) => (count === 0 ? [] : [`${count} ${state}`])).join(', ');
}

function secondsOf(key: string, label: string): Column {
  return { key: `${key}_seconds`, label: `${label}, seconds`, kind: 'decimal', isForPrograms: true };
}

function inOrder(groups: readonly AgeGroup[]): readonly AgeGroup[] {
  const place = ({ state }: AgeGroup) => ORDER_STATES.indexOf(state as OrderState);
  return groups.toSorted((a, b) => place(a) - place(b));
}

function groupRow(group: AgeGroup, asOfMs: number): Row {
  const { state, status, pair, orders } = group;
  const ages = PERCENTILES.map(([key]) => ageCells(key, group[key], asOfMs));
  return Object.assign({ state, status, pair, orders }, ...ages);
}

/** The cells of an age: in words such as `3d 04:05:06`, and in seconds, exactly. */
function ageCells(key: string, since: string, asOfMs: number): Row {
  const ms = ageMs(since, asOfMs);
  if (ms === null) return { [key]: null, [`${key}_seconds`]: null };
  const whole = Math.floor(ms / 1_000);
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const clock = `${two((whole / 3_600) % 24)}:${two((whole / 60) % 60)}:${two(whole % 60)}`;
  return {
    [key]: whole < 86_400 ? clock : `${Math.floor(whole / 86_400)}d ${clock}`,
    [`${key}_seconds`]: `${whole}.${String(ms % 1_000).padStart(3, '0')}`,
  };
}

/** Null if another program wrote a time that cannot be read. */
function ageMs(since: string, asOfMs: number): number | null {
  const ms = instantMs(since);
  return ms === undefined ? null : asOfMs - ms;
}

/** Without groups of which an age cannot be known. */
function chartOf(byStatus: readonly AgeGroup[], asOfMs: number): readonly Chart[] {
  const waiting = inOrder(byStatus).filter(({ state }) => (WAITING_STATES as readonly string[]).includes(state));
  const rows = waiting.flatMap(({ state, status, orders, ...since }) => {
    const ages = SPAN.map((key) => [key, ageMs(since[key], asOfMs)] as const);
    const name = status === null ? state : `${state}, ${status}`;
    return ages.some(([, ms]) => ms === null) ? [] : [{ name, state, orders, span: Object.fromEntries(ages) as Span }];
  });
  return waitingChart(rows, 'details');
}
