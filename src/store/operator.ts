import type { OrderState } from '../domain/orders/states.ts';
import type { OrderRow } from './orders.ts';
import type { Database } from './port.ts';

/** Orders of one state that a person decides about together; times are compared with `created_at`. */
export interface DecisionFilter {
  readonly account: string;
  readonly state: OrderState;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly limit: number;
}

/** The rows that the filter lets through, in the order of their ids. */
export async function rowsToDecide(db: Database, filter: DecisionFilter): Promise<OrderRow[]> {
  let rows = db
    .selectFrom('merchant_orders')
    .selectAll()
    .where('account', '=', filter.account)
    .where('state', '=', filter.state);
  if (filter.from !== undefined) rows = rows.where('created_at', '>=', filter.from);
  if (filter.to !== undefined) rows = rows.where('created_at', '<', filter.to);
  return await rows.orderBy('external_order_id').limit(filter.limit).execute();
}

/** Another order that has this pre-order id. */
export async function orderWithPreOrder(
  db: Database,
  order: { account: string; externalOrderId: string },
  preOrderId: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('merchant_orders')
    .select('external_order_id')
    .where('account', '=', order.account)
    .where('pre_order_id', '=', preOrderId)
    .where('external_order_id', '!=', order.externalOrderId)
    .limit(1)
    .executeTakeFirst();
  return row?.external_order_id;
}
