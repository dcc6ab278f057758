import type { Kysely } from 'kysely';
import { queries } from './dialect.ts';
import type { OrderRow } from './orders.ts';
import type { Tables } from './schema.ts';
import { statement } from './statement.ts';

/** A row with what a look-up is held against. */
export interface FollowedRow extends OrderRow {
  /** The newest record, as received. */
  readonly earlier_body: string | null;
  readonly earlier_received_at: string | null;
  readonly earlier_compared_at: string | null;
  readonly earlier_input_asset: string | null;
  readonly earlier_from_currency: string | null;
  readonly earlier_to_currency: string | null;
  /** 1 when the order has findings that are not resolved. */
  readonly has_findings: number;
}

const followedStatement = statement((v: { account: string; externalOrderId: string }) =>
  queries
    .selectFrom('merchant_orders as o')
    .leftJoin('order_records as r', (join) =>
      join.onRef('r.account', '=', 'o.account').onRef('r.external_order_id', '=', 'o.external_order_id'),
    )
    .selectAll('o')
    .select((select) => [
      'r.body as earlier_body',
      'r.received_at as earlier_received_at',
      'r.compared_at as earlier_compared_at',
      'r.input_asset as earlier_input_asset',
      'r.from_currency as earlier_from_currency',
      'r.to_currency as earlier_to_currency',
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
  db: Kysely<Tables>,
  account: string,
  externalOrderId: string,
): Promise<FollowedRow | undefined> {
  const { rows } = await followedStatement(db, { account, externalOrderId });
  return rows[0] as FollowedRow | undefined;
}

/** What else a record that says something new is held against; times as they are stored. */
export interface Evidence {
  /** The pre-order, as received. */
  readonly preOrderBody: string | null;
  /** When the intent of the first create was recorded. */
  readonly firstSentAt: string | null;
  /** merchant.id of the account's first record. */
  readonly merchantId: string | null;
  /** Another order whose newest record has the same transaction hash. */
  readonly hashUsedBy: string | null;
}

const evidenceStatement = statement((v: { account: string; externalOrderId: string; hash: string | null }) =>
  queries.selectNoFrom((select) => [
    select
      .selectFrom('pre_orders')
      .select('body')
      .where('account', '=', v.account)
      .where('external_order_id', '=', v.externalOrderId)
      .as('preOrderBody'),
    select
      .selectFrom('order_events')
      .select('observed_at')
      .where('account', '=', v.account)
      .where('external_order_id', '=', v.externalOrderId)
      .where('field', '=', 'state')
      .where('new_value', '=', 'sending')
      .orderBy('id')
      .limit(1)
      .as('firstSentAt'),
    select
      .selectFrom('account_facts')
      .select('value')
      .where('account', '=', v.account)
      .where('name', '=', 'merchant.id')
      .as('merchantId'),
    select
      .selectFrom('order_records')
      .select('external_order_id')
      .where('account', '=', v.account)
      .where('transaction_hash', '=', v.hash)
      .where('external_order_id', '<>', v.externalOrderId)
      .limit(1)
      .as('hashUsedBy'),
  ]),
);

/** Everything at once: it is read for each record that changed. */
export async function readEvidence(
  tx: Kysely<Tables>,
  account: string,
  externalOrderId: string,
  hash: string | null,
): Promise<Evidence> {
  const { rows } = await evidenceStatement(tx, { account, externalOrderId, hash });
  return rows[0] ?? { preOrderBody: null, firstSentAt: null, merchantId: null, hashUsedBy: null };
}
