import type pg from 'pg';

const LATER = '2999-01-01T00:00:00.000Z';
export const LONG_AGO = '2026-01-15T00:00:00.000Z';
/** Orders a transaction. */
const BATCH = 250_000;

interface Fill {
  readonly orders: number;
  /** They share the orders evenly. */
  readonly accounts: number;
  /** Every second order of an account is pending for later. The others are final, and so are all without it. */
  readonly isHalfPending: boolean;
}

/** Makes rows by a superuser who runs no guards: a row begins as pending for everybody else. */
export async function fillOrders(
  admin: pg.Pool,
  { orders, accounts, isHalfPending }: Fill,
  say: (text: string) => void,
): Promise<void> {
  const client = await admin.connect();
  using _ = { [Symbol.dispose]: () => client.release(true) };
  await client.query(`set session_replication_role = replica; set synchronous_commit = off`);
  for (let first = 1; first <= orders; first += BATCH) {
    const last = Math.min(first + BATCH - 1, orders);
    await client.query(
      `insert into merchant_orders (account, external_order_id, asset, from_currency, to_currency, state, pre_order_id,
          order_id, order_status, attempts, next_action_at, last_lookup_at, created_at, updated_at, sent_at, changed_at)
        select 'shop-' || (i % $5::int + 1), 'order-' || lpad(i::text, 9, '0'), '0.0125', 'BTC', 'EUR', s.state,
          case when s.state = 'final' then 'pre-' || i end, case when s.state = 'final' then 'order-' || i end,
          case when s.state = 'final' then 'REQUEST' end, 0, case when s.state = 'pending' then $3 end,
          null, $4, $4, case when s.state = 'final' then $4 end, $4
        from generate_series($1::int, $2::int) as i,
          lateral (select case when $6::boolean and (i / $5::int) % 2 = 1 then 'pending' else 'final' end as state) as s`,
      [first, last, LATER, LONG_AGO, accounts, isHalfPending],
    );
    if (last % 1_000_000 === 0) say(`accounts: ${last} orders made`);
  }
  await client.query('vacuum analyze merchant_orders');
}
