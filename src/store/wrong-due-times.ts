import type { OrderState } from '../domain/orders/states.ts';
import { mayNotBeNever } from './due-times.ts';
import { postpone } from './orders.ts';
import type { Transaction } from './port.ts';

/** Orders of one state that are due only after `latest`, or never. */
export interface WronglyDue {
  readonly account: string;
  readonly state: OrderState;
  readonly latest: Date;
  readonly limit: number;
  /** Ids of orders that are left out, and of the only one that is meant. */
  readonly except?: readonly string[];
  readonly only?: string;
}

function wronglyDue(tx: Transaction, query: WronglyDue, isFree: boolean) {
  const { account, state, latest, limit, except = [], only } = query;
  let ids = tx
    .selectFrom('merchant_orders')
    .select('external_order_id')
    .where((order) => order.and({ account, state }))
    .limit(limit);
  // A row that the merchant is writing is left for another time.
  if (isFree) ids = ids.forNoKeyUpdate().skipLocked();
  if (except.length > 0) ids = ids.where('external_order_id', 'not in', except);
  if (only !== undefined) ids = ids.where('external_order_id', '=', only);
  // Two searches of the index of due orders; with `or` SQLite would read all orders of the account.
  const late = tx.selectFrom(ids.where('next_action_at', '>', latest.toISOString()).as('late')).selectAll();
  const never = tx.selectFrom(ids.where('next_action_at', 'is', null).as('never')).selectAll();
  return mayNotBeNever(state) ? late.unionAll(never) : late;
}

/** Reads the ids of orders that are due at a wrong time: `limit` or more, where there are so many. */
export async function wronglyDueOrders(tx: Transaction, query: WronglyDue): Promise<string[]> {
  return (await wronglyDue(tx, query, false).execute()).map((row) => row.external_order_id);
}

/**
 * Makes orders that are due at a wrong time due at `to`: `limit` or more, where there are so many. Gives how many; those that
 * another program has locked are not among them.
 */
export async function correctDueTimes(tx: Transaction, query: WronglyDue & { to: Date }): Promise<number> {
  const result = await tx
    .updateTable('merchant_orders')
    .set((row) => ({ next_action_at: query.to.toISOString(), revision: row('revision', '+', 1) }))
    .where('account', '=', query.account)
    .where('external_order_id', 'in', wronglyDue(tx, query, true))
    .executeTakeFirstOrThrow();
  return Number(result.numUpdatedRows);
}

/**
 * Makes up to `limit` pending orders due at `to` that are due later and whose reason begins with `reason`. Leaves out orders
 * that another program has locked. Returns how many.
 */
export async function makePendingDue(
  tx: Transaction,
  { account, reason, to, limit }: { account: string; reason: string; to: Date; limit: number },
): Promise<number> {
  const rows = await tx
    .selectFrom('merchant_orders')
    .select('external_order_id')
    .where((order) => order.and({ account, state: 'pending' }))
    .where('next_action_at', '>', to.toISOString())
    .where('state_reason', 'like', `${reason}%`)
    // This is the order of the index of due orders; else SQLite would read all orders by the key.
    .orderBy('next_action_at')
    .limit(limit)
    .forNoKeyUpdate()
    .skipLocked()
    .execute();
  for (const { external_order_id: externalOrderId } of rows) {
    await postpone(tx, { account, externalOrderId, until: to });
  }
  return rows.length;
}
