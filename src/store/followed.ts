import type { OrderRow } from './orders.ts';
import type { Database, Transaction } from './port.ts';
import { queries, statement } from './statement.ts';

/** A row with what a look-up is held against. */
export interface FollowedRow extends OrderRow {
  /** The newest record, as received. */
  readonly earlier_body: string | null;
  /** 1 when the order has findings that are not resolved. */
  readonly has_findings: number;
}

// Subqueries: a join of the same rows takes eight times as long.
const followedStatement = statement((v: { account: string; externalOrderId: string }) =>
  queries
    .selectFrom('merchant_orders as o')
    .selectAll('o')
    .select((select) => [
      select
        .selectFrom('order_records as r')
        .select('r.body')
        .whereRef('r.account', '=', 'o.account')
        .whereRef('r.external_order_id', '=', 'o.external_order_id')
        .as('earlier_body'),
      select
        .exists(
          select
            .selectFrom('findings as f')
            .select('f.id')
            .whereRef('f.account', '=', 'o.account')
            .whereRef('f.external_order_id', '=', 'o.external_order_id')
            .where('f.status', '<>', 'resolved'),
        )
        .as('has_findings'),
    ])
    .where('o.account', '=', v.account)
    .where('o.external_order_id', '=', v.externalOrderId),
);

/** One row that is followed, or undefined. */
export async function readFollowed(
  db: Database,
  account: string,
  externalOrderId: string,
): Promise<FollowedRow | undefined> {
  const { rows } = await followedStatement(db, { account, externalOrderId });
  return rows[0] as FollowedRow | undefined;
}

const hashStatement = statement((v: { account: string; externalOrderId: string; hash: string }) =>
  queries
    .selectFrom('order_records')
    .select('external_order_id')
    .where('account', '=', v.account)
    .where('transaction_hash', '=', v.hash)
    .where('external_order_id', '<>', v.externalOrderId)
    .limit(1),
);

/** Another order whose newest record has the same transaction hash. */
export async function orderWithHash(
  tx: Transaction,
  order: { account: string; externalOrderId: string },
  hash: string,
): Promise<string | null> {
  const { rows } = await hashStatement(tx, { ...order, hash });
  return rows[0]?.external_order_id ?? null;
}
