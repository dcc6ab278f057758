import { instantMs } from '../../base/instant.ts';
import { ORDER_STATES, WAITING_STATES, type OrderState } from '../../orders/rules/states.ts';
import type { Card, Chart, Column, Row, Section, Span, Verdict } from '../documents/document.ts';
import { accountAdvice, accountColumns, accountFact, emptyVerdict, type ReportScope } from '../documents/sections.ts';
import { sumOf } from '../../base/words.ts';
import { waitingChart } from './reconciliation/charts.ts';
import { counted, inWords, cut, compareTexts, partsOf } from '../documents/words.ts';

export interface AgeGroup extends Readonly<Record<keyof Span | 'p90' | 'longest', number | null>> {
  readonly state: string;
  readonly status: string | null;
  readonly pair: string | null;
  readonly orders: number;
}

export interface OldestOrder extends Readonly<Record<'account' | 'id' | 'pair' | 'state' | 'since', string>> {
  readonly status: string | null;
}

type AgeingFacts = ReportScope & { readonly asOf: string; readonly orders: number };

export const PERSON_STATES: readonly OrderState[] = ['held', 'disputed', 'unknown'];

const PERCENTILES = [
  ['p50', 'Half within', 3],
  ['p90', '90 % within', 2],
  ['p99', '99 % within', 1],
  ['longest', 'Longest', 0],
] as const;
const RULE =
  'The age of an order is the time since its state or its order status last changed. "90 % within 1 hour" means that 90 % of the orders are no older than 1 hour.';
const STATE: Column = { key: 'state', label: 'State', kind: 'state' };
const STATUS: Column = { key: 'status', label: 'Order status', kind: 'text' };
const PAIR: Column = { key: 'pair', label: 'Pair', kind: 'text' };
const AGES: readonly Column[] = [
  { key: 'orders', label: 'Orders', kind: 'count' },
  ...PERCENTILES.map(([key, label, rank]) => ({ key, label, kind: 'text' as const, rank })),
  ...PERCENTILES.map(([key, label]) => secondsOf(key, label)),
];
const OLDEST: readonly Column[] = [
  { key: 'external_order_id', label: 'Order', kind: 'text', isId: true },
  { ...PAIR, rank: 2 },
  STATE,
  STATUS,
  { key: 'since', label: 'Since', kind: 'time', rank: 1 },
  { key: 'age', label: 'For', kind: 'text' },
  secondsOf('age', 'For'),
];

type Groups = readonly AgeGroup[];

export function ageingDocument(facts: AgeingFacts, byStatus: Groups, byPair: Groups, oldest: readonly OldestOrder[]) {
  const { account, asOf, from = null, to = null, orders } = facts;
  const longestMs = ageMs(oldest[0]?.since ?? '', asOf);
  return {
    schema: 'order-sync.ageing/1',
    title: 'Age of orders in their state and order status',
    verdict: verdictOf(facts, byStatus, longestMs),
    cards: cardsOf(orders, byStatus, oldest[0], longestMs),
    facts: [
      accountFact(account),
      { key: 'asOf', label: 'As of', value: asOf },
      { key: 'from', label: 'Orders inserted from', value: from },
      { key: 'to', label: 'Orders inserted before', value: to },
      { key: 'orders', label: 'Orders', value: orders },
      { key: 'rule', label: 'Rule', value: RULE },
    ],
    sections: [
      {
        name: 'oldest',
        title: 'Orders that have waited the longest',
        lead: `order-sync orders explain ORDER${accountAdvice(account)} tells the story of an order.`,
        empty: 'No orders are waiting.',
        columns: [...accountColumns(account), ...OLDEST],
        rows: oldest.map(({ id, ...order }) => {
          return { external_order_id: id, ...order, ...ageCells('age', ageMs(order.since, asOf)) };
        }),
      },
      groupSection('statuses', 'By state and order status', [STATE, STATUS], byStatus),
      groupSection('pairs', 'By state, order status and pair', [STATE, STATUS, PAIR], byPair),
    ],
    charts: chartOf(byStatus),
  };
}

function verdictOf({ account, orders, mayBeEmpty }: AgeingFacts, byStatus: Groups, longestMs: number | null): Verdict {
  if (orders === 0) return emptyVerdict('order', 'There are no orders', mayBeEmpty);
  const [waiting, undecided] = [countOf(byStatus, WAITING_STATES), countOf(byStatus, PERSON_STATES)];
  const explain = `To see what to do about one of them, run order-sync orders explain ORDER${accountAdvice(account)}.`;
  const deciding = `A person must decide about these orders: ${statesOf(byStatus, PERSON_STATES)}. ${explain}`;
  const reasons = [
    undecided > 0 && deciding,
    longestMs !== null && `The order that has waited the longest has waited for ${inWords(longestMs)}.`,
  ].filter((reason) => reason !== false);
  if (undecided > 0)
    return { tone: 'warning', text: `A person should look at ${counted(undecided, 'order')}`, reasons };
  if (waiting === 0) return { tone: 'good', text: 'No orders are waiting', reasons };
  return { tone: 'info', text: counted(waiting, 'order is waiting', 'orders are waiting'), reasons };
}

function cardsOf(orders: number, byStatus: Groups, longest: OldestOrder | undefined, longestMs: number | null): Card[] {
  const figure = (states: readonly string[]) => {
    const note = statesOf(byStatus, states);
    return { value: String(countOf(byStatus, states)), ...(note !== '' && { note }) };
  };
  const tone = countOf(byStatus, PERSON_STATES) === 0 ? 'good' : 'warning';
  const cards: Card[] = [
    { label: 'Orders', value: String(orders), section: 'statuses' },
    { label: 'Waiting', ...figure(WAITING_STATES), section: 'statuses' },
    { label: 'Need a person', ...figure(PERSON_STATES), tone, section: 'oldest' },
  ];
  if (longest === undefined || longestMs === null) return cards;
  const note = `${longest.state}: ${cut(longest.id, 40)}`;
  return [...cards, { label: 'Longest wait', value: inWords(longestMs), note, section: 'oldest' }];
}

