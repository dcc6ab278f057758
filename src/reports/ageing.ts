import { instantMs } from '../domain/instant.ts';
import { ORDER_STATES, WAITING_STATES, type OrderState } from '../domain/orders/states.ts';
import type { Chart, Column, ReportDocument, Row } from './formats/document.ts';

/** Orders of one state, order status and pair (null: all pairs), with the times since which the orders at these ranks have not changed. */
export interface AgeGroup {
  readonly state: string;
  readonly status: string | null;
  readonly pair: string | null;
  readonly orders: number;
  readonly p50: string;
  readonly p90: string;
  readonly p99: string;
  readonly longest: string;
}

/** An order whose state and status have not changed for long. */
export interface OldestOrder {
  readonly id: string;
  readonly pair: string;
  readonly state: string;
  readonly status: string | null;
  readonly since: string;
}

/** The orders that the report is about; times are UTC, ISO 8601. */
export interface AgeingFacts {
  readonly asOf: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly orders: number;
}

/** Name and version of the JSON form. A change that breaks its readers needs the next number. */
export const AGEING_SCHEMA = 'order-sync.ageing/1';

const PERCENTILES = [
  ['p50', 'Half within'],
  ['p90', '90 % within'],
  ['p99', '99 % within'],
  ['longest', 'Longest'],
] as const;
const STATE_AND_STATUS: readonly Column[] = [
  { key: 'state', label: 'State', kind: 'text' },
  { key: 'status', label: 'Order status', kind: 'text' },
];
const PAIR: Column = { key: 'pair', label: 'Pair', kind: 'text' };
/** Each age is given in words for people and in seconds for programs. */
const AGES: readonly Column[] = [
  { key: 'orders', label: 'Orders', kind: 'count' },
  ...PERCENTILES.map(([key, label]) => ({ key, label, kind: 'text' as const })),
  ...PERCENTILES.map(([key, label]) => ({
    key: `${key}_seconds`,
    label: `${label}, seconds`,
    kind: 'decimal' as const,
    isDetail: true,
  })),
];
const OLDEST: readonly Column[] = [
  { key: 'external_order_id', label: 'Order', kind: 'text' },
  PAIR,
  ...STATE_AND_STATUS,
  { key: 'since', label: 'Since', kind: 'time' },
  { key: 'age', label: 'For', kind: 'text' },
  { key: 'age_seconds', label: 'For, seconds', kind: 'decimal', isDetail: true },
];

/** Builds the report: for how long orders have been in their state and status, and which have been the longest. */
export function ageingDocument(
  facts: AgeingFacts,
  byStatus: readonly AgeGroup[],
  byPair: readonly AgeGroup[],
  oldest: readonly OldestOrder[],
): ReportDocument {
  const asOfMs = instantMs(facts.asOf) ?? 0;
  const rows = (groups: readonly AgeGroup[]) => inOrder(groups).map((group) => groupRow(group, asOfMs));
  return {
    schema: AGEING_SCHEMA,
    title: 'Age of orders in their state and order status',
    facts: [
      { key: 'asOf', label: 'As of', value: facts.asOf },
      { key: 'from', label: 'Orders inserted from', value: facts.from },
      { key: 'to', label: 'Orders inserted before', value: facts.to },
      { key: 'orders', label: 'Orders', value: facts.orders },
      {
        key: 'rule',
        label: 'Rule',
        value:
          'age is the time since the state or the order status last changed; a percentile is the smallest age that so many of the orders do not exceed',
      },
    ],
    sections: [
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
      {
        name: 'oldest',
        title: 'Orders that have waited the longest',
        columns: OLDEST,
        rows: oldest.map((order) => oldestRow(order, asOfMs)),
      },
    ],
    charts: chartOf(byStatus, asOfMs),
  };
}

function inOrder(groups: readonly AgeGroup[]): readonly AgeGroup[] {
  const place = ({ state }: AgeGroup) => ORDER_STATES.indexOf(state as OrderState);
  return groups.toSorted((a, b) => place(a) - place(b));
}

function groupRow(group: AgeGroup, asOfMs: number): Row {
  const { state, status, pair, orders } = group;
  const ages = PERCENTILES.flatMap(([key]) => {
    const ms = ageMs(group[key], asOfMs);
    return [
      [key, duration(ms)],
      [`${key}_seconds`, seconds(ms)],
    ];
  });
  return { state, status, pair, orders, ...Object.fromEntries(ages) };
}

function oldestRow({ id, pair, state, status, since }: OldestOrder, asOfMs: number): Row {
  const ms = ageMs(since, asOfMs);
  return { external_order_id: id, pair, state, status, since, age: duration(ms), age_seconds: seconds(ms) };
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

function chartOf(byStatus: readonly AgeGroup[], asOfMs: number): readonly Chart[] {
  const waiting = inOrder(byStatus.filter(({ state }) => (WAITING_STATES as readonly string[]).includes(state)));
  if (waiting.length === 0) return [];
  const hours = (since: string) => Math.round((ageMs(since, asOfMs) ?? 0) / 36_000) / 100;
  return [
    {
      title: 'Age of waiting orders in their state and order status',
      kind: 'bar',
      categories: waiting.map(({ state, status }) => (status === null ? state : `${state}, ${status}`)),
      series: PERCENTILES.slice(0, 3).map(([key, name]) => ({
        name,
        values: waiting.map((group) => hours(group[key])),
      })),
      unit: 'hours',
    },
  ];
}
