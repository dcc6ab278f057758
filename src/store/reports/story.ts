import type { StoryEvent, StoryFinding, StoryOrder } from '../../reports/story/evidence.ts';
import { queries } from '../statement.ts';
import type { Store } from '../port.ts';

/** Everything that the database knows of one order, at one moment; the record as received. */
export interface StoryRows {
  readonly order: StoryOrder;
  readonly events: readonly StoryEvent[];
  readonly record: { readonly receivedAt: string; readonly body: string } | null;
  readonly findings: readonly StoryFinding[];
}

/** Reads the rows for the story of an order; undefined where there is no such order. */
export function readStory(
  store: Pick<Store, 'snapshot'>,
  account: string,
  externalOrderId: string,
): StoryRows | undefined {
  using snapshot = store.snapshot();
  const key = { account, externalOrderId };
  const [order] = [...snapshot.rows<StoryOrder>(orderOf(key))];
  if (order === undefined) return undefined;
  const [record] = [...snapshot.rows<{ receivedAt: string; body: string }>(recordOf(key))];
  const events = [...snapshot.rows<StoryEvent>(eventsOf(key))];
  return { order, events, record: record ?? null, findings: [...snapshot.rows<StoryFinding>(findingsOf(key))] };
}

interface Key {
  readonly account: string;
  readonly externalOrderId: string;
}

function orderOf({ account, externalOrderId }: Key) {
  return queries
    .selectFrom('merchant_orders')
    .select([
      'external_order_id as externalOrderId',
      'created_at as createdAt',
      'updated_at as updatedAt',
      'next_action_at as nextActionAt',
      'last_lookup_at as lastLookupAt',
      'pre_order_id as preOrderId',
      'asset',
      'from_currency as fromCurrency',
      'to_currency as toCurrency',
      'verifications',
    ])
    .where('account', '=', account)
    .where('external_order_id', '=', externalOrderId);
}

function eventsOf({ account, externalOrderId }: Key) {
  return queries
    .selectFrom('order_events')
    .select([
      'field',
      'old_value as oldValue',
      'new_value as newValue',
      'observed_at as observedAt',
      'exchange_time as exchangeTime',
      'source',
      'reason',
      'actor',
    ])
    .where('account', '=', account)
    .where('external_order_id', '=', externalOrderId)
    .orderBy('id');
}

function recordOf({ account, externalOrderId }: Key) {
  return queries
    .selectFrom('order_records')
    .select(['received_at as receivedAt', 'body'])
    .where('account', '=', account)
    .where('external_order_id', '=', externalOrderId);
}

function findingsOf({ account, externalOrderId }: Key) {
  return queries
    .selectFrom('findings')
    .select([
      'class',
      'severity',
      'expected',
      'actual',
      'first_seen_at as firstSeenAt',
      'last_seen_at as lastSeenAt',
      'resolved_at as resolvedAt',
      'changed_by as changedBy',
      'changed_at as changedAt',
      'reason',
    ])
    .where('account', '=', account)
    .where('external_order_id', '=', externalOrderId)
    .orderBy('id');
}
