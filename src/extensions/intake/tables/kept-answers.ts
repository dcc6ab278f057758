import type { PurgeQuery } from '../../../daemon.ts';
import type { Transaction } from '../../../store/port.ts';

/** States in which a kept answer may still tell a person what became of the order. */
const EVIDENCE_STATES = ['sending', 'unknown', 'held', 'disputed'];

/** Deletes answers that were received before a time, the oldest, but those of orders that are not settled. Returns how many. */
export async function deleteKeptAnswers(tx: Transaction, { account, before, limit }: PurgeQuery): Promise<number> {
  const old = await tx
    .selectFrom('kept_answers as answer')
    .leftJoin('merchant_orders as order', (join) =>
      join.onRef('order.account', '=', 'answer.account').onRef('order.external_order_id', '=', 'answer.subject'),
    )
    .select('answer.id')
    .where('answer.account', '=', account)
    .where('answer.received_at', '<', before.toISOString())
    .where((where) => where.or([where('order.state', 'is', null), where('order.state', 'not in', EVIDENCE_STATES)]))
    .orderBy('answer.received_at')
    .limit(limit)
    .execute();
  const ids = old.map(({ id }) => id);
  // By the ids: a plan that is kept would read all answers of the account to find the ones of a subquery.
  if (ids.length > 0)
    await tx.deleteFrom('kept_answers').where('account', '=', account).where('id', 'in', ids).execute();
  return ids.length;
}
