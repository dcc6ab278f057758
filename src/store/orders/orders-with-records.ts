import { sql, type SelectQueryBuilder, type SqlBool } from 'kysely';
import type { OrderAge } from '../../findings/rules/age.ts';
import type { Clock } from '../../base/clock.ts';
import { readTime } from '../../base/instant.ts';
import type { OrderState } from '../../orders/rules/states.ts';
import { MERCHANT_ID } from '../tables/accounts.ts';
import { ROW_COLUMNS, type OrderKey, type OrderRow } from './order-columns.ts';
import { FIRST_DUE, type DueKey } from '../find-orders.ts';
import type { Database, Transaction } from '../port.ts';
import { queries, statement } from '../statement.ts';

export interface FollowedRow extends OrderRow {
  readonly earlier_body: string | null;
  readonly has_findings: number;
  /** merchant.id of the account's first record (§2.7). */
  readonly merchant_id: string | null;
}

const readStatement = statement((v: OrderKey) => followedRow(v));
const lockStatement = statement((v: OrderKey) => followedRow(v).forNoKeyUpdate());

// A join of the same rows takes eight times as long as these subqueries.
function followedRow(v: OrderKey) {
  return queries
    .selectFrom('merchant_orders as o')
    .select(ROW_COLUMNS.map((column) => `o.${column}` as const))
    .select([
      sql<string | null>`(select body from order_records as r
        where r.account = o.account and r.external_order_id = o.external_order_id)`.as('earlier_body'),
      sql<number>`exists (select 1 from findings as f
        where f.account = o.account and f.external_order_id = o.external_order_id and f.status <> 'resolved')`.as(
        'has_findings',
      ),
      sql<string | null>`(select value from account_facts as m
        where m.account = o.account and m.name = ${sql.lit(MERCHANT_ID)})`.as('merchant_id'),
    ])
    .where('o.account', '=', v.account)
    .where('o.external_order_id', '=', v.externalOrderId);
}

export async function readFollowed(db: Database, account: string, externalOrderId: string) {
  return (await readStatement(db, { account, externalOrderId })).rows[0];
}

/** Locks the row, as `lockOrder` does. */
export async function lockFollowed(tx: Transaction, account: string, externalOrderId: string) {
  return (await lockStatement(tx, { account, externalOrderId })).rows[0];
}

export interface AgedOrder extends OrderAge, DueKey {
  readonly orderStatus: string | null;
  readonly cryptoStatus: string | null;
  readonly fiatStatus: string | null;
}

const PAGE = 200;

/** Yields the ages of the orders of some states in pages, until `signal` aborts. Other work runs between two pages. */
export async function* orderAges(
  { account, store: { db }, clock }: { account: string; store: { db: Database }; clock: Pick<Clock, 'turn'> },
  states: readonly OrderState[],
  signal: AbortSignal,
): AsyncGenerator<readonly AgedOrder[]> {
  for (const state of states) {
    for (let [from, isLast] = [FIRST_DUE, false]; !isLast && !signal.aborted;) {
      const rows = await withAge(db)
        .where((order) => order.and({ 'o.account': account, 'o.state': state }))
        .where(sql<SqlBool>`(o.next_action_at, o.external_order_id) > (${from.nextActionAt}, ${from.externalOrderId})`)
        .orderBy('o.next_action_at')
        .orderBy('o.external_order_id')
        .limit(PAGE)
        .execute();
      const page = rows.map(aged);
      yield page;
      from = page.at(-1) ?? from;
      isLast = page.length < PAGE;
      await clock.turn();
    }
  }
}

export async function orderAgesById(db: Database, account: string, externalOrderIds: readonly string[]) {
  const rows = await withAge(db)
    .where('o.account', '=', account)
    .where('o.external_order_id', 'in', externalOrderIds)
    .execute();
  return rows.map(aged);
}

function withAge(db: Database) {
  return db
    .selectFrom('merchant_orders as o')
    .leftJoin('order_records as r', (join) =>
      join.onRef('r.account', '=', 'o.account').onRef('r.external_order_id', '=', 'o.external_order_id'),
    )
    .select(['o.external_order_id as externalOrderId', 'o.state', 'o.asset_position as assetPosition'])
    .select(['o.resends', 'o.fail_over as failOver', 'o.stale_date as staleDate', 'o.next_action_at as nextActionAt'])
    .select(['o.order_status as orderStatus', 'o.crypto_status as cryptoStatus', 'o.fiat_status as fiatStatus'])
    .select(['o.sent_at as sentAt', 'o.changed_at as changedAt', 'o.last_lookup_at as lastLookupAt'])
    .select(['r.input_asset as inputAsset', 'r.output_asset as outputAsset'])
    .select(['r.from_currency as fromCurrency', 'r.to_currency as toCurrency']);
}

type AgeRow = ReturnType<typeof withAge> extends SelectQueryBuilder<infer _DB, infer _TB, infer Row> ? Row : never;

function aged({ inputAsset, outputAsset, fromCurrency, toCurrency, ...order }: AgeRow): AgedOrder {
  return {
    ...order,
    nextActionAt: order.nextActionAt ?? '',
    state: order.state as OrderState,
    sentAt: readTime(order.sentAt),
    changedAt: readTime(order.changedAt),
    lastLookupAt: readTime(order.lastLookupAt),
    record: { inputAsset, outputAsset, fromCurrency, toCurrency },
  };
}