type Counted = Pick<AgeGroup, 'state' | 'orders'>;

export function countOf(groups: readonly Counted[], states: readonly string[]): number {
  return sumOf(groups, ({ state, orders }) => (states.includes(state) ? orders : 0));
}

export function statesOf(groups: readonly Counted[], states: readonly string[]): string {
  return partsOf(Object.fromEntries(states.map((state) => [state, countOf(groups, [state])])));
}

function secondsOf(key: string, label: string): Column {
  return { key: `${key}_seconds`, label: `${label}, seconds`, kind: 'decimal', isForPrograms: true };
}

function inOrder(groups: Groups): Groups {
  const place = ({ state }: AgeGroup) => ORDER_STATES.indexOf(state as OrderState);
  return groups.toSorted((a, b) => place(a) - place(b));
}

function groupSection(name: string, title: string, names: readonly Column[], groups: Groups): Section {
  const rows = inOrder(groups).map(({ state, status, pair, orders, ...ages }) =>
    Object.assign({ state, status, pair, orders }, ...PERCENTILES.map(([key]) => ageCells(key, ages[key]))),
  );
  return { name, title, columns: [...names, ...AGES], rows };
}

function ageCells(key: string, ms: number | null): Row {
  if (ms === null) return { [key]: null, [`${key}_seconds`]: null };
  const whole = Math.floor(ms / 1_000);
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const clock = `${two((whole / 3_600) % 24)}:${two((whole / 60) % 60)}:${two(whole % 60)}`;
  const words = whole < 86_400 ? clock : `${Math.floor(whole / 86_400)}d ${clock}`;
  return { [key]: words, [`${key}_seconds`]: `${whole}.${String(ms % 1_000).padStart(3, '0')}` };
}

/** Returns null if `since` cannot be read: it may be empty, or another program may have written any text. */
function ageMs(since: string, asOf: string): number | null {
  const ms = instantMs(since);
  return ms === undefined ? null : (instantMs(asOf) ?? 0) - ms;
}

function chartOf(byStatus: Groups): readonly Chart[] {
  const waiting = inOrder(byStatus).filter(({ state }) => (WAITING_STATES as readonly string[]).includes(state));
  const rows = waiting.flatMap(({ state, status, orders, p1, p25, p50, p75, p99 }) => {
    if (p1 === null || p25 === null || p50 === null || p75 === null || p99 === null) return [];
    return [{ name: status === null ? state : `${state}, ${status}`, state, orders, span: { p1, p25, p50, p75, p99 } }];
  });
  return waitingChart(rows, 'details');
}

const MOST_OLDEST = 50;

/** Groups orders by state, order status and pair. Keeps 8 bytes of an order, and the oldest waiting orders whole. */
export class Ages {
  readonly #asOf: string;
  readonly #limit: number;
  readonly #groups = new Map<string, Pick<AgeGroup, 'state' | 'status' | 'pair'> & { readonly times: number[] }>();
  #oldest: OldestOrder[] = [];
  orders = 0;

  constructor(asOf: string, limit = MOST_OLDEST) {
    [this.#asOf, this.#limit] = [asOf, limit];
  }

  add(order: OldestOrder): void {
    const { state, status, pair, since } = order;
    const key = `${state}\n${status === null ? '' : `=${status}`}\n${pair}`;
    const group = this.#groups.get(key) ?? { state, status, pair, times: [] };
    this.#groups.set(key, group);
    group.times.push(instantMs(since) ?? Number.NaN);
    this.orders += 1;
    if (!(WAITING_STATES as readonly string[]).includes(state)) return;
    this.#oldest.push(order);
    // The list is cut only at this length, because a sort for each order would take too long.
    if (this.#oldest.length >= 2 * this.#limit + 1_000) this.#oldest = [...this.oldest()];
  }

  byPair(): Groups {
    return this.#sorted().map(({ times, ...group }) => ({ ...group, ...this.#percentiles(times) }));
  }

  byStatus(): Groups {
    const groups = Map.groupBy(this.#sorted(), ({ state, status }) => JSON.stringify([state, status]));
    return [...groups.values()].map((same) => {
      const { state, status } = same[0]!;
      return { state, status, pair: null, ...this.#percentiles(same.flatMap(({ times }) => times)) };
    });
  }

  oldest(): readonly OldestOrder[] {
    const byAge = (a: OldestOrder, b: OldestOrder) =>
      compareTexts(a.since, b.since) || compareTexts(a.id, b.id) || compareTexts(a.account, b.account);
    return this.#oldest.toSorted(byAge).slice(0, this.#limit);
  }

  #sorted() {
    return [...this.#groups].toSorted(([a], [b]) => compareTexts(a, b)).map(([, group]) => group);
  }

  #percentiles(times: readonly number[]): Omit<AgeGroup, 'state' | 'status' | 'pair'> {
    const [orders, asOfMs] = [times.length, instantMs(this.#asOf) ?? 0];
    // A typed array sorts by number without a comparison function, and sorts unreadable times (NaN) last.
    const oldestFirst = new Float64Array(times).toSorted();
    const at = (percent: number) => {
      const ms = asOfMs - (oldestFirst[orders - Math.ceil((orders * percent) / 100)] ?? Number.NaN);
      return Number.isNaN(ms) ? null : ms;
    };
    return { orders, p1: at(1), p25: at(25), p50: at(50), p75: at(75), p90: at(90), p99: at(99), longest: at(100) };
  }
}
