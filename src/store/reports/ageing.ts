import { sql } from 'kysely';
import type { OldestOrder } from '../../reports/ageing.ts';
import type { Ages } from '../../reports/ages.ts';
import { unindexed, type Query } from '../dialect.ts';
import type { Store } from '../port.ts';
import { rowsAtOnce } from '../snapshot.ts';
import { queries } from '../statement.ts';

/** The orders that are looked at, and as of when; times are compared with `created_at`. */
export interface AgeingScope {
  readonly account: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly asOf: string;
}

/** So many orders are read at a time: no read holds the write-ahead log for long. */
const PAGE = 10_000;

/** Reads the state of each order at `asOf` and since when it had it. */
export async function readAges(store: Pick<Store, 'snapshot'>, scope: AgeingScope, ages: Ages): Promise<void> {
  let last: string | undefined;
  for (let read = PAGE; read === PAGE;) {
    read = 0;
    for (const order of await rowsAtOnce(store, pageOf(scope, last))) {
      ages.add(order);
      last = order.id;
      read += 1;
    }
  }
}

/**
 * As the events tell it: the same for a moment, whatever has happened since, also between two pages. A row that has not
 * changed since the moment says the same, and is at hand; of its events only the time is read, which the index has.
 */
function pageOf({ account, from, to, asOf }: AgeingScope, last: string | undefined): Query<OldestOrder> {
  // With the sign no index of ages is used: the orders are read by their ids, so that a page reads no more than itself.
  const createdAt = unindexed('o.created_at');
  const isAsItWas = sql`o.updated_at <= ${asOf}`;
  let orders = queries
    .selectFrom('merchant_orders as o')
    .select((select) => {
      const newest = (column: 'new_value' | 'observed_at', fields: readonly string[]) =>
        select
          .selectFrom('order_events as e')
          .select(`e.${column} as value`)
          .whereRef('e.account', '=', 'o.account')
          .whereRef('e.external_order_id', '=', 'o.external_order_id')
          .where('e.observed_at', '<=', asOf)
          .where('e.field', 'in', fields)
          .orderBy('e.id', 'desc')
          .limit(1);
      const state = newest('new_value', ['state']);
      const changedAt = newest('observed_at', ['state', 'order.status']);
      return [
        'o.account',
        'o.external_order_id as id',
        sql<string>`coalesce(o.from_currency, '?') || '/' || coalesce(o.to_currency, '?')`.as('pair'),
        sql<string>`case when ${isAsItWas} then o.state else coalesce(${state}, 'pending') end`.as('state'),
        sql<
          string | null
        >`case when ${isAsItWas} then o.order_status else ${newest('new_value', ['order.status'])} end`.as('status'),
        sql<string>`coalesce(${changedAt}, o.created_at)`.as('since'),
      ];
    })
    .where('o.account', '=', account)
    .where(createdAt, '<=', asOf);
  // The id of an order may be empty text.
  if (last !== undefined) orders = orders.where('o.external_order_id', '>', last);
  if (from !== null) orders = orders.where(createdAt, '>=', from);
  if (to !== null) orders = orders.where(createdAt, '<', to);
  return orders.orderBy('o.external_order_id').limit(PAGE);
}
