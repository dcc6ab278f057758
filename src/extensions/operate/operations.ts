import { z } from 'zod';
import { HIDDEN, quote } from '../../base/text.ts';
import { SEVERITIES } from '../../findings/rules/classes.ts';
import { ORDER_COLUMNS, type OrderRow } from '../../store/orders/order-columns.ts';
import { readOrder } from '../../store/orders/orders.ts';
import { findingsOfOrder } from '../../store/tables/findings.ts';
import { done, invalid } from '../api/envelope.ts';
import { named, READ_ERRORS, reading, textParameter } from '../api/operation.ts';
import { feedEventOf } from '../feed/event.ts';
import { EVENT, EVENT_EXAMPLE } from '../feed/operations.ts';
import { newestOfOrder } from '../feed/tables/events.ts';

const MOST_OF_ORDER = 200;

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
    events: z.array(EVENT),
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

export const OPERATIONS = {
  showOrder: reading({
    tag: 'orders',
    summary: 'An order as the database has it, with its events and findings.',
    params: z.object({ externalOrderId: textParameter('Id of the order in your system.', 'shop-1001') }),
    value: orderValue,
    errors: [...READ_ERRORS, '404'],
    async run({ store: { db } }, { account, externalOrderId }) {
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
};
