import type { OrderState } from '../../src/orders/rules/states.ts';
import type { Merchant } from './merchant.ts';
import { unguarded } from './unguarded.ts';

/** When orders were put in that do not say otherwise, and by when they are due. */
export const PUT_AT = new Date('2026-01-05T12:00:00.000Z');

/** Columns of a row of `merchant_orders`, of which the id is one. */
export type StoredColumns = Readonly<Record<string, string | number | Date | null>>;

/** The columns of an order with this id. */
export function row(externalOrderId: string, more: StoredColumns = {}): StoredColumns {
  return { external_order_id: externalOrderId, ...more };
}

/** Puts orders in as they stand after a life of their own: sent once, and due at once, unless they say otherwise. */
export function putOrders(merchant: Merchant, state: OrderState, ...rows: readonly StoredColumns[]): void {
  unguarded(merchant, () => {
    for (const { next_action_at = PUT_AT, ...given } of rows) {
      const all = { account: 'default', created_at: PUT_AT, updated_at: PUT_AT, attempts: 1, ...given, state };
      const values = Object.values(all).map(stored);
      const places = values.map(() => '?').join(', ');
      merchant
        .prepare(`insert into merchant_orders (${Object.keys(all).join(', ')}) values (${places})`)
        .run(...values);
      // An inserted order is due at once.
      merchant
        .prepare(
          'update merchant_orders set next_action_at = ?, revision = 1 where account = ? and external_order_id = ?',
        )
        .run(stored(next_action_at), all.account, given['external_order_id']);
    }
  });
}

function stored(value: StoredColumns[string] | undefined): unknown {
  return value instanceof Date ? value.toISOString() : value;
}
