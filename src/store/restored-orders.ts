import type { OrderState } from '../domain/orders/states.ts';
import type { Database } from './port.ts';

/** Reads the ids of some orders of one state. */
export async function someOrderIds(
  db: Database,
  query: { account: string; state: OrderState; limit: number },
): Promise<string[]> {
  const { account, state, limit } = query;
  const ids = db
    .selectFrom('merchant_orders')
    .select('external_order_id')
    .where((order) => order.and({ account, state }))
    .limit(limit);
  return (await ids.execute()).map((row) => row.external_order_id);
}
