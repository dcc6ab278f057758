import type { PurgeQuery } from '../../../daemon.ts';
import type { Transaction } from '../../../store/port.ts';

/** States in which a kept answer may still tell a person what became of the order. */
const EVIDENCE_STATES = ['sending', 'unknown', 'held', 'disputed'];

/** Deletes the oldest answers received before a time, except of unsettled orders. Returns the number deleted. */
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
  // Deletes by ids, because for a subquery a kept query plan would read all answers of the account.
  if (ids.length > 0)
    await tx.deleteFrom('kept_answers').where('account', '=', account).where('id', 'in', ids).execute();
  return ids.length;
}
