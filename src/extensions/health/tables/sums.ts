import { sql, type RawBuilder } from 'kysely';
import type { OrderState } from '../../../orders/rules/states.ts';
import { exactSum, indexedBy } from '../../../store/dialect.ts';
import type { Database } from '../../../store/port.ts';
import { hasDecision } from '../../operate/tables/decided-findings.ts';
import type { SummaryPart } from '../../reports/summary.ts';
import { partOf } from '../../reports/tables/summary.ts';
import { countBy } from './overview.ts';

const MOST_ORDERS = 5_000;
const MOST_MOVES = 10_000;

/** Counts inserted, accepted and final orders since `from`: by hour for 13 `digits` of a time, by minute for 16. */
export async function countMoves(db: Database, account: string, from: string, digits: number) {
  const [oldestOrder, oldestEvent] = [await orderBefore(db, account, MOST_MOVES), await eventBefore(db, account)];
  const cutAt = [oldestOrder, oldestEvent].reduce((late, one) => (one > late ? one : late), from);
  const orders = await countBy(
    db,
    'move',
    sql`select 'inserted ' || substr(created_at, 1, ${sql.lit(digits)}) as move
        from merchant_orders ${indexedBy('merchant_orders_by_age')}
        where account = ${account} and created_at >= ${cutAt}
      union all
      select new_value || ' ' || substr(observed_at, 1, ${sql.lit(digits)})
        from (select type, field, new_value, observed_at from events
          where account = ${account} order by account desc, id desc limit ${MOST_MOVES}) as newest_events
        where type = 'order' and field = 'state' and new_value in ('accepted', 'final') and observed_at >= ${cutAt}`,
  );
  return { orders, cutAt: cutAt === from ? null : cutAt };
}

async function orderBefore(db: Database, account: string, orders: number): Promise<string> {
  const { rows } = await sql<{ at: string }>`select created_at as at from merchant_orders
    where account = ${account} order by created_at desc limit 1 offset ${orders}`.execute(db);
  return rows[0]?.at ?? '';
}

async function eventBefore(db: Database, account: string): Promise<string> {
  const { rows } = await sql<{ at: string }>`select observed_at as at from events
    where account = ${account} order by account desc, id desc limit 1 offset ${MOST_MOVES}`.execute(db);
  return rows[0]?.at ?? '';
}

const LINE = sql`from_currency, to_currency, state, outcome, asset_position`;

async function sumsOf(db: Database, account: string, orders: RawBuilder<unknown>) {
  const { rows } = await sql<Omit<SummaryPart, 'account' | 'order_status' | 'unreadable'>>`
    select ${LINE}, count(*) as orders, ${exactSum('asset')} as asset
    from (${orders}) as orders group by ${LINE}`.execute(db);
  return rows.map((row) => partOf({ ...row, account, order_status: null }, row.asset));
}

export async function recentSums(db: Database, account: string, from: string) {
  const oldest = await orderBefore(db, account, MOST_ORDERS);
  const since = oldest > from ? oldest : from;
  const orders = sql`select ${LINE}, asset from merchant_orders where account = ${account} and created_at >= ${since}`;
  return { parts: await sumsOf(db, account, orders), cutAt: oldest > from ? oldest : null };
}

export const MOST_AT_STAKE = 1_000;

/** The orders of a problem. They are in `state`, inserted at `since` or later, or they have findings of `class`. */
export type Concerned =
  | { readonly state: OrderState; readonly since?: string }
  | { readonly class: string; readonly status: 'open' | 'undecided' | 'decided' };

/** For a class, omits decided findings and orders that another problem counts. `exact_sum` needs a snapshot's `db`. */
export async function sumsAtStake(db: Database, account: string, concerned: Concerned) {
  if ('state' in concerned) {
    const inState = sql`select ${LINE}, asset
      from (select ${LINE}, asset, created_at from merchant_orders ${indexedBy('merchant_orders_due')}
        where account = ${account} and state = ${concerned.state} limit ${MOST_AT_STAKE}) as few
      where created_at >= ${concerned.since ?? ''}`;
    return await sumsOf(db, account, inState);
  }
  const withFinding = sql`select ${LINE}, asset
    from (select distinct external_order_id as id from (select * from findings
      where account = ${account} and status = 'open' and class = ${concerned.class} limit ${MOST_AT_STAKE}) as few
      where not ${hasDecision('few')}) as found
    join merchant_orders on account = ${account} and external_order_id = found.id
    where state not in ('disputed', 'held', 'unknown')`;
  return await sumsOf(db, account, withFinding);
}
