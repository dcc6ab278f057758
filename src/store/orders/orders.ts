import { sql } from 'kysely';
import type { FOLLOWED_STATES, OrderState } from '../../orders/rules/states.ts';
import type { Decision, Tracking } from '../../orders/rules/tracking.ts';
import { hasLongText, indexedBy, isFollowed } from '../dialect.ts';
import { StoreError } from '../errors.ts';
import { insertEvents } from '../tables/events.ts';
import { headOf } from '../tables/chain.ts';
import { changedFields, ROW_COLUMNS, trackedColumnsOf, type OrderKey, type TrackedField } from './order-columns.ts';
import type { Database, Transaction } from '../port.ts';
import { queries, reading, statement, textToFind, together, rowOfOrder } from '../statement.ts';

type FollowedState = 'sending' | (typeof FOLLOWED_STATES)[number];

/** Reads ids after `fromId` of orders in these states, due or not. Without this index SQLite reads all final orders. */
export async function orderIds(
  db: Database,
  query: { account: string; states: readonly FollowedState[]; fromId: string; limit: number; notLookedUpSince?: Date },
) {
  const { account, states, fromId, limit, notLookedUpSince } = query;
  const isToLookUp =
    notLookedUpSince === undefined
      ? sql`true`
      : sql`(last_lookup_at is null or last_lookup_at <= ${notLookedUpSince.toISOString()})`;
  const ids = sql<{ external_order_id: string }>`
    select external_order_id from merchant_orders ${indexedBy('merchant_orders_followed')}
    where account = ${account} and external_order_id > ${fromId} and state in (${sql.join(states)}) and ${isToLookUp}
      and ${isFollowed()}
    order by external_order_id limit ${limit}`;
  return (await ids.execute(db)).rows.map((row) => row.external_order_id);
}

/** Sorts like the index of due orders, because a prepared plan that sorts by the key would read all orders. */
export const sendingOrders = reading(
  (v: { account: string; until: Date; limit: number }) => sql<{ id: string }>`
    select external_order_id as id from merchant_orders where account = ${textToFind(v.account)} and state = 'sending'
      and (next_action_at is null or next_action_at <= ${v.until}) order by next_action_at limit 0 + ${v.limit}`,
  (rows) => rows.map(({ id }) => id),
);

const rowOf = (v: OrderKey) =>
  queries
    .selectFrom('merchant_orders')
    // Columns are named, because a prepared `select *` fails once the merchant adds a column.
    .select(ROW_COLUMNS)
    .where((order) => order.and({ account: v.account, external_order_id: v.externalOrderId }));

export const readOrder = rowOfOrder(rowOf);

/** Reads a row and locks it against the merchant's programs. Throws `RowLockedError` if one of them keeps a lock. */
export const lockOrder = rowOfOrder((v) => rowOf(v).forNoKeyUpdate());

/** As `lockOrder`, but returns undefined if another program has locked the row, for work that can be done later. */
export const lockFreeOrder = rowOfOrder((v) => rowOf(v).forNoKeyUpdate().skipLocked());

/** Counts orders by state; with `until`, only orders that are due at that time. Takes long for millions of orders. */
export async function countByState(db: Database, account: string, states: readonly OrderState[], until?: Date) {
  const isDue = until === undefined ? sql`true` : sql`next_action_at <= ${until.toISOString()}`;
  const { rows } = await sql<{ state: string; orders: number }>`select state, count(*) as orders from merchant_orders
    where account = ${account} and state in (${sql.join(states)}) and ${isDue} group by state`.execute(db);
  return new Map(rows.map((row) => [row.state, row.orders]));
}

export async function postpone(tx: Transaction, { account, externalOrderId, until }: OrderKey & { until: Date }) {
  await sql`update merchant_orders set next_action_at = ${until.toISOString()}, revision = revision + 1
    where account = ${account} and external_order_id = ${externalOrderId}`.execute(tx);
}

const savingStatement = (fields: readonly TrackedField[], isUpdated: boolean) =>
  statement((v: Tracking & { updatedAt: string; previousRevision: number; previousState: OrderState }) =>
    queries
      .updateTable('merchant_orders')
      .set({ ...trackedColumnsOf(v, fields), ...(isUpdated && { updated_at: v.updatedAt }) })
      .where((order) => order.and({ account: v.account, external_order_id: v.externalOrderId }))
      .where('revision', '=', v.previousRevision)
      // The revision is not enough: two owners may have written the same revision with different states.
      .where('state', '=', v.previousState)
      .returning('revision'),
  );
/** A statement for each set of fields that a decision changed, up to `MOST_STATEMENTS`. */
const savingStatements = new Map<string, ReturnType<typeof savingStatement>>();
const MOST_STATEMENTS = 300;

/** Returns a statement that writes only these fields, because a database updates the indexes of each set column. */
function savingOf(fields: readonly TrackedField[], isUpdated: boolean): ReturnType<typeof savingStatement> {
  const key = `${fields.join()} ${isUpdated}`;
  const known = savingStatements.get(key);
  if (known !== undefined) return known;
  const saving = savingStatement(fields, isUpdated);
  if (savingStatements.size < MOST_STATEMENTS) savingStatements.set(key, saving);
  return saving;
}

/** Writes the columns that differ from `before`, and the events. Throws `StoreError` if `before` is outdated. */
export async function saveDecision(tx: Transaction, before: Tracking, decision: Decision, now: Date) {
  const saved = await saveIfUnchanged(tx, before, decision, now);
  if (saved === undefined) throw refused(before, 'was changed since it was read');
  return saved;
}

/** As `saveDecision`, but returns undefined if `before` is outdated. */
export async function saveIfUnchanged(tx: Transaction, before: Tracking, decision: Decision, now: Date) {
  const tracking = { ...decision.tracking, revision: before.revision + 1 };
  const { account, externalOrderId } = tracking;
  const isMoved = before.state !== tracking.state || before.preOrderId !== tracking.preOrderId;
  const save = savingOf(changedFields(before, tracking), isMoved || decision.events.length > 0);
  const previous = { previousRevision: before.revision, previousState: before.state };
  const values = { ...tracking, ...previous, updatedAt: now.toISOString() };
  const [{ rows }] = await together(save(tx, values), decision.events.length > 0 ? headOf(tx, account) : undefined);
  const [written] = rows;
  if (written === undefined) return undefined;
  // A trigger may restore the old row, which the database counts as a change.
  if (written.revision !== tracking.revision)
    throw refused(before, 'was not changed, because a trigger restored the old row; correct the trigger');
  const about = { account, type: 'order', subject: externalOrderId, lookedUpBefore: before.lastLookupAt, now } as const;
  await insertEvents(tx, about, decision.events);
  return tracking;
}

function refused({ externalOrderId }: Tracking, why: string): StoreError {
  return new StoreError('refused', `order ${JSON.stringify(externalOrderId)} ${why}`);
}

export const orderWithPreOrder = reading(
  (v: OrderKey & { preOrderId: string }) => sql<{ id: string }>`
    select external_order_id as id from merchant_orders where account = ${v.account}
    and ${hasLongText('pre_order_id', v.preOrderId)} and external_order_id <> ${v.externalOrderId} limit 1`,
  ([row]) => row?.id,
);
