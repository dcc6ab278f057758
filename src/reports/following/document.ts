import { latenessOf, type Lateness } from '../../domain/orders/pace/lookups.ts';
import type { LearnedPace } from '../../domain/orders/pace/pace.ts';
import { orderOfKey, type PacedOrder } from '../../domain/orders/pace/status.ts';
import { ageBy, LONGEST_MS } from '../../domain/orders/pace/stay-times.ts';
import { accountColumns, accountFact } from '../formats/accounts.ts';
import type { Card, Column, ReportDocument, Row } from '../formats/document.ts';
import { inUnits } from '../formats/words.ts';
import { lateChart, stayChart } from './charts.ts';
import { lateOf, newsOf, OTHERS, ordersOf, statusesOf, type FollowedAccount, type FollowedStatus } from './statuses.ts';
import { overdueOf, verdictOf } from './verdict.ts';

/** What the report is of. */
interface FollowingFacts {
  /** Undefined: all accounts. */
  readonly account: string | undefined;
  readonly asOf: string;
}

/** Name and version of the JSON form. A change that breaks its readers needs the next number. */
export const FOLLOWING_SCHEMA = 'order-sync.following/1';

const HOUR_MS = 60 * 60_000;
const RULE =
  "late is the time from the exchange's date of a change to the look-up that saw it, of changes among the newest 20,000 that it dates; look-ups are expected from how long earlier orders stayed; overdue are orders whose look-up was due more than a minute, or a tick of schedule.cron, ago";

const LATE: readonly Column[] = [
  { key: 'late_changes', label: 'Dated changes seen', kind: 'count', rank: 4 },
  { key: 'late_mean', label: 'Seen late, mean', kind: 'text' },
  { key: 'late_95', label: '95 % within', kind: 'text', rank: 2 },
  { key: 'late_mean_seconds', label: 'Seen late, mean, seconds', kind: 'decimal', isForPrograms: true },
  { key: 'late_95_seconds', label: 'Seen late, 95 % within, seconds', kind: 'decimal', isForPrograms: true },
];
const ACCOUNTS: readonly Column[] = [
  { key: 'pace', label: 'Pace', kind: 'text' },
  { key: 'orders', label: 'Followed orders', kind: 'count' },
  { key: 'stays', label: 'Learned from', kind: 'count', rank: 2 },
  { key: 'price', label: 'Price of a look-up', kind: 'text', rank: 3 },
  { key: 'price_seconds', label: 'Price of a look-up, the higher one, seconds', kind: 'decimal', isForPrograms: true },
  { key: 'lookups_per_hour', label: 'Look-ups an hour', kind: 'count', rank: 1 },
  { key: 'overdue', label: 'Overdue', kind: 'count' },
  { key: 'overdue_since', label: 'First due', kind: 'time', isForPrograms: true },
  { key: 'budget_used', label: '% of the budget', kind: 'decimal', rank: 2 },
  { key: 'news', label: '% bring news', kind: 'decimal', rank: 3 },
  ...LATE,
];
const STATUSES: readonly Column[] = [
  { key: 'status', label: 'Status', kind: 'text' },
  { key: 'state', label: 'State', kind: 'state', isForPrograms: true },
  { key: 'order_status', label: 'Order status', kind: 'text', isForPrograms: true },
  { key: 'crypto_status', label: 'Crypto', kind: 'text' },
  { key: 'fiat_status', label: 'Fiat', kind: 'text' },
  { key: 'orders', label: 'Orders', kind: 'count' },
  { key: 'stays', label: 'Learned from', kind: 'count', rank: 3 },
  { key: 'half', label: 'Half left within', kind: 'text' },
  { key: 'ninety', label: '90 % within', kind: 'text', rank: 2 },
  { key: 'half_seconds', label: 'Half left within, seconds', kind: 'decimal', isForPrograms: true },
  { key: 'ninety_seconds', label: '90 % left within, seconds', kind: 'decimal', isForPrograms: true },
  { key: 'price', label: 'Price of a look-up', kind: 'text', rank: 5 },
  { key: 'price_seconds', label: 'Price of a look-up, seconds', kind: 'decimal', isForPrograms: true },
  { key: 'lookups_per_order', label: 'Look-ups an order', kind: 'decimal', rank: 1 },
  { key: 'lookups_per_hour', label: 'An hour', kind: 'count', rank: 3 },
  { key: 'overdue', label: 'Overdue', kind: 'count', rank: 1 },
  ...LATE,
];

/** Builds the report: by status how long orders stay, how often they are looked up, and how late changes were seen. */
export function followingDocument(facts: FollowingFacts, accounts: readonly FollowedAccount[]): ReportDocument {
  const statuses = accounts.flatMap(statusesOf);
  return {
    schema: FOLLOWING_SCHEMA,
    title: 'How soon orders are looked up',
    verdict: verdictOf(accounts),
    cards: cardsOf(accounts),
    facts: [
      accountFact(facts.account),
      { key: 'asOf', label: 'As of', value: facts.asOf },
      { key: 'rule', label: 'Rule', value: RULE },
    ],
    sections: [
      {
        name: 'accounts',
        title: 'Pace of look-ups',
        lead: 'Look-ups, their share of the budget (follow.share of exchange.rate) and of those that bring news are expected, at a price solved for this report; the daemon solves its own at each tick of reconcile.cron. How late changes were is what was seen.',
        empty: 'There are no orders.',
        columns: [...accountColumns(facts.account), ...ACCOUNTS],
        rows: accounts.map(accountRow),
      },
      {
        name: 'statuses',
        title: 'By status',
        lead: 'How long orders stay was learned from those that left, and from those that are still there. Look-ups are expected.',
        empty: 'No order has been followed yet.',
        columns: [...accountColumns(facts.account), ...STATUSES],
        rows: statuses.map(statusRow),
      },
    ],
    charts: [...stayChart(statuses), ...lateChart(statuses)],
  };
}

