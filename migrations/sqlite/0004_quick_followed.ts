import { sql, type Kysely } from 'kysely';

/**
 * The condition of `merchant_orders_followed`. SQLite evaluates it at each write of an order: for a list of more than two
 * values it builds a table each time, which takes longer than the write of the index.
 */
export const IS_FOLLOWED = `(state = 'sending' or state = 'unknown' or state = 'held' or state = 'accepted'
    or state = 'open' or state = 'disputed')`;

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`drop index merchant_orders_followed`.execute(db);
  await sql`create index merchant_orders_followed on merchant_orders (account, external_order_id)
    where ${sql.raw(IS_FOLLOWED)}`.execute(db);
}
