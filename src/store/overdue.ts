import type { SelectQueryBuilder } from 'kysely';
import type { FindingClassName } from '../domain/findings/classes.ts';
import type { OrderState } from '../domain/orders/states.ts';
import type { OrderAge } from '../domain/findings/age.ts';
import type { DueKey } from './orders.ts';
import type { Database, Transaction } from './port.ts';

/** What decides whether an order waits for too long, with its place among what is due. */
export interface AgedOrder extends OrderAge, DueKey {}

/** Orders of one state in the order of when they are due, behind `from`. */
export async function orderAges(
  db: Database,
  query: { account: string; state: OrderState; from: DueKey; limit: number },
): Promise<AgedOrder[]> {
  const rows = await withAge(db)
    .where('o.account', '=', query.account)
    .where('o.state', '=', query.state)
    .where((where) =>
      where(
        where.refTuple('o.next_action_at', 'o.external_order_id'),
        '>',
        where.tuple(query.from.nextActionAt, query.from.externalOrderId),
      ),
    )
    .orderBy('o.next_action_at')
    .orderBy('o.external_order_id')
    .limit(query.limit)
    .execute();
  return rows.map(aged);
}

/** Orders with these ids. */
export async function orderAgesById(
  db: Database,
  account: string,
  externalOrderIds: readonly string[],
): Promise<AgedOrder[]> {
  const rows = await withAge(db)
    .where('o.account', '=', account)
    .where('o.external_order_id', 'in', externalOrderIds)
    .execute();
  return rows.map(aged);
}

/** A finding that stands, as the sweep compares it. */
export interface UnresolvedFinding {
  readonly id: number;
  readonly externalOrderId: string;
  readonly class: string;
  readonly actual: string | null;
  readonly status: string;
  readonly lastSeenAt: string;
}

/** Findings of some classes that are not resolved, of orders with these ids. */
export async function unresolvedFindings(
  db: Database,
  query: { account: string; classes: readonly FindingClassName[]; externalOrderIds: readonly string[] },
): Promise<UnresolvedFinding[]> {
  const rows = await standing(db)
    .where('account', '=', query.account)
    .where('external_order_id', 'in', query.externalOrderIds)
    .where('class', 'in', query.classes)
    .where('status', '<>', 'resolved')
    .execute();
  return rows.map(standingFinding);
}

/** Findings of one class and status by their ids, behind `fromId`. */
export async function unresolvedPage(
  db: Database,
  query: { account: string; class: FindingClassName; status: string; fromId: number; limit: number },
): Promise<UnresolvedFinding[]> {
  const rows = await standing(db)
    .where('account', '=', query.account)
    .where('status', '=', query.status)
    .where('class', '=', query.class)
    .where('id', '>', query.fromId)
    .orderBy('id')
    .limit(query.limit)
    .execute();
  return rows.map(standingFinding);
}