function accountRow({ account, pace, budget, learned, overdue }: FollowedAccount): Row {
  const { statuses, priceMs, demand } = learned;
  const expected = pace === 'learned';
  return {
    account,
    pace,
    orders: ordersOf(statuses),
    stays: statuses.reduce((sum, { stays }) => sum + stays, 0),
    ...(expected && {
      ...duration('price', priceMs),
      price: pricesOf(learned),
      lookups_per_hour: Math.round(demand * HOUR_MS),
      budget_used: percent(demand, budget),
      news: percent(newsOf(learned), demand),
    }),
    ...(pace !== 'every-tick' && {
      overdue: overdue?.orders ?? 0,
      overdue_since: overdue?.since.toISOString() ?? null,
    }),
    ...lateCells(latenessOf(lateOf(learned))),
  };
}

function statusRow({ account, key, orders, stays, hazards, lookups, ...status }: FollowedStatus): Row {
  const order = orderOfKey(key);
  return {
    account: account.account,
    status: order === undefined ? OTHERS : shortName(order),
    state: order?.state ?? null,
    order_status: order?.orderStatus ?? null,
    crypto_status: order?.cryptoStatus ?? null,
    fiat_status: order?.fiatStatus ?? null,
    orders,
    stays,
    ...duration('half', ageBy(0.5, hazards)),
    ...duration('ninety', ageBy(0.9, hazards)),
    ...(lookups !== undefined && {
      ...duration('price', status.priceMs),
      lookups_per_order: lookups.perOrder.toFixed(1),
      lookups_per_hour: Math.round(status.demand * HOUR_MS),
    }),
    ...(account.pace !== 'every-tick' && { overdue: account.overdue?.byStatus.get(key) ?? 0 }),
    ...lateCells(latenessOf(status.lateMs)),
  };
}

/** Accepted orders may have another price than those that exist. */
function pricesOf({ statuses, priceMs }: LearnedPace): string {
  const prices = statuses.filter(({ orders }) => orders > 0).map((status) => status.priceMs);
  const [least, most] = [inUnits(Math.min(priceMs, ...prices)), inUnits(priceMs)];
  return least === most ? most : `${least} to ${most}`;
}

/** The other two statuses stand beside it. */
function shortName({ state, orderStatus }: PacedOrder): string {
  if (orderStatus === null) return state;
  return state === 'open' ? orderStatus : `${orderStatus}, ${state}`;
}

function lateCells(late: Lateness | undefined): Row {
  if (late === undefined) return { late_changes: 0 };
  return { late_changes: late.changes, ...duration('late_mean', late.meanMs), ...duration('late_95', late.p95Ms) };
}

/** The cells of a duration: in words, and in seconds; one above `LONGEST_MS` has no seconds. */
function duration(key: string, ms: number): Row {
  const isKnown = Number.isFinite(ms);
  return {
    [key]: isKnown ? inUnits(ms) : `over ${inUnits(LONGEST_MS)}`,
    [`${key}_seconds`]: isKnown ? (ms / 1_000).toFixed(3) : null,
  };
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '0.0' : ((part / whole) * 100).toFixed(1);
}

function cardsOf(accounts: readonly FollowedAccount[]): readonly Card[] {
  const learned = accounts.filter(({ pace }) => pace === 'learned');
  const sum = (of: (account: FollowedAccount) => number) => learned.reduce((all, account) => all + of(account), 0);
  const demand = sum((account) => account.learned.demand);
  const late = latenessOf(accounts.flatMap((account) => lateOf(account.learned)));
  const orders = accounts.reduce((all, account) => all + ordersOf(account.learned.statuses), 0);
  return [
    { label: 'Followed orders', value: String(orders), section: 'statuses' },
    ...(late === undefined
      ? []
      : [
          {
            label: 'Seen late, mean',
            value: inUnits(late.meanMs),
            note: `95 % within ${inUnits(late.p95Ms)}`,
            section: 'statuses',
          },
        ]),
    ...overdueCards(accounts),
    ...(learned.length === 0
      ? []
      : [
          {
            label: 'Look-ups an hour',
            value: String(Math.round(demand * HOUR_MS)),
            note: `expected; ${percent(
              demand,
              sum(({ budget }) => budget),
            )} % of the budget`,
            section: 'accounts',
          },
          {
            label: 'Bring news',
            value: `${percent(
              sum((account) => newsOf(account.learned)),
              demand,
            )} %`,
            note: 'of the look-ups, expected',
            section: 'accounts',
          },
        ]),
  ];
}

function overdueCards(accounts: readonly FollowedAccount[]): readonly Card[] {
  const overdue = overdueOf(accounts);
  if (overdue === undefined) return [];
  const { orders, since } = overdue;
  const note = `the first since ${since}`;
  return [{ label: 'Overdue look-ups', value: String(orders), note, tone: 'warning', section: 'statuses' }];
}
