import { sql } from 'kysely';
import type { SummaryPart } from '../../reports/summary.ts';
import { exactSum, indexedBy, isFollowed } from '../../../store/dialect.ts';
import type { Database, Store } from '../../../store/port.ts';
import { partOf } from '../../reports/tables/summary.ts';
import { countBy } from './overview.ts';
import { rowsAtOnce } from '../../../store/pages.ts';
import { queries } from '../../../store/statement.ts';

/** The newest orders and events that are looked at: the dashboard must not slow other work. */
const MOST_ORDERS = 10_000;
const MOST_EVENTS = 20_000;
const MOST_FOLLOWED = 10_000;

/** By the hour, such as `2026-01-31T12`. */
type ByHour = ReadonlyMap<string, number>;

/** `cutAt`: counted from then on only, because there is more. */
export interface CountedHours {
  readonly inserted: ByHour;
  readonly accepted: ByHour;
  readonly final: ByHour;
  readonly cutAt: string | null;
}

interface Since {
  readonly account: string;
  readonly from: string;
}

export async function countHours(db: Database, { account, from }: Since): Promise<CountedHours> {
  const [oldestOrder, oldestEvent] = [await orderBefore(db, account, MOST_EVENTS), await eventBefore(db, account)];
  const cutAt = [oldestOrder, oldestEvent].reduce((late, one) => (one > late ? one : late), from);
  const hour = (column: string) => sql`substr(${sql.ref(column)}, 1, 13)`;
  const inserted = await countBy(
    db,
    'hour',
    sql`select ${hour('created_at')} as hour from merchant_orders ${indexedBy('merchant_orders_by_age')}
      where account = ${account} and created_at >= ${cutAt}`,
  );
  const moved = async (state: string) =>
    await countBy(
      db,
      'hour',
      sql`select ${hour('observed_at')} as hour from (select type, field, new_value, observed_at from events
        where account = ${account} order by account desc, id desc limit ${MOST_EVENTS}) as newest_events
        where type = 'order' and field = 'state' and new_value = ${state} and observed_at >= ${cutAt}`,
    );
  return {
    inserted,
    accepted: await moved('accepted'),
    final: await moved('final'),
    cutAt: cutAt === from ? null : cutAt,
  };
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

export async function recentParts(
  store: Pick<Store, 'db' | 'snapshot'>,
  { account, from }: Since,
): Promise<{ readonly parts: readonly SummaryPart[]; readonly cutAt: string | null }> {
  const oldest = await orderBefore(store.db, account, MOST_ORDERS);
  const since = oldest > from ? oldest : from;
  const line = ['from_currency', 'to_currency', 'state', 'outcome', 'asset_position'] as const;
  const rows = await rowsAtOnce<Omit<SummaryPart, 'account' | 'order_status' | 'unreadable'>>(
    store,
    queries
      .selectFrom('merchant_orders')
      .select((select) => [...line, select.fn.countAll<number>().as('orders'), exactSum('asset').as('asset')])
      .where('account', '=', account)
      .where('created_at', '>=', since)
      .groupBy(line),
  );
  const parts = rows.map((row) => partOf({ ...row, account, order_status: null }, row.asset));
  return { parts, cutAt: since === from ? null : since };
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
  const cases = times.map((time, place) => sql`when since >= ${time} then ${sql.lit(place)}`);
  const place = sql`case ${sql.join(cases, sql` `)} else ${sql.lit(times.length)} end`;
  const { rows } = await sql<{ state: string; place: number; orders: number }>`
    select state, place, count(*) as orders from (select state, ${place} as place from (${followed}) as followed) as aged
    group by state, place`.execute(db);
  return { rows, isCut: rows.reduce((sum, { orders }) => sum + orders, 0) >= MOST_FOLLOWED };
}
