import { sql, type RawBuilder, type SqlBool } from 'kysely';
import type { OrderState } from '../domain/orders/states.ts';
import { storable } from '../domain/text.ts';
import type { OrderRow } from './order-columns.ts';
import type { Database } from './port.ts';

/** A place in the list of due orders; a pass goes on after it, so that it meets each row once. */
export interface DueKey {
  readonly nextActionAt: string;
  readonly externalOrderId: string;
}

/** The place before all due orders. */
export const FIRST_DUE: DueKey = { nextActionAt: '', externalOrderId: '' };
/** The columns of a place. */
export const DUE_COLUMNS = ['external_order_id', 'next_action_at'] as const;

/** The place of a row in the list of due orders. */
export function dueKeyOf(row: Pick<OrderRow, (typeof DUE_COLUMNS)[number]>): DueKey {
  return { nextActionAt: row.next_action_at ?? '', externalOrderId: row.external_order_id };
}

/** Selects orders of one account: a condition that is left out excludes nothing. */
export interface OrderFilter {
  readonly account: string;
  readonly state?: OrderState | undefined;
  readonly ids?: readonly string[] | undefined;
  /** The id begins with this text. */
  readonly beginning?: string | undefined;
  /** The exchange has refused the order with 403 this often. */
  readonly forbiddenIn?: number | undefined;
  /** The order is due at this time. */
  readonly until?: Date | undefined;
  /** The order comes later among the due orders than this place. */
  readonly after?: DueKey | undefined;
  /** The row was inserted at or after `from` and before `to`. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** In the order in which they are due, or of their ids. */
  readonly by: 'due' | 'id';
  readonly limit: number;
}

/** Reads these columns of the orders that match the filter, by the index of due orders or by the key. */
export async function findOrders<Column extends keyof OrderRow>(
  db: Database,
  filter: OrderFilter,
  columns: readonly Column[],
): Promise<readonly Pick<OrderRow, Column>[]> {
  const { account, state, ids, beginning, forbiddenIn, until, after, from, to, by } = filter;
  let orders = db.selectFrom('merchant_orders').select(columns).where('account', '=', account);
  if (ids !== undefined) orders = orders.where('external_order_id', 'in', ids);
  if (beginning !== undefined) orders = orders.where(isLike({ id: storable(beginning), isPrefix: true }));
  if (forbiddenIn !== undefined) orders = orders.where('forbidden_in', '=', forbiddenIn);
  if (until !== undefined) orders = orders.where('next_action_at', '<=', until.toISOString());
  if (after !== undefined) orders = orders.where(isDueAfter(after));
  if (from !== undefined) orders = orders.where('created_at', '>=', from);
  if (to !== undefined) orders = orders.where('created_at', '<', to);
  if (state !== undefined && by === 'due') orders = orders.where('state', '=', state);
  if (state !== undefined && by === 'id') {
    // By the index of states, which has the ids: for whole rows SQLite goes through the table.
    const inState = db.selectFrom('merchant_orders').select('external_order_id');
    orders = orders.where(
      'external_order_id',
      'in',
      inState.where((order) => order.and({ account, state })),
    );
  }
  if (by === 'due') orders = orders.orderBy('next_action_at');
  return await orders.orderBy('external_order_id').limit(filter.limit).$castTo<Pick<OrderRow, Column>>().execute();
}

/** Tells whether an order comes later among the due orders than a place. */
export function isDueAfter({ nextActionAt, externalOrderId }: DueKey): RawBuilder<SqlBool> {
  return sql`(next_action_at, external_order_id) > (${nextActionAt}, ${externalOrderId})`;
}

/** An id, or all that begin with it. */
export interface IdFilter {
  readonly id: string;
  readonly isPrefix: boolean;
}

/** Tells whether `external_order_id` is the id or begins with it, by a range of an index. */
export function isLike({ id, isPrefix }: IdFilter): RawBuilder<SqlBool> {
  if (!isPrefix) return sql`external_order_id = ${id}`;
  // No text that begins with the prefix comes after this one.
  return sql`external_order_id >= ${id} and external_order_id < ${`${id}\u{10ffff}`}`;
}
