import { z } from 'zod';
import { type Place, EVENT_TYPES, feedEventOf } from '../../../domain/events/feed.ts';
import { SEVERITIES } from '../../../domain/findings/classes.ts';
import { HIDDEN, quote } from '../../../domain/text.ts';
import { pageJson, placeOf, readPage, type CursorRefusal, type FeedFilter } from '../../../flows/events/feed.ts';
import { newestOfOrder } from '../../../store/feed.ts';
import { findingsOfOrder } from '../../../store/findings.ts';
import type { OrderRow } from '../../../store/order-columns.ts';
import { readOrder } from '../../../store/orders.ts';
import type { Database } from '../../../store/port.ts';
import { feedEvent } from '../../events/schema.ts';
import type { OwnRefusal, Result } from '../envelope.ts';
import { type ErrorStatus, named, type Operation } from './operation.ts';

const MOST_EVENTS = 1_000;
/** An order shows so many of its newest events, and of its findings. */
const MOST_OF_ORDER = 200;
const READ_ERRORS: readonly ErrorStatus[] = ['400', '4xx', '500', '503'];

/** An operation that reads the database: any process does it, whichever drives the account. */
interface ReadOperation<Params, Query> extends Omit<Operation<Params, Query>, 'run' | 'body'> {
  run(db: Database, input: Params & Query & { readonly account: string }): Promise<Result>;
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

const eventsQuery = z.object({
  after: z
    .string()
    .max(100)
    .default('0')
    .meta({
      description: 'The cursor of the last event that was read; 0: from the beginning; head: what comes.',
      examples: ['0'],
    }),
  limit: z.coerce
    .number<string>()
    .int()
    .min(1)
    .max(MOST_EVENTS)
    .default(100)
    .meta({ description: 'At most so many in a page; a stream has no end.', examples: [100] }),
  type: z
    .union([z.enum(EVENT_TYPES), z.array(z.enum(EVENT_TYPES))])
    .optional()
    .meta({ description: 'Only events of this type; may be given several times.', examples: ['order.state_changed'] }),
  order: z
    .string()
    .optional()
    .meta({
      description: 'Only events of this order, by your id of it, and of its findings.',
      examples: ['shop-1001'],
    }),
});

export type EventsInput = z.output<typeof eventsQuery> & { readonly account: string };

export function filterOf({ account, type, order }: EventsInput): FeedFilter {
  const types = typeof type === 'string' ? [type] : type;
  return { account, types, externalOrderId: order };
}

/** The place after which a reader goes on, or why it cannot. */
export async function startOf(db: Database, { account, after }: EventsInput): Promise<Place | OwnRefusal> {
  const place = await placeOf(db, account, after);
  return 'reason' in place ? refused(place) : place;
}

function refused({ reason, message }: CursorRefusal): OwnRefusal {
  return { kind: 'invalid', reason, message, httpStatus: reason === 'cursor-unreadable' ? 400 : 409 };
}

const text = z.string().nullable();
const orderColumns = z.object({
  account: z.string(),
  external_order_id: z.string(),
  asset: text.describe('Decimal text, with every digit; so are the other amounts.'),
  asset_position: text,
  from_currency: text,
  to_currency: text,
  order_type: text,
  order_limit: text,
  payment_token: text.describe(`\`${HIDDEN}\` where there is one.`),
  provider_type: text,
  crypto_address: text,
  bonus: text,
  state: z.string(),
  state_reason: text,
  outcome: text.describe('`succeeded`, `failed` or null.'),
  pre_order_id: text,
  exchange_type: text,
  order_id: text,
  order_status: text,
  crypto_status: text,
  fiat_status: text,
  attempts: z.int(),
  next_action_at: text,
  last_lookup_at: text,
  revision: z.int(),
  created_at: z.string(),
  updated_at: z.string(),
});

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
      account: 'default',
      external_order_id: 'shop-1001',
      asset: '0.25',
      asset_position: 'INPUT',
      from_currency: 'BTC',
      to_currency: 'EUR',
      order_type: 'DEPOSIT',
      order_limit: null,
      payment_token: null,
      provider_type: null,
      crypto_address: null,
      bonus: null,
      state: 'sending',
      state_reason: null,
      outcome: null,
      pre_order_id: null,
      exchange_type: null,
      order_id: null,
      order_status: null,
      crypto_status: null,
      fiat_status: null,
      attempts: 1,
      next_action_at: '2026-01-05T12:01:00.000Z',
      last_lookup_at: null,
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
  const columns = Object.keys(orderColumns.shape) as (keyof typeof orderColumns.shape)[];
  const shown = columns.map((name) => [
    name,
    typeof row[name] === 'object' && row[name] !== null ? '<bytes>' : row[name],
  ]);
  return { ...Object.fromEntries(shown), payment_token: row.payment_token === null ? null : HIDDEN };
}

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
    async run(db, input) {
      const start = await startOf(db, input);
      if ('kind' in start) return start;
      return { kind: 'ok', body: pageJson(await readPage(db, filterOf(input), start, input.limit)) };
    },
  }),
  showOrder: reading({
    tag: 'orders',
    summary: 'An order as the database has it, with its events and findings.',
    params: z.object({
      externalOrderId: z.string().meta({ description: 'Id of the order in your system.', examples: ['shop-1001'] }),
    }),
    value: orderValue,
    errors: [...READ_ERRORS, '404'],
    async run(db, { account, externalOrderId }) {
      const row = await readOrder(db, account, externalOrderId);
      if (row === undefined) {
        const message = `there is no order ${quote(externalOrderId)} of the account ${account}`;
        return { kind: 'invalid', reason: 'not-found', message, httpStatus: 404 };
      }
      const query = { account, externalOrderId, limit: MOST_OF_ORDER + 1 };
      const events = await newestOfOrder(db, query);
      const findings = await findingsOfOrder(db, query);
      const value = {
        order: shownColumns(row),
        events: events.slice(-MOST_OF_ORDER).map(feedEventOf),
        hasMoreEvents: events.length > MOST_OF_ORDER,
        findings: findings.slice(0, MOST_OF_ORDER).map(({ id: _id, ...one }) => one),
        hasMoreFindings: findings.length > MOST_OF_ORDER,
      };
      return { kind: 'ok', body: JSON.stringify(value) };
    },
  }),
};
