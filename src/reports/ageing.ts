import { instantMs } from '../domain/instant.ts';
import { ORDER_STATES, WAITING_STATES, type OrderState } from '../domain/orders/states.ts';
import { accountAdvice, accountColumns, accountFact } from './formats/sections.ts';
import type { Card, Chart, Column, ReportDocument, Row, Span, Verdict } from './formats/document.ts';
import { counted, cut, emptyReason, inWords } from './formats/words.ts';
import { waitingChart } from './reconciliation/charts.ts';

/** Orders of one state, order status and pair (null: all pairs), with the times since which the orders at these ranks have not changed. */
export interface AgeGroup {
  readonly state: string;
  readonly status: string | null;
  readonly pair: string | null;
  readonly orders: number;
  readonly p1: string;
  readonly p25: string;
  readonly p50: string;
  readonly p75: string;
  readonly p90: string;
  readonly p99: string;
  readonly longest: string;
}

/** An order whose state and status have not changed for long. */
export interface OldestOrder {
  readonly account: string;
  readonly id: string;
  readonly pair: string;
  readonly state: string;
  readonly status: string | null;
  readonly since: string;
}

/** The orders that the report is about; times are UTC, ISO 8601. */
export interface AgeingFacts {
  /** Undefined: all accounts. */
  readonly account: string | undefined;
  readonly asOf: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly orders: number;
  /** A period without orders is as it should be. */
  readonly mayBeEmpty?: boolean | undefined;
}

/** Name and version of the JSON form. A change that breaks its readers needs the next number. */
const AGEING_SCHEMA = 'order-sync.ageing/1';

/** The states in which an order stays until a person decides, or may come to that. */
export const PERSON_STATES: readonly OrderState[] = ['held', 'disputed', 'unknown'];

const PERCENTILES = [
  ['p50', 'Half within'],
  ['p90', '90 % within'],
  ['p99', '99 % within'],
  ['longest', 'Longest'],
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
  ...PERCENTILES.map(([key, label], place) => ({
    key,
    label,
    kind: 'text' as const,
    rank: place === 3 ? 0 : 3 - place,
  })),
  ...PERCENTILES.map(([key, label]) => secondsOf(key, label)),
];
const BY_STATUS = [...STATE_AND_STATUS, ...AGES];
const BY_PAIR = [...STATE_AND_STATUS, PAIR, ...AGES];
const OLDEST: readonly Column[] = [
  { key: 'external_order_id', label: 'Order', kind: 'text' },
  { ...PAIR, rank: 2 },
  ...STATE_AND_STATUS,
  { key: 'since', label: 'Since', kind: 'time', rank: 1 },
  { key: 'age', label: 'For', kind: 'text' },
  secondsOf('age', 'For'),
];

/** Builds the report: for how long orders have been in their state and status, and which have been the longest. */
export function ageingDocument(
  facts: AgeingFacts,
  byStatus: readonly AgeGroup[],
  byPair: readonly AgeGroup[],
  oldest: readonly OldestOrder[],
): ReportDocument {
  const asOfMs = instantMs(facts.asOf) ?? 0;
  const oldestRows = oldest.map((order) => oldestRow(order, asOfMs));
  const rows = (groups: readonly AgeGroup[]) => inOrder(groups).map((group) => groupRow(group, asOfMs));
  return {
    schema: AGEING_SCHEMA,
    title: 'Age of orders in their state and order status',
    verdict: verdictOf(facts, byStatus, oldest),
    cards: cardsOf(facts, byStatus, oldest),
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
        rows: oldestRows,
      },
      { name: 'statuses', title: 'By state and order status', columns: BY_STATUS, rows: rows(byStatus) },
      { name: 'pairs', title: 'By state, order status and pair', columns: BY_PAIR, rows: rows(byPair) },
    ],
    charts: chartOf(byStatus, asOfMs),
  };
}

