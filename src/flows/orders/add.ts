import { checkOrder } from '../../domain/orders/check.ts';
import { sameDecimal } from '../../domain/decimal.ts';
import { insertOrder, type MerchantColumns } from '../../store/add-order.ts';
import type { FlowDeps } from '../pass/deps.ts';
import { COLUMN_OF, uncheckedOf } from './import.ts';

/** What became of an order that was handed in. `state` is that of the row. */
export type Addition =
  | { readonly kind: 'inserted' | 'present'; readonly externalOrderId: string; readonly state: string }
  /** Its id stands for another order already; the columns that differ. */
  | { readonly kind: 'differs'; readonly externalOrderId: string; readonly columns: readonly string[] }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] };

/**
 * Hands one order in, by its columns in `merchant_orders`. Handed in again with the same content nothing happens;
 * amounts are the same when their numbers are: `1.50` and `1.5`.
 */
export async function addOrder(
  { store, account }: Pick<FlowDeps, 'store' | 'account'>,
  fields: Readonly<Record<string, unknown>>,
): Promise<Addition> {
  const checked = checkOrder(uncheckedOf(fields));
  if (!checked.ok) {
    return { kind: 'invalid', problems: checked.problems.map(({ field, reason }) => `${COLUMN_OF[field]} ${reason}`) };
  }
  const { order } = checked;
  const { externalOrderId } = order;
  const columns = Object.fromEntries(
    Object.entries(order).map(([field, value]) => [COLUMN_OF[field as keyof typeof order], value]),
  ) as MerchantColumns;
  const there = await store.writer.write((tx) => insertOrder(tx, account, columns));
  if (there === undefined) return { kind: 'inserted', externalOrderId, state: 'pending' };
  const different = Object.values(COLUMN_OF).filter((column) => !isSame(column, columns[column], there[column]));
  if (different.length > 0) return { kind: 'differs', externalOrderId, columns: different };
  return { kind: 'present', externalOrderId, state: there.state };
}

function isSame(column: keyof MerchantColumns, one: string | null, other: string | null): boolean {
  if (one === other) return true;
  const isAmount = column === 'asset' || column === 'order_limit' || column === 'bonus';
  return isAmount && one !== null && other !== null && sameDecimal(one, other);
}
