import { sql, type Compilable } from 'kysely';
import type { OldestOrder } from '../../reports/ageing.ts';
import type { Store } from '../port.ts';
import { openAgeingStage, type AgeingStage } from '../stage/ageing.ts';
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
export function readAgeing(store: Pick<Store, 'snapshot'>, scope: AgeingScope): AgeingStage {
  const stage = openAgeingStage();
  let last: string | undefined;
  for (let read = PAGE; read === PAGE;) {
    read = 0;
    using snapshot = store.snapshot();
    for (const order of snapshot.rows(pageOf(scope, last))) {
      stage.add(order);
      last = order.id;
      read += 1;
    }
  }
  return stage;
}

/** As the events tell it: the same for a moment, whatever has happened since, also between two pages. */
function pageOf({ account, from, to, asOf }: AgeingScope, last: string | undefined): Compilable<OldestOrder> {
  // With the sign no index of ages is used: the orders are read by their ids, so that a page reads no more than itself.
  const createdAt = sql<string>`+o.created_at`;
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
        'o.external_order_id as id',
        sql<string>`coalesce(o.from_currency, '?') || '/' || coalesce(o.to_currency, '?')`.as('pair'),
        sql<string>`coalesce(${state}, 'pending')`.as('state'),
        newest('new_value', ['order.status']).as('status'),
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