/** Says how many orders wait, and whether a person has to decide about some of them. */
function verdictOf(
  { account, asOf, orders, mayBeEmpty }: AgeingFacts,
  byStatus: readonly AgeGroup[],
  [longest]: readonly OldestOrder[],
): Verdict {
  if (orders === 0) {
    const reasons = mayBeEmpty === true ? [] : [emptyReason('order')];
    return { tone: mayBeEmpty === true ? 'neutral' : 'warning', text: 'There are no orders', reasons };
  }
  const waiting = countOf(byStatus, WAITING_STATES);
  const undecided = countOf(byStatus, PERSON_STATES);
  const ms = ageMs(longest?.since ?? '', instantMs(asOf) ?? 0);
  const reasons = [
    ...(undecided === 0
      ? []
      : [
          `${statesOf(byStatus, PERSON_STATES)}: order-sync orders explain ORDER${accountAdvice(account)} says what to do.`,
        ]),
    ...(ms === null ? [] : [`The longest has waited for ${inWords(ms)}.`]),
  ];
  if (undecided > 0)
    return { tone: 'warning', text: `A person should look at ${counted(undecided, 'order')}`, reasons };
  if (waiting === 0) return { tone: 'good', text: 'No order waits', reasons };
  return { tone: 'info', text: counted(waiting, 'order waits', 'orders wait'), reasons };
}

function cardsOf(
  { asOf, orders }: AgeingFacts,
  byStatus: readonly AgeGroup[],
  [longest]: readonly OldestOrder[],
): readonly Card[] {
  const ms = ageMs(longest?.since ?? '', instantMs(asOf) ?? 0);
  const undecided = countOf(byStatus, PERSON_STATES);
  const figure = (states: readonly string[]) => {
    const value = String(countOf(byStatus, states));
    return value === '0' ? { value } : { value, note: statesOf(byStatus, states) };
  };
  return [
    { label: 'Orders', value: String(orders), section: 'statuses' },
    { label: 'Waiting', ...figure(WAITING_STATES), section: 'statuses' },
    { label: 'For a person', ...figure(PERSON_STATES), tone: undecided === 0 ? 'good' : 'warning', section: 'oldest' },
    ...(longest === undefined || ms === null
      ? []
      : [
          { label: 'Longest', value: inWords(ms), note: `${longest.state}: ${cut(longest.id, 40)}`, section: 'oldest' },
        ]),
  ];
}

function countOf(groups: readonly AgeGroup[], states: readonly string[]): number {
  return groups.reduce((sum, { state, orders }) => (states.includes(state) ? sum + orders : sum), 0);
}

/** The orders of each of the states: `2 held, 1 unknown`. */
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
  return Object.assign({ state, status, pair, orders }, ...PERCENTILES.map(([key]) => age(key, group[key], asOfMs)));
}

function oldestRow({ account, id, pair, state, status, since }: OldestOrder, asOfMs: number): Row {
  return { account, external_order_id: id, pair, state, status, since, ...age('age', since, asOfMs) };
}

/** The cells of an age: in words, and in seconds. */
function age(key: string, since: string, asOfMs: number): Row {
  const ms = ageMs(since, asOfMs);
  return { [key]: duration(ms), [`${key}_seconds`]: seconds(ms) };
}

/** Null where another program wrote a time that cannot be read. */
function ageMs(since: string, asOfMs: number): number | null {
  const ms = instantMs(since);
  return ms === undefined ? null : asOfMs - ms;
}

/** Whole milliseconds as decimal seconds, exactly. */
function seconds(ms: number | null): string | null {
  return ms === null ? null : `${Math.floor(ms / 1_000)}.${String(ms % 1_000).padStart(3, '0')}`;
}

/** For people: `3d 04:05:06`. */
function duration(ms: number | null): string | null {
  if (ms === null) return null;
  const whole = Math.floor(ms / 1_000);
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const clock = `${two((whole / 3_600) % 24)}:${two((whole / 60) % 60)}:${two(whole % 60)}`;
  return whole < 86_400 ? clock : `${Math.floor(whole / 86_400)}d ${clock}`;
}

/** Without groups of which an age cannot be known. */
function chartOf(byStatus: readonly AgeGroup[], asOfMs: number): readonly Chart[] {
  const waiting = inOrder(byStatus).filter(({ state }) => (WAITING_STATES as readonly string[]).includes(state));
  const rows = waiting.flatMap(({ state, status, orders, ...since }) => {
    const [p1, p25, p50, p75, p99] = [since.p1, since.p25, since.p50, since.p75, since.p99].map(
      (at) => ageMs(at, asOfMs) ?? NaN,
    );
    const span = { p1, p25, p50, p75, p99 } as Span;
    const name = status === null ? state : `${state}, ${status}`;
    return Object.values(span).some(Number.isNaN) ? [] : [{ name, state, orders, span }];
  });
  return waitingChart(rows, 'details');
}
