import { z } from 'zod';
import { type Place, EVENT_TYPES, feedEventOf } from '../../feed/event.ts';
import { SEVERITIES } from '../../../findings/rules/classes.ts';
import { ORDER_STATES } from '../../../orders/rules/states.ts';
import { HIDDEN, quote } from '../../../base/text.ts';
import { pageJson, placeOf, readPage, type FeedFilter } from '../../feed/feed.ts';
import { readStatus, type StatusSources } from '../../health/status/read-status.ts';
import { statusSchema } from '../../health/status/status.ts';
import { newestOfOrder } from '../../feed/tables/events.ts';
import { findingsOfOrder } from '../../../store/tables/findings.ts';
import { ORDER_COLUMNS, type OrderRow } from '../../../store/orders/order-columns.ts';
import { readOrder } from '../../../store/orders/orders.ts';
import type { Database } from '../../../store/port.ts';
import { feedEvent } from '../../feed/schema.ts';
import { done, invalid, type OwnRefusal, type Result } from '../../relay/envelope.ts';
import { countParameter, named, textParameter, type ErrorStatus, type Operation } from './operation.ts';

const MOST_EVENTS = 1_000;
const MOST_OF_ORDER = 200;
const READ_ERRORS: readonly ErrorStatus[] = ['400', '4xx', '500', '503'];

export interface ReadDeps {
  readonly db: Database;
  readonly status: () => StatusSources;
}

/** An operation that reads the database: any process does it, whichever drives the account. */
export interface ReadOperation<Params = unknown, Query = unknown> extends Omit<
  Operation<Params, Query>,
  'run' | 'body'
> {
  run(deps: ReadDeps, input: Params & Query & { readonly account: string }): Promise<Result>;
}

function reading<Params, Query>(described: ReadOperation<Params, Query>): ReadOperation<Params, Query> {
  return described;
}

const EVENT_EXAMPLE = {
  version: 1,
  id: 'evt_3f9ac0d1e2b44a5f8a6be3d1c07f92ab',
  cursor: 1042,
  type: 'order.state_changed',
  account: 'default',
  timestamp: '2026-01-05T12:00:00.000Z',
  data: {
    externalOrderId: 'shop-1001',
    field: 'state',
    oldValue: 'pending',
    newValue: 'sending',
    exchangeTime: null,
    source: 'create',
    reason: null,
    actor: null,
  },
};
const event = named('Event', 'An event; docs/events.schema.json is the same.', feedEvent, EVENT_EXAMPLE);
const cursor = z.string().describe('A cursor: give it back as it is, in `after`.');

const eventsValue = named(
  'Events',
  'A page of the feed. Where `next` equals `head`, everything was read.',
  z.object({
    events: z.array(event),
    next: cursor.describe('The last event that was looked at, whether it was wanted or not: read on after it.'),
    head: cursor.describe('The newest event of the account.'),
  }),
  { events: [EVENT_EXAMPLE], next: '1042.3f9ac0d1e2b44a5f', head: '1042.3f9ac0d1e2b44a5f' },
);

const eventType = z.enum(EVENT_TYPES);
const eventsQuery = z.object({
  after: textParameter('The cursor of the last event that was read; 0: from the beginning; head: what comes.', '0')
    .max(100)
    .default('0'),
  limit: countParameter('At most so many in a page; a stream has no end.', MOST_EVENTS, 100),
  type: z
    .union([eventType, z.array(eventType)])
    .optional()
    .meta({ description: 'Only events of this type; may be given several times.', examples: ['order.state_changed'] }),
  order: textParameter('Only events of this order, by your id of it, and of its findings.', 'shop-1001').optional(),
});

export type EventsInput = z.output<typeof eventsQuery> & { readonly account: string };

export function filterOf({ account, type, order }: EventsInput): FeedFilter {
  const types = typeof type === 'string' ? [type] : type;
  return { account, types, externalOrderId: order };
}

export async function startOf(db: Database, { account, after }: EventsInput): Promise<Place | OwnRefusal> {
  const place = await placeOf(db, account, after);
  if (!('reason' in place)) return place;
  const { reason, message } = place;
  return { ...invalid(message, reason === 'cursor-unreadable' ? 400 : 409), reason };
}

const text = z.string().nullable();
const TRACKED: readonly (keyof OrderRow)[] = [
  'state_reason',
  'outcome',
  'pre_order_id',
  'exchange_type',
  'order_id',
  'order_status',
  'crypto_status',
  'fiat_status',
  'next_action_at',
  'last_lookup_at',
];
const nullable = (columns: readonly string[]) => Object.fromEntries(columns.map((column) => [column, text]));
const orderColumns = z.object({
  account: z.string(),
  ...nullable(ORDER_COLUMNS),
  external_order_id: z.string(),
  asset: text.describe('Decimal text, with every digit; so are the other amounts.'),
  payment_token: text.describe(`\`${HIDDEN}\` where there is one.`),
  state: z.string(),
  ...nullable(TRACKED),
  outcome: text.describe('`succeeded`, `failed` or null.'),
  attempts: z.int(),
  revision: z.int(),
  created_at: z.string(),
  updated_at: z.string(),
});
const SHOWN_COLUMNS = Object.keys(orderColumns.shape) as (keyof OrderRow)[];

