import type { StoryEvent, StoryFinding, StoryOrder } from '../story/next.ts';
import type { AccountStop, RestraintView } from '../../../accounts/rules/restraints.ts';
import type { PacedOrder } from '../../../orders/rules/lookup.ts';
import { storedHolds } from '../../../store/tables/account-holds.ts';
import { readStop } from '../../../store/tables/account-stops.ts';
import { queries } from '../../../store/statement.ts';
import type { Store } from '../../../store/port.ts';
import { allRows } from '../../../store/snapshot.ts';

/** Everything that the database knows of one order, at one moment; the record as received. */
export interface StoryRows {
  /** With what decides how soon it is looked up, as it is now. */
  readonly order: StoryOrder & PacedOrder & { readonly changedAt: string | null };
  readonly events: readonly StoryEvent[];
  readonly record: { readonly receivedAt: string; readonly body: string } | null;
  /** Answers to its creates that could not be read or named another pre-order, as received. */
  readonly keptAnswers: readonly { readonly receivedAt: string; readonly httpStatus: number; readonly body: string }[];
  readonly findings: readonly StoryFinding[];
  readonly holds: readonly RestraintView[];
  readonly stop: AccountStop | null;
}

export async function readStory(
  store: Pick<Store, 'snapshot'>,
  account: string,
  externalOrderId: string,
): Promise<StoryRows | undefined> {
  await using snapshot = await store.snapshot();
  const ofOrder = { account, external_order_id: externalOrderId };
  const orders = queries
    .selectFrom('merchant_orders')
    .select(['account', 'external_order_id as externalOrderId', 'pre_order_id as preOrderId', 'verifications'])
    .select([
      'asset',
      'asset_position as assetPosition',
      'outcome',
      'from_currency as fromCurrency',
      'to_currency as toCurrency',
    ])
    .select(['created_at as createdAt', 'updated_at as updatedAt'])
    .select(['next_action_at as nextActionAt', 'last_lookup_at as lastLookupAt', 'adopted_at as adoptedAt'])
    .select(['state', 'changed_at as changedAt'])
    .select(['order_status as orderStatus', 'crypto_status as cryptoStatus', 'fiat_status as fiatStatus'])
    .where((order) => order.and(ofOrder));
  const events = queries
    .selectFrom('order_events')
    .select(['field', 'old_value as oldValue', 'new_value as newValue', 'source', 'reason', 'actor'])
    .select(['observed_at as observedAt', 'exchange_time as exchangeTime'])
    .where((event) => event.and(ofOrder))
    .orderBy('id');
  const records = queries
    .selectFrom('order_records')
    .select(['received_at as receivedAt', 'body'])
    .where((record) => record.and(ofOrder));
  const keptAnswers = queries
    .selectFrom('kept_answers')
    .select(['received_at as receivedAt', 'http_status as httpStatus', 'body'])
    .where((kept) => kept.and({ account, operation: 'createPreOrder', subject: externalOrderId }))
    .orderBy('id');
  const findings = queries
    .selectFrom('findings')
    .select(['class', 'severity', 'expected', 'actual', 'reason', 'changed_by as changedBy'])
    .select(['first_seen_at as firstSeenAt', 'last_seen_at as lastSeenAt'])
    .select(['changed_at as changedAt', 'resolved_at as resolvedAt'])
    .where((finding) => finding.and(ofOrder))
    .orderBy('id');
  const [order] = await allRows<StoryRows['order']>(snapshot, orders);
  if (order === undefined) return undefined;
  const [record] = await allRows(snapshot, records);
  return {
    order,
    events: await allRows<StoryEvent>(snapshot, events),
    record: record ?? null,
    keptAnswers: await allRows(snapshot, keptAnswers),
    findings: await allRows<StoryFinding>(snapshot, findings),
    holds: await allRows(snapshot, storedHolds(account)),
    stop: await readStop(snapshot, account),
  };
}
