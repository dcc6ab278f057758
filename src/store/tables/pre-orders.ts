import type { ReceivedBody } from './order-records.ts';
import type { Database } from '../port.ts';
import { queries, statement } from '../statement.ts';

export const keepPreOrder = statement((v: ReceivedBody) =>
  queries
    .insertInto('pre_orders')
    .values({ account: v.account, external_order_id: v.externalOrderId, body: v.body, received_at: v.receivedAt })
    .onConflict((conflict) =>
      conflict.columns(['account', 'external_order_id']).doUpdateSet({ body: v.body, received_at: v.receivedAt }),
    ),
);

export async function readPreOrder(db: Database, account: string, externalOrderId: string) {
  const row = await db
    .selectFrom('pre_orders')
    .select('body')
    .where((preOrder) => preOrder.and({ account, external_order_id: externalOrderId }))
    .executeTakeFirst();
  return row?.body;
}