const finding = z.object({
  class: z.string(),
  severity: z.enum(SEVERITIES),
  status: z.enum(['open', 'acknowledged', 'resolved']),
  expected: text,
  actual: text,
  first_seen_at: z.string(),
  last_seen_at: z.string(),
  resolved_at: text,
  changed_by: text.describe('The person who acknowledged it.'),
  reason: text,
});

const orderValue = named(
  'StoredOrder',
  'An order as the database has it, with its newest events, the oldest of them first, and its findings.',
  z.object({
    order: orderColumns,
    events: z.array(event),
    hasMoreEvents: z.boolean().describe('There are older events: GET /events?order= has them.'),
    findings: z.array(finding),
    hasMoreFindings: z.boolean(),
  }),
  {
    order: {
      ...Object.fromEntries(SHOWN_COLUMNS.map((column) => [column, null])),
      account: 'default',
      external_order_id: 'shop-1001',
      asset: '0.25',
      from_currency: 'BTC',
      to_currency: 'EUR',
      state: 'sending',
      attempts: 1,
      revision: 1,
      created_at: '2026-01-05T11:59:59.000Z',
      updated_at: '2026-01-05T12:00:00.000Z',
    },
    events: [EVENT_EXAMPLE],
    hasMoreEvents: false,
    findings: [],
    hasMoreFindings: false,
  },
);

/** SQLite takes bytes in place of text; such a row is invalid, and shows where. */
function shownColumns(row: OrderRow): object {
  const shown = SHOWN_COLUMNS.map((column) => {
    const value: unknown = row[column];
    return [column, typeof value === 'object' && value !== null ? '<bytes>' : value];
  });
  return { ...Object.fromEntries(shown), payment_token: row.payment_token === null ? null : HIDDEN };
}

const NO_ORDERS = Object.fromEntries(ORDER_STATES.map((state) => [state, 0]));
const SINCE = '2026-01-05T12:00:00.000Z';
const statusValue = named('Status', 'How order-sync does. Fields may be added.', statusSchema, {
  asOf: SINCE,
  database: '/var/lib/order-sync/order-sync.db',
  daemon: {
    pid: 4711,
    version: '0.1.0',
    startedAt: SINCE,
    owned: 1,
    driven: 1,
    rate: { spent: 13, requests: 100, intervalMs: 10_000 },
    unwritten: null,
    opsFailure: null,
    seenLate: { count: 20, p50Ms: 2_400, p99Ms: 19_000 },
    overdue: null,
    accounts: [],
  },
  driver: null,
  olderState: null,
  databaseAheadMs: null,
  overview: {
    account: 'default',
    asOf: SINCE,
    orders: { ...NO_ORDERS, pending: 2, final: 1_024 },
    more: [],
    oldestPending: null,
    oldestUnknown: null,
    attention: [],
    findings: [{ class: 'STUCK', severity: 'warning', open: 1 }],
    holds: [],
    outOfReach: [],
    unreadable: [],
    stopped: [],
    receivers: [],
    lastEventAt: SINCE,
    newest: [],
    accounts: [],
  },
});

export const READ_OPERATIONS = {
  listEvents: reading({
    tag: 'events',
    summary: 'The next events of an account, in the order in which they were committed.',
    description:
      'Keep `next` with what you did about the events, and give it as `after`. A page with filters looks at 10,000 events at ' +
      'the most, so it may be empty before the end. With `accept: text/event-stream` the answer is a stream of server-sent ' +
      'events that does not end: `id` is the cursor, `event` the type and `data` the event; `Last-Event-ID` goes before `after`. ' +
      'A reader who takes nothing for 30 s is cut, and goes on by its cursor; 503 when too many streams are open.',
    query: eventsQuery,
    value: eventsValue,
    errors: [...READ_ERRORS, '409'],
    async run({ db }, input) {
      const start = await startOf(db, input);
      if ('kind' in start) return start;
      return { kind: 'ok', body: pageJson(await readPage(db, filterOf(input), start, input.limit)) };
    },
  }),
  showOrder: reading({
    tag: 'orders',
    summary: 'An order as the database has it, with its events and findings.',
    params: z.object({ externalOrderId: textParameter('Id of the order in your system.', 'shop-1001') }),
    value: orderValue,
    errors: [...READ_ERRORS, '404'],
    async run({ db }, { account, externalOrderId }) {
      const row = await readOrder(db, account, externalOrderId);
      if (row === undefined) {
        return {
          ...invalid(`there is no order ${quote(externalOrderId)} of the account ${account}`, 404),
          reason: 'not-found',
        };
      }
      const query = { account, externalOrderId, limit: MOST_OF_ORDER + 1 };
      const events = await newestOfOrder(db, query);
      const findings = await findingsOfOrder(db, query);
      return done({
        order: shownColumns(row),
        events: events.slice(-MOST_OF_ORDER).map(feedEventOf),
        hasMoreEvents: events.length > MOST_OF_ORDER,
        findings: findings.slice(0, MOST_OF_ORDER).map(({ id: _id, ...one }) => one),
        hasMoreFindings: findings.length > MOST_OF_ORDER,
      });
    },
  }),
  status: reading({
    tag: 'status',
    summary: 'How order-sync does: what the daemon is at, and what the database has.',
    description:
      'The account all stands for all of them together. Any process answers, whichever drives the account; nothing is asked of ' +
      'the exchange.',
    value: statusValue,
    errors: READ_ERRORS,
    async run({ status }, { account }) {
      return done(await readStatus(status(), account === 'all' ? undefined : account));
    },
  }),
};
