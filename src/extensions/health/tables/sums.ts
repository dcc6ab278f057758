import { sql, type RawBuilder } from 'kysely';
import type { OrderState } from '../../../orders/rules/states.ts';
import { exactSum, indexedBy } from '../../../store/dialect.ts';
import type { Database } from '../../../store/port.ts';
import { compileFor, queries } from '../../../store/statement.ts';
import { hasDecision } from '../../../store/tables/decided-findings.ts';
import type { AmountRow } from '../../reports/reconciliation/rows.ts';
import { partOf } from '../../reports/tables/summary.ts';
import { countBy } from './overview.ts';

const MOST_ORDERS = 5_000;
const MOST_MOVES = 10_000;

export type CountedMoves = { readonly orders: ReadonlyMap<string, number>; readonly cutAt: string | null };

/** Counts moves of orders since `from`, by the first `digits` characters of a time: 13 for hours, 16 for minutes. */
export async function countMoves(
  db: Database,
  account: string,
  { from, digits }: { readonly from: string; readonly digits: number },
): Promise<CountedMoves> {
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

const LINE = ['from_currency', 'to_currency', 'state', 'outcome', 'asset_position'] as const;

export async function recentSums(db: Database, account: string, from: string) {
  const oldest = await orderBefore(db, account, MOST_ORDERS);
  const query = queries
    .selectFrom('merchant_orders')
    .select((select) => [...LINE, select.fn.countAll<number>().as('orders'), exactSum('asset').as('asset')])
    .where('account', '=', account)
    .where('created_at', '>=', oldest > from ? oldest : from)
    .groupBy(LINE);
  const { rows } = await db.executeQuery(compileFor(db, query));
  const parts = rows.map((row) => partOf({ ...row, account, order_status: null }, row.asset));
  return { parts, cutAt: oldest > from ? oldest : null };
}

export const MOST_AT_STAKE = 1_000;

/** The orders that a problem is about: in a state, inserted since a time if given, or with findings of a class. */
export type Concerned =
  | { readonly state: OrderState; readonly since?: string }
  | { readonly class: string; readonly status: 'open' | 'undecided' | 'decided' };

/** Returns exact sums; for a class, without orders decided or counted by their state. `db` must be of a snapshot. */
export async function sumsAtStake(db: Database, account: string, concerned: Concerned) {
  const { rows } = await sql<AmountRow & { state: OrderState; sum: string }>`
    select from_currency, to_currency, asset_position, state, ${exactSum('asset')} as sum
    from (${'state' in concerned ? inState(account, concerned.state) : withFinding(account, concerned.class)}) as concerned
    group by from_currency, to_currency, asset_position, state`.execute(db);
  return rows.map(({ sum, ...row }) => partOf(row, sum));
}

function inState(account: string, state: OrderState): RawBuilder<unknown> {
  return sql`select from_currency, to_currency, asset_position, state, asset
    from merchant_orders ${indexedBy('merchant_orders_due')}
    where account = ${account} and state = ${state} limit ${MOST_AT_STAKE}`;
}

function withFinding(account: string, name: string): RawBuilder<unknown> {
  return sql`select from_currency, to_currency, asset_position, state, asset
    from (select distinct external_order_id as id from (select * from findings
      where account = ${account} and status = 'open' and class = ${name} limit ${MOST_AT_STAKE}) as few
      where not ${hasDecision('few')}) as found
    join merchant_orders on account = ${account} and external_order_id = found.id
    where state not in ('disputed', 'held', 'unknown')`;
}
