import { sql, type RawBuilder } from 'kysely';
import { exactSum, indexedBy, isFollowed } from '../../../store/dialect.ts';
import type { Database, Store } from '../../../store/port.ts';
import { partOf } from '../../reports/tables/summary.ts';
import { countBy } from './overview.ts';
import { rowsAtOnce } from '../../../store/pages.ts';
import { queries } from '../../../store/statement.ts';

/** The newest orders and events that are looked at: the dashboard must not slow other work. */
const MOST_ORDERS = 5_000;
const MOST_EVENTS = 20_000;
const MOST_FOLLOWED = 5_000;

/** Orders by what they did and the hour, such as `accepted 2026-01-31T12`. `cutAt`: counted from then on only, because there is more. */
export interface CountedHours {
  readonly orders: ReadonlyMap<string, number>;
  readonly cutAt: string | null;
}

export async function countHours(db: Database, account: string, from: string): Promise<CountedHours> {
  const [oldestOrder, oldestEvent] = [await orderBefore(db, account, MOST_EVENTS), await eventBefore(db, account)];
  const cutAt = [oldestOrder, oldestEvent].reduce((late, one) => (one > late ? one : late), from);
  const orders = await countBy(
    db,
    'move',
    sql`select 'inserted ' || substr(created_at, 1, 13) as move from merchant_orders ${indexedBy('merchant_orders_by_age')}
        where account = ${account} and created_at >= ${cutAt}
      union all
      select new_value || ' ' || substr(observed_at, 1, 13) from (select type, field, new_value, observed_at from events
        where account = ${account} order by account desc, id desc limit ${MOST_EVENTS}) as newest_events
        where type = 'order' and field = 'state' and new_value in ('accepted', 'final') and observed_at >= ${cutAt}`,
  );
  return { orders, cutAt: cutAt === from ? null : cutAt };
}

/** The time of the newest order but `orders`; empty if there are fewer. */
async function orderBefore(db: Database, account: string, orders: number): Promise<string> {
  const { rows } = await sql<{ at: string }>`select created_at as at from merchant_orders
    where account = ${account} order by created_at desc limit 1 offset ${orders}`.execute(db);
  return rows[0]?.at ?? '';
}

async function eventBefore(db: Database, account: string): Promise<string> {
  const { rows } = await sql<{ at: string }>`select observed_at as at from events
    where account = ${account} order by account desc, id desc limit 1 offset ${MOST_EVENTS}`.execute(db);
  return rows[0]?.at ?? '';
}

/** Adds up the newest orders since each of the times, the newest time first. All are read at once: they lie far from each other. */
export async function recentParts(store: Pick<Store, 'db' | 'snapshot'>, account: string, times: readonly string[]) {
  const oldest = await orderBefore(store.db, account, MOST_ORDERS);
  const since = [oldest, ...times.slice(-1)].toSorted().at(-1) ?? '';
  const line = ['from_currency', 'to_currency', 'state', 'outcome', 'asset_position'] as const;
  const rows = await rowsAtOnce(
    store,
    queries
      .selectFrom('merchant_orders')
      .select((select) => [...line, select.fn.countAll<number>().as('orders'), exactSum('asset').as('asset')])
      .select(placeIn('created_at', times).as('place'))
      .where('account', '=', account)
      .where('created_at', '>=', since)
      .groupBy([...line, sql.ref('place')]),
  );
  const parts = rows.map((row) => partOf({ ...row, account, order_status: null }, row.asset));
  return times.map((time, period) => ({
    parts: parts.filter(({ place }) => place <= period),
    cutAt: oldest > time ? oldest : null,
  }));
}

/** How many of the times, the newest first, lie after that of the column. */
function placeIn(column: string, times: readonly string[]): RawBuilder<number> {
  const cases = times.map((time, place) => sql`when ${sql.ref(column)} >= ${time} then ${sql.lit(place)}`);
  return sql<number>`case ${sql.join(cases, sql` `)} else ${sql.lit(times.length)} end`;
}

export interface CountedAges {
  readonly rows: readonly { readonly state: string; readonly place: number; readonly orders: number }[];
  readonly isCut: boolean;
}

/** Counts the orders that are followed by how many of the times, the newest first, lie after their last change. */
export async function countAges(db: Database, account: string, times: readonly string[]): Promise<CountedAges> {
  const followed = sql`select state, coalesce(changed_at, sent_at, created_at) as since from merchant_orders
    ${indexedBy('merchant_orders_followed')} where account = ${account} and ${isFollowed()}
    order by external_order_id limit ${MOST_FOLLOWED}`;
  const { rows } = await sql<{ state: string; place: number; orders: number }>`
    select state, place, count(*) as orders from (select state, ${placeIn('since', times)} as place from (${followed}) as followed) as aged
    group by state, place`.execute(db);
  return { rows, isCut: rows.reduce((sum, { orders }) => sum + orders, 0) >= MOST_FOLLOWED };
}
