import type { ReceivedBody } from './order-records.ts';
import type { Database } from './port.ts';
import type { ReceivedBodiesTable } from './schema.ts';
import { queries, statement } from './statement.ts';

/** Stores the pre-order (§2.6) of an order, as received. */
export const keepPreOrder = statement((v: ReceivedBody) =>
  queries
    .insertInto('pre_orders')
    .values({
      account: v.account,
      external_order_id: v.externalOrderId,
      body: v.body,
      received_at: v.receivedAt,
    } satisfies ReceivedBodiesTable)
    .onConflict((conflict) =>
      conflict.columns(['account', 'external_order_id']).doUpdateSet({ body: v.body, received_at: v.receivedAt }),
    ),
);

/** Reads the pre-order of an order, as received; undefined where there is none. */
export async function readPreOrder(
  db: Database,
  account: string,
  externalOrderId: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('pre_orders')
    .select('body')
    .where('account', '=', account)
    .where('external_order_id', '=', externalOrderId)
    .executeTakeFirst();
  return row?.body;
}
