import { sql } from 'kysely';
import { indexedBy } from '../../../store/dialect.ts';
import type { OrderRow } from '../../../store/orders/order-columns.ts';
import type { Database } from '../../../store/port.ts';

type SentCreate = Pick<
  OrderRow,
  'external_order_id' | 'asset' | 'asset_position' | 'from_currency' | 'to_currency' | 'state' | 'sent_at'
> & { readonly id: number; readonly observed_at: string };

export async function sentCreates(
  db: Database,
  query: { account: string; after: { readonly observed_at: string; readonly id: number }; limit: number },
): Promise<readonly SentCreate[]> {
  const { account, after, limit } = query;
  const { rows } = await sql<SentCreate>`
    select e.id, e.observed_at, o.external_order_id, o.asset, o.asset_position, o.from_currency, o.to_currency, o.state,
      o.sent_at
    from events as e ${indexedBy('events_of_creates')}
    join merchant_orders as o on o.account = e.account and o.external_order_id = e.subject
    where e.account = ${account} and e.type = 'order' and e.field = 'state' and e.new_value = 'sending'
      and (e.observed_at, e.id) > (${after.observed_at}, ${after.id})
    order by e.observed_at, e.id limit ${limit}`.execute(db);
  return rows;
}
