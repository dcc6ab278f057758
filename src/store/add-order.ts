import type { Transaction } from './port.ts';
import { IMPORT_COLUMNS } from './stage/import.ts';

/** The merchant's columns of a row. */
export type MerchantColumns = Readonly<Record<(typeof IMPORT_COLUMNS)[number], string | null>>;

/** Inserts an order, unless its id is there already: then the row that is there, and nothing is written. */
export async function insertOrder(
  tx: Transaction,
  account: string,
  columns: MerchantColumns,
): Promise<(MerchantColumns & { readonly state: string }) | undefined> {
  const { external_order_id: externalOrderId } = columns;
  const there = await tx
    .selectFrom('merchant_orders')
    .select([...IMPORT_COLUMNS, 'state'])
    .where('account', '=', account)
    .where('external_order_id', '=', externalOrderId)
    .executeTakeFirst();
  if (there !== undefined) return there;
  await tx
    .insertInto('merchant_orders')
    .values({ ...columns, account, external_order_id: externalOrderId ?? '' })
    .execute();
  return undefined;
}
