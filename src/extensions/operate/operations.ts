import { z } from 'zod';
import { HIDDEN, quote } from '../../base/text.ts';
import { SEVERITIES } from '../../findings/rules/classes.ts';
import { CLASSES } from './finding-classes.ts';
import { ORDER_STATES } from '../../orders/rules/states.ts';
import { ORDER_COLUMNS, type OrderRow } from '../../store/orders/order-columns.ts';
import { readOrder } from '../../store/orders/orders.ts';
import { done, invalid, notFound, type OwnRefusal } from '../api/envelope.ts';
import { countParameter, named, READ_ERRORS, reading, textParameter } from '../api/operation.ts';
import { feedEventOf } from '../feed/event.ts';
import { EVENT, EVENT_EXAMPLE } from '../feed/operations.ts';
import { newestOfOrder } from '../feed/tables/events.ts';
import { listFindings, STATUSES, weightOf } from './tables/listed-findings.ts';
import { listOrders } from './tables/listed-orders.ts';
import { findingsOfOrder } from './tables/findings.ts';

const MOST_OF_ORDER = 200;
const MOST_LISTED = 1_000;
/** The most orders that a page examines, because a query of SQLite blocks the process. */
const MOST_LOOKED_AT = 5_000;

const AT = '2026-01-05T12:00:00.000Z';
const text = z.string().nullable();
const OF_EXCHANGE = [
  'pre_order_id',
  'exchange_type',
  'order_id',
  'order_status',
  'crypto_status',
  'fiat_status',
] as const;
const TRACKED = ['state_reason', 'outcome', ...OF_EXCHANGE, 'next_action_at', 'last_lookup_at'] as const;
const nullable = (columns: readonly string[]) => Object.fromEntries(columns.map((column) => [column, text]));
const orderColumns = z.object({
  account: z.string(),
  ...nullable(ORDER_COLUMNS),
  external_order_id: z.string(),
  asset: text.describe('Decimal text with every digit, like the other amounts.'),
  payment_token: text.describe(`\`${HIDDEN}\` unless null.`),
  state: z.string(),
  ...nullable(TRACKED),
  outcome: text.describe('`succeeded`, `failed` or null.'),
  attempts: z.int(),
  revision: z.int(),
  created_at: z.string(),
  updated_at: z.string(),
});
const SHOWN_COLUMNS = Object.keys(orderColumns.shape) as (keyof OrderRow)[];

const findingColumns = {
  class: z.string(),
  severity: z.enum(SEVERITIES),
  status: z.enum(STATUSES),
  expected: text,
  actual: text,
  first_seen_at: z.string(),
  last_seen_at: z.string(),
  resolved_at: text,
  changed_by: text.describe('The person who acknowledged it.'),
  reason: text,
};

const given = { external_order_id: 'shop-1001', asset: '0.25', from_currency: 'BTC', to_currency: 'EUR' };
const sent = { state: 'sending', attempts: 1, revision: 1, created_at: '2026-01-05T11:59:59.000Z', updated_at: AT };
const nothing = Object.fromEntries(SHOWN_COLUMNS.map((column) => [column, null]));
const ORDER_EXAMPLE = { ...nothing, account: 'default', ...given, ...sent };
const next = z.string().nullable().describe('Give it as `after` to read the next page; null at the end of the list.');

const orders = z.object({ orders: z.array(orderColumns), next });
const ordersValue = named('StoredOrders', 'Orders, the newest first.', orders, { orders: [ORDER_EXAMPLE], next: null });

const order = text.describe('Null if the finding is about the account.');
const finding = z.object({ id: z.int(), external_order_id: order, ...findingColumns });
const SHOWN_OF_FINDING = Object.keys(finding.shape) as (keyof typeof finding.shape)[];
const found = { class: 'AMOUNT_MISMATCH', severity: 'error', status: 'open', expected: '0.25', actual: '0.26' };
const seen = { first_seen_at: AT, last_seen_at: AT, resolved_at: null, changed_by: null, reason: null };
const findingExample = { id: 12, external_order_id: 'shop-1001', ...found, ...seen };
const findingsPage = z.object({ findings: z.array(finding), next });
const WORST_FIRST = 'Findings, the worst first, then the newest.';
const findingsValue = named('Findings', WORST_FIRST, findingsPage, { findings: [findingExample], next: null });

const orderValue = named(
  'StoredOrder',
  'An order as the database has it, with its newest events, the oldest of them first, and its findings.',
  z.object({
    order: orderColumns,
    events: z.array(EVENT),
    hasMoreEvents: z.boolean().describe('True if there are older events, which GET /events?order= has.'),
    findings: z.array(z.object(findingColumns)),
    hasMoreFindings: z.boolean(),
  }),
  { order: ORDER_EXAMPLE, events: [EVENT_EXAMPLE], hasMoreEvents: false, findings: [], hasMoreFindings: false },
);