/** Ids of orders whose newest record was never held against them, behind `fromId`. */
export async function uncomparedIds(
  db: Database,
  query: { account: string; fromId: string; limit: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom('order_records')
    .select('external_order_id')
    .where('account', '=', query.account)
    .where('compared_at', 'is', null)
    .where('external_order_id', '>', query.fromId)
    .orderBy('external_order_id')
    .limit(query.limit)
    .execute();
  return rows.map((row) => row.external_order_id);
}

/** Has records behind `fromId` count as never compared; the id of the last of them, undefined when there is no more. */
export async function forgetCompared(
  tx: Transaction,
  query: { account: string; fromId: string; limit: number },
): Promise<string | undefined> {
  const rows = await tx
    .selectFrom('order_records')
    .select('external_order_id')
    .where('account', '=', query.account)
    .where('external_order_id', '>', query.fromId)
    .orderBy('external_order_id')
    .limit(query.limit)
    .execute();
  const ids = rows.map((row) => row.external_order_id);
  await tx
    .updateTable('order_records')
    .set({ compared_at: null })
    .where('account', '=', query.account)
    .where('external_order_id', 'in', ids)
    .execute();
  return ids.at(-1);
}

/** The id of the newest event; 0 when there is none. */
export async function newestEventId(db: Database): Promise<number> {
  const row = await db.selectFrom('order_events').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst();
  return row?.id ?? 0;
}

/** A change of a status and the change of the same order before it. */
export interface StatusChange {
  readonly externalOrderId: string;
  readonly at: string;
  readonly before: string | null;
}

const STATUS_FIELDS = ['order.status', 'cryptoTransaction.status', 'fiatTransaction.status'];

/** Changes of statuses among the events with an id from `fromId` to `toId`: no more rows are read than there are ids. */
export async function statusChanges(
  db: Database,
  query: { account: string; fromId: number; toId: number },
): Promise<StatusChange[]> {
  return await db
    .selectFrom('order_events as e')
    .select((select) => [
      'e.external_order_id as externalOrderId',
      'e.observed_at as at',
      select
        .selectFrom('order_events as b')
        .select('b.observed_at')
        .whereRef('b.account', '=', 'e.account')
        .whereRef('b.external_order_id', '=', 'e.external_order_id')
        .whereRef('b.id', '<', 'e.id')
        .whereRef('b.observed_at', '<', 'e.observed_at')
        .where('b.field', 'in', STATUS_FIELDS)
        .orderBy('b.id', 'desc')
        .limit(1)
        .as('before'),
    ])
    .where('e.id', '>=', query.fromId)
    .where('e.id', '<=', query.toId)
    .where('e.account', '=', query.account)
    .where('e.field', 'in', STATUS_FIELDS)
    .execute();
}

/** Findings that stand open, without those that only explain. */
export async function countOpenFindings(db: Database, account: string): Promise<number> {
  const row = await db
    .selectFrom('findings')
    .select((select) => select.fn.countAll<number | bigint>().as('findings'))
    .where('account', '=', account)
    .where('status', '=', 'open')
    .where('severity', '<>', 'info')
    .executeTakeFirstOrThrow();
  return Number(row.findings);
}

function withAge(db: Database) {
  return db
    .selectFrom('merchant_orders as o')
    .leftJoin('order_records as r', (join) =>
      join.onRef('r.account', '=', 'o.account').onRef('r.external_order_id', '=', 'o.external_order_id'),
    )
    .select([
      'o.external_order_id',
      'o.next_action_at',
      'o.state',
      'o.asset_position',
      'o.sent_at',
      'o.changed_at',
      'o.last_lookup_at',
      'o.resends',
      'o.stale_date',
      'r.input_asset',
      'r.from_currency',
      'r.to_currency',
    ]);
}

type AgeRow = ReturnType<typeof withAge> extends SelectQueryBuilder<infer _DB, infer _TB, infer Row> ? Row : never;

function aged(row: AgeRow): AgedOrder {
  return {
    externalOrderId: row.external_order_id,
    nextActionAt: row.next_action_at ?? '',
    state: row.state as OrderState,
    assetPosition: row.asset_position,
    sentAt: time(row.sent_at),
    changedAt: time(row.changed_at),
    lastLookupAt: time(row.last_lookup_at),
    resends: row.resends,
    staleDate: row.stale_date,
    record: { inputAsset: row.input_asset, fromCurrency: row.from_currency, toCurrency: row.to_currency },
  };
}

function standing(db: Database) {
  return db.selectFrom('findings').select(['id', 'external_order_id', 'class', 'actual', 'status', 'last_seen_at']);
}

function standingFinding(row: Awaited<ReturnType<ReturnType<typeof standing>['execute']>>[number]): UnresolvedFinding {
  return {
    id: row.id,
    externalOrderId: row.external_order_id ?? '',
    class: row.class,
    actual: row.actual,
    status: row.status,
    lastSeenAt: row.last_seen_at,
  };
}

function time(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}
