import { sql, type RawBuilder, type SqlBool } from 'kysely';
import { FOLLOWED_STATES, RECHECKED_STATES, type OrderState } from '../orders/rules/states.ts';
import { storable } from '../base/text.ts';
import type { OrderRow } from './orders/order-columns.ts';
import type { Database } from './port.ts';
import { indexedBy, isOneOf } from './dialect.ts';
import { textToFind } from './statement.ts';

/** A place in the list of due orders. A pass continues after the last row's place, so that it reads each row once. */
export interface DueKey {
  readonly nextActionAt: string;
  readonly externalOrderId: string;
}

export const FIRST_DUE: DueKey = { nextActionAt: '', externalOrderId: '' };
export const DUE_COLUMNS = ['external_order_id', 'next_action_at'] as const;

export function dueKeyOf(row: Pick<OrderRow, (typeof DUE_COLUMNS)[number]>): DueKey {
  return { nextActionAt: row.next_action_at ?? '', externalOrderId: row.external_order_id };
}

export interface OrderFilter {
  readonly account: string;
  readonly state?: OrderState | undefined;
  readonly ids?: readonly string[] | undefined;
  /** The number of the `forbidden` restraint in which the order's create was last refused with 403; 0 if never. */
  readonly forbiddenIn?: number | undefined;
  readonly failOver?: number | undefined;
  readonly until?: Date | undefined;
  readonly laterThan?: Date | undefined;
  readonly after?: DueKey | undefined;
  readonly upTo?: DueKey | undefined;
  readonly afterId?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly by: 'due' | 'id';
  readonly limit: number;
}

export async function findOrders<Column extends keyof OrderRow>(
  db: Database,
  filter: OrderFilter,
  columns: readonly Column[],
): Promise<readonly Pick<OrderRow, Column>[]> {
  const { account, state, ids, forbiddenIn, failOver, until, laterThan, after, upTo, afterId, from, to, by } = filter;
  let orders = db.selectFrom('merchant_orders').select(columns).where('account', '=', textToFind(account));
  if (ids !== undefined) orders = orders.where(isOneOf('external_order_id', JSON.stringify(ids.map(storable))));
  if (forbiddenIn !== undefined) orders = orders.where('forbidden_in', '=', forbiddenIn);
  if (failOver !== undefined) orders = orders.where('fail_over', '=', failOver);
  if (afterId !== undefined) orders = orders.where('external_order_id', '>', afterId);
  if (until !== undefined) orders = orders.where('next_action_at', '<=', until.toISOString());
  if (laterThan !== undefined) orders = orders.where('next_action_at', '>', laterThan.toISOString());
  if (after !== undefined) orders = orders.where(isDueAfter(after));
  if (upTo !== undefined) {
    orders = orders.where(
      sql<SqlBool>`(next_action_at, external_order_id) <= (${upTo.nextActionAt}, ${upTo.externalOrderId})`,
    );
  }
  if (from !== undefined) orders = orders.where('created_at', '>=', from);
  if (to !== undefined) orders = orders.where('created_at', '<', to);
  if (state !== undefined && by === 'due') orders = orders.where('state', '=', textToFind(state));
  if (state !== undefined && by === 'id') {
    // The inner query reads ids from the index of states. A query of whole rows by id would scan the table.
    const inState = db.selectFrom('merchant_orders').select('external_order_id').where('account', '=', account);
    orders = orders.where('external_order_id', 'in', inState.where('state', '=', state));
  }
  if (by === 'due') orders = orders.orderBy('next_action_at');
  orders = orders.orderBy('external_order_id').limit(filter.limit);
  return await orders.$castTo<Pick<OrderRow, Column>>().execute();
}

export function isDueAfter({ nextActionAt, externalOrderId }: DueKey): RawBuilder<SqlBool> {
  return sql`(next_action_at, external_order_id) > (${nextActionAt}, ${externalOrderId})`;
}

/** Counts end at this number, because an exact count of millions of orders takes long. */
export const MOST_COUNTED = 10_000;

export type WaitingOrders = Readonly<Awaited<ReturnType<typeof countWaiting>>>;

/** Counts pending orders, due or not, and due look-ups, each up to `limit`. */
export async function countWaiting(
  db: Database,
  { account, now, limit = MOST_COUNTED }: { account: string; now: Date; limit?: number },
) {
  const counts = ['pending', ...FOLLOWED_STATES, ...RECHECKED_STATES].map((state) => {
    const isDue = state === 'pending' ? sql`` : sql`and next_action_at <= ${now.toISOString()}`;
    // Sorted as in the index of due orders, because a prepared plan might otherwise use another index.
    return sql`select ${sql.lit(state)} as state, count(*) as orders from (select external_order_id from merchant_orders
      where account = ${textToFind(account)} and state = ${sql.lit(state)} ${isDue}
      order by next_action_at limit 0 + ${limit}) as due`;
  });
  const { rows } = await sql<{ state: string; orders: number }>`${sql.join(counts, sql` union all `)}`.execute(db);
  const pending = rows.find(({ state }) => state === 'pending')?.orders ?? 0;
  const all = rows.reduce((sum, { orders }) => sum + orders, 0);
  return { pending, lookupsDue: Math.min(all - pending, limit) };
}

/** An invalid order is new for this long after its insertion. */
const NEW_MS = 24 * 60 * 60_000;

/** Counts new invalid orders, and reads when the first was inserted. Skips corrected rows, which have a due time. */
export async function readNewInvalid(db: Database, accounts: readonly string[], now: Date) {
  if (accounts.length === 0) return null;
  const isNew = sql`created_at > ${new Date(now.getTime() - NEW_MS).toISOString()}`;
  const search = async (index: string, filter = sql``) => {
    const invalid = sql`select created_at from merchant_orders ${indexedBy(index)}
      where account in (${sql.join(accounts)}) and state = 'invalid' and next_action_at is null ${filter} limit ${MOST_COUNTED}`;
    const counts = sql<{ all: number; orders: number; since: string }>`select count(*) as "all",
        count(case when ${isNew} then 1 end) as orders, min(case when ${isNew} then created_at end) as since
      from (${invalid}) as invalid_orders`;
    return (await counts.execute(db)).rows[0];
  };
  let found = await search('merchant_orders_due');
  // Old orders may fill the limit. The index by age comes second, because there all orders of a day are read.
  if (found?.all === MOST_COUNTED) found = await search('merchant_orders_by_age', sql`and ${isNew}`);
  return found === undefined || found.orders === 0 ? null : { orders: found.orders, since: found.since };
}
