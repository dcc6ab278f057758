import type { ReceivedBody } from './order-records.ts';
import type { Database, Transaction } from './port.ts';
import type { ReceivedBodiesTable } from './schema.ts';
import { queries, statement } from './statement.ts';

const keepPreOrderStatement = statement((v: ReceivedBody) =>
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

/** Keeps the pre-order (§2.6) of an order, as received. */
export async function keepPreOrder(tx: Transaction, received: ReceivedBody): Promise<void> {
  await keepPreOrderStatement(tx, received);
}

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
