import { sql } from 'kysely';
import type { PurgeQuery } from '../../commands/purges.ts';
import type { Transaction } from '../../../store/port.ts';

/** States in which a kept answer may still show a person what became of the order. */
const EVIDENCE_STATES = ['sending', 'unknown', 'held', 'disputed'];

/** Deletes up to `limit` answers older than `before`, but none of orders in `EVIDENCE_STATES`. Returns how many. */
export async function deleteKeptAnswers(tx: Transaction, { account, before, limit }: PurgeQuery): Promise<number> {
  const old = sql<{ id: number }>`select answer.id from kept_answers answer left join merchant_orders sent
      on sent.account = answer.account and sent.external_order_id = answer.subject
    where answer.account = ${account} and answer.received_at < ${before.toISOString()}
      and (sent.state is null or sent.state not in (${sql.join(EVIDENCE_STATES)}))
    order by answer.received_at limit ${limit}`;
  const ids = (await old.execute(tx)).rows.map(({ id }) => id);
  if (ids.length === 0) return 0;
  // Deletes by ids, because with a subquery a cached query plan would read all answers of the account.
  await sql`delete from kept_answers where account = ${account} and id in (${sql.join(ids)})`.execute(tx);
  return ids.length;
}
