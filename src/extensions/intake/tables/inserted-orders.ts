import { StoreError } from '../../../store/errors.ts';
import { findOrders } from '../../../store/find-orders.ts';
import { ORDER_COLUMNS, type OrderColumns } from '../../../store/orders/order-columns.ts';
import type { Transaction } from '../../../store/port.ts';

export type ColumnsAndState = OrderColumns & { readonly state: string };

export async function ordersById(tx: Transaction, account: string, ids: readonly string[]) {
  return await findOrders(tx, { account, ids, by: 'id', limit: ids.length }, [...ORDER_COLUMNS, 'state']);
}

/** Inserts the orders that the table lacks, created and due at `at` (by default now). Returns how many it inserted. */
export async function insertMissing(tx: Transaction, account: string, orders: readonly OrderColumns[], at?: Date) {
  const own = { account, ...(at && { created_at: at.toISOString(), next_action_at: at.toISOString() }) };
  const result = await tx
    .insertInto('merchant_orders')
    .values(orders.map((order) => ({ ...columnsAlone(order), ...own })))
    .onConflict((conflict) => conflict.columns(['account', 'external_order_id']).doNothing())
    .executeTakeFirstOrThrow();
  return Number(result.numInsertedOrUpdatedRows ?? 0n);
}

export async function insertOrder(tx: Transaction, account: string, columns: OrderColumns) {
  if ((await insertMissing(tx, account, [columns])) === 1) return undefined;
  const [there] = await ordersById(tx, account, [columns.external_order_id ?? '']);
  if (there === undefined)
    throw new StoreError('refused', 'another order with this id was deleted during the insert; try again');
  return there;
}

const columnsAlone = (order: OrderColumns) =>
  Object.fromEntries(ORDER_COLUMNS.map((column) => [column, order[column]])) as OrderColumns & {
    external_order_id: string;
  };
