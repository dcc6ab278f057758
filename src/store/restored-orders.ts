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

/** Reads the names of the accounts that have orders, by one search each. */
export async function accountsWithOrders(db: Database): Promise<string[]> {
  const names: string[] = [];
  for (;;) {
    const next = await db
      .selectFrom('merchant_orders')
      .select('account')
      .where('account', '>', names.at(-1) ?? '')
      .orderBy('account')
      .limit(1)
      .executeTakeFirst();
    if (next === undefined) return names;
    names.push(next.account);
  }
}
