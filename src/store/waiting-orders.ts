import { sql } from 'kysely';
import { FOLLOWED_STATES, RECHECKED_STATES } from '../domain/orders/states.ts';
import type { Database } from './port.ts';
import { queries, statement } from './statement.ts';

/** Counts go no further: a backlog of millions is not read to say that it is large. */
export const MOST_COUNTED = 10_000;

export interface WaitingOrders {
  readonly pending: number;
  readonly lookupsDue: number;
}

type Values = { account: string; until: string; limit: number };

/** One range of the index of due orders for each state. */
const waitingStatement = statement<Values, { state: string; orders: number }>((v) => {
  const pending = countOf('pending', v);
  const due = [...FOLLOWED_STATES, ...RECHECKED_STATES].map((state) => countOf(state, v));
  return due.reduce((all, one) => all.unionAll(one), pending);
});

function countOf(state: string, v: Values) {
  const orders = queries
    .selectFrom('merchant_orders')
    .select('external_order_id')
    .where('account', '=', v.account)
    .where('state', '=', sql.lit(state))
    // As the index of due orders has them: a plan that is kept takes no other one.
    .orderBy('next_action_at')
    .limit(v.limit);
  const waiting = state === 'pending' ? orders : orders.where('next_action_at', '<=', v.until);
  return queries
    .selectFrom(waiting.as('due'))
    .select([sql.lit(state).as('state'), (select) => select.fn.countAll<number>().as('orders')]);
}

export async function countWaiting(
  db: Database,
  { account, now, limit = MOST_COUNTED }: { account: string; now: Date; limit?: number },
): Promise<WaitingOrders> {
  const { rows } = await waitingStatement(db, { account, until: now.toISOString(), limit });
  const pending = rows.find(({ state }) => state === 'pending')?.orders ?? 0;
  const all = rows.reduce((sum, { orders }) => sum + orders, 0);
  return { pending, lookupsDue: Math.min(all - pending, limit) };
}
