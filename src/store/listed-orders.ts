import { sql } from 'kysely';
import type { OrderState } from '../domain/orders/states.ts';
import type { OrderRow } from './order-columns.ts';
import type { Database } from './port.ts';

/** Lists the newest rows, of one state or of all. */
export async function listOrders(
  db: Database,
  query: { account: string; state?: string | undefined; limit: number },
): Promise<OrderRow[]> {
  const { account, state, limit } = query;
  let rows = db.selectFrom('merchant_orders').selectAll().where('account', '=', account);
  // Of final orders, which may be most, the newest are soon found by the index of ages; the sign keeps the others from it.
  const isFew = state !== undefined && state !== 'final';
  if (isFew) rows = rows.where('external_order_id', 'in', idsOf(db, account, state));
  else if (state !== undefined) rows = rows.where(sql`+state`, '=', state);
  const createdAt = isFew ? sql`+created_at` : sql`created_at`;
  return await rows.orderBy(createdAt, 'desc').orderBy('external_order_id').limit(limit).execute();
}

/** The orders of one state that a person decides about together; times are compared with `created_at`. */
export interface DecisionFilter {
  readonly account: string;
  readonly state: OrderState;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly limit: number;
}

/** Reads the rows that match the filter, in the order of their ids. */
export async function rowsToDecide(db: Database, filter: DecisionFilter): Promise<OrderRow[]> {
  const { account, state } = filter;
  let rows = db
    .selectFrom('merchant_orders')
    .selectAll()
    .where('account', '=', account)
    .where('external_order_id', 'in', idsOf(db, account, state));
  if (filter.from !== undefined) rows = rows.where('created_at', '>=', filter.from);
  if (filter.to !== undefined) rows = rows.where('created_at', '<', filter.to);
  return await rows.orderBy('external_order_id').limit(filter.limit).execute();
}

/** By the index of states, which has the ids: for whole rows SQLite goes through the table. */
function idsOf(db: Database, account: string, state: string) {
  return db
    .selectFrom('merchant_orders')
    .select('external_order_id')
    .where((order) => order.and({ account, state }));
}
