import { withoutNul } from '../domain/text.ts';
import type { Answer } from '../domain/record.ts';
import type { Transaction } from './port.ts';
import type { KeptAnswersTable } from './schema.ts';

interface KeptAnswer extends Answer, Pick<KeptAnswersTable, 'account' | 'operation' | 'subject'> {
  readonly receivedAt: string;
}

export async function keepAnswer(tx: Transaction, answer: KeptAnswer): Promise<void> {
  const { httpStatus, body, receivedAt, account, operation, subject } = answer;
  const received = { http_status: httpStatus, body: withoutNul(body), received_at: receivedAt };
  await tx
    .insertInto('kept_answers')
    .values({ account, operation, subject, ...received })
    .execute();
}

/** States in which a kept answer may still tell a person what became of the order. */
const EVIDENCE_STATES = ['sending', 'unknown', 'held', 'disputed'];

/** Deletes answers that were received before a time, the oldest, but those of orders that are not settled. Returns how many. */
export async function deleteKeptAnswers(
  tx: Transaction,
  { account, before, limit }: { account: string; before: Date; limit: number },
): Promise<number> {
  const old = tx
    .selectFrom('kept_answers as answer')
    .leftJoin('merchant_orders as order', (join) =>
      join.onRef('order.account', '=', 'answer.account').onRef('order.external_order_id', '=', 'answer.subject'),
    )
    .select('answer.id')
    .where('answer.account', '=', account)
    .where('answer.received_at', '<', before.toISOString())
    .where((where) => where.or([where('order.state', 'is', null), where('order.state', 'not in', EVIDENCE_STATES)]))
    .orderBy('answer.received_at')
    .limit(limit);
  const deleting = tx.deleteFrom('kept_answers').where('account', '=', account).where('id', 'in', old);
  return Number((await deleting.executeTakeFirstOrThrow()).numDeletedRows);
}
