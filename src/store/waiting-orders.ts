import { sql, type RawBuilder } from 'kysely';
import { ATTENTION_STATES, FOLLOWED_STATES, RECHECKED_STATES, type OrderState } from '../domain/orders/states.ts';
import type { NamedOrder } from '../reports/status/status.ts';
import { indexedBy } from './dialect.ts';
import { accountsToSend } from './due-times.ts';
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
const waitingStatement = statement<Values, { state: string; orders: number | bigint }>((v) => {
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
    .select([sql.lit(state).as('state'), (select) => select.fn.countAll<number | bigint>().as('orders')]);
}

export async function countWaiting(
  db: Database,
  { account, now, limit = MOST_COUNTED }: { account: string; now: Date; limit?: number },
): Promise<WaitingOrders> {
  const { rows } = await waitingStatement(db, { account, until: now.toISOString(), limit });
  const counted = rows.map(({ state, orders }) => ({ isPending: state === 'pending', orders: Number(orders) }));
  const sum = (isPending: boolean) =>
    counted.filter((one) => one.isPending === isPending).reduce((all, { orders }) => all + orders, 0);
  return { pending: sum(true), lookupsDue: Math.min(sum(false), limit) };
}

const MOST_NAMED = 10;
const MOST_UNKNOWN = 10_000;
export const MOST_ACCOUNTS = 1_000;

export async function firstPending(db: Database, account: string | undefined): Promise<NamedOrder | null> {
  const first = account ?? (await accountToSendFirst(db));
  if (first === undefined) return null;
  const row = await db
    .selectFrom('merchant_orders')
    .select(['account', 'external_order_id as externalOrderId', 'state_reason as reason'])
    .select([sql.lit<OrderState>('pending').as('state'), sql<string>`next_action_at`.as('since')])
    .where('account', '=', first)
    .where('state', '=', sql.lit('pending'))
    .where('next_action_at', 'is not', null)
    .orderBy('next_action_at')
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

async function accountToSendFirst(db: Database): Promise<string | undefined> {
  let first: readonly [account: string, at: number] | undefined;
  for (let after: string | undefined = ''; after !== undefined;) {
    const { due, next } = await accountsToSend(db, after);
    for (const one of due) if (first === undefined || one[1] < first[1]) first = one;
    after = next;
  }
  return first?.[0];
}

export async function firstUnknown(db: Database, accounts: readonly string[]): Promise<NamedOrder | null> {
  if (accounts.length === 0) return null;
  const since = sql`coalesce(sent_at, updated_at)`;
  const { rows } =
    await sql<NamedOrder>`select * from (${ofState('unknown', accounts, since, MOST_UNKNOWN)}) as unknown_orders
    order by since limit 1`.execute(db);
  return rows[0] ?? null;
}

export async function ordersToDecide(db: Database, accounts: readonly string[]): Promise<readonly NamedOrder[]> {
  if (accounts.length === 0) return [];
  const orders: NamedOrder[] = [];
  for (const state of ATTENTION_STATES) {
    orders.push(...(await ofState(state, accounts, sql`updated_at`, MOST_NAMED).execute(db)).rows);
  }
  return orders;
}

function ofState(state: OrderState, accounts: readonly string[], since: RawBuilder<unknown>, limit: number) {
  return sql<NamedOrder>`select account, external_order_id as "externalOrderId", state, state_reason as reason, ${since} as since
    from merchant_orders ${indexedBy('merchant_orders_due')}
    where account in (${sql.join(accounts.slice(0, MOST_ACCOUNTS))}) and state = ${sql.lit(state)} limit ${limit}`;
}