/** Replaces bytes, which SQLite accepts in a column of text, by `<bytes>`. A row with bytes is invalid. */
function shownColumns(row: OrderRow): object {
  const shown = SHOWN_COLUMNS.map((column) => {
    const value: unknown = row[column];
    return [column, typeof value === 'object' && value !== null ? '<bytes>' : value];
  });
  return { ...Object.fromEntries(shown), payment_token: row.payment_token === null ? null : HIDDEN };
}

const NEXT = 'WyIyMDI2LTAxLTA1VDExOjU5OjU5LjAwMFoiLCJzaG9wLTEwMDEiXQ';
const after = textParameter('`next` of the page before.', NEXT).optional();
const limit = countParameter('The most rows in a page.', MOST_LISTED, 50);

function oneOf<Value extends string>(values: readonly Value[], description: string, example: Value) {
  return z
    .enum(values)
    .optional()
    .meta({ description, examples: [example] });
}

const orderPlace = z.tuple([z.string(), z.string()]);
const findingPlace = z.tuple([z.enum(SEVERITIES), z.int()]);

type OrderOrFinding = z.output<typeof orderPlace> | z.output<typeof findingPlace>;
const cursorOf = (place: OrderOrFinding) => Buffer.from(JSON.stringify(place)).toString('base64url');

function placeIn<Place>(cursor: string | undefined, schema: z.ZodType<Place>): Place | OwnRefusal | undefined {
  if (cursor === undefined) return undefined;
  try {
    return schema.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
  } catch {
    return invalid('`after` is no `next` of this list', 400, 'cursor-unreadable');
  }
}

export const OPERATIONS = {
  listOrders: reading({
    tag: 'orders',
    summary: 'The orders of the table, the newest first.',
    description:
      'If many orders have the wanted state, a page examines at most 5,000 orders and may be empty before the end of the list: ' +
      'read on until `next` is null.',
    query: z.object({ state: oneOf(ORDER_STATES, 'Only orders in this state.', 'held'), after, limit }),
    value: ordersValue,
    errors: READ_ERRORS,
    async run({ store: { db } }, { account, state, after: cursor, limit: most }) {
      const place = placeIn(cursor, orderPlace);
      if (place !== undefined && 'kind' in place) return place;
      const [created_at = '', external_order_id = ''] = place ?? [];
      const from = place && { created_at, external_order_id };
      const query = { account, state, sort: 'newest', after: from, limit: most + 1, mostRead: MOST_LOOKED_AT } as const;
      const { rows, isCut, lookedUntil } = await listOrders(db, query);
      const shown = rows.slice(0, most);
      const last = rows.length > most ? shown.at(-1) : isCut ? lookedUntil : undefined;
      const following = last === undefined ? null : cursorOf([last.created_at, last.external_order_id]);
      return done({ orders: shown.map(shownColumns), next: following });
    },
  }),
  listFindings: reading({
    tag: 'findings',
    summary: 'What reconciliation found, the worst first, then the newest.',
    query: z.object({
      class: oneOf(CLASSES, 'Only findings of this class.', 'AMOUNT_MISMATCH'),
      status: oneOf(STATUSES, 'Only findings of this status.', 'open'),
      order: textParameter('Only findings of the order with this id in your system.', 'shop-1001').optional(),
      after,
      limit,
    }),
    value: findingsValue,
    errors: READ_ERRORS,
    async run({ store: { db } }, { account, class: name, status, order: id, after: cursor, limit: most }) {
      const place = placeIn(cursor, findingPlace);
      if (place !== undefined && 'kind' in place) return place;
      const from = place && { severity: place[0], id: place[1] };
      const filter = { account, class: name, status, order: id === undefined ? undefined : { id, isPrefix: false } };
      const { rows } = await listFindings(db, { ...filter, after: from, limit: most + 1 });
      const shown = rows.slice(0, most);
      const last = rows.length > most ? shown.at(-1) : undefined;
      const listed = shown.map((row) => Object.fromEntries(SHOWN_OF_FINDING.map((column) => [column, row[column]])));
      return done({ findings: listed, next: last === undefined ? null : cursorOf([weightOf(last.class), last.id]) });
    },
  }),
  showOrder: reading({
    tag: 'orders',
    summary: 'An order as the database has it, with its events and findings.',
    params: z.object({ externalOrderId: textParameter('Id of the order in your system.', 'shop-1001') }),
    value: orderValue,
    errors: [...READ_ERRORS, '404'],
    async run({ store: { db } }, { account, externalOrderId }) {
      const row = await readOrder(db, account, externalOrderId);
      if (row === undefined) return notFound(`there is no order ${quote(externalOrderId)} of the account ${account}`);
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
};
