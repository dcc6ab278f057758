import { withoutNul } from '../domain/text.ts';
import type { Answer } from '../domain/record.ts';
import type { Database, Transaction } from './port.ts';
import type { KeptAnswersTable } from './schema.ts';
import { queries, statement } from './statement.ts';

interface KeptAnswer extends Answer, Pick<KeptAnswersTable, 'account' | 'operation' | 'subject'> {
  readonly receivedAt: string;
}

const keepStatement = statement((v: KeptAnswer) =>
  queries.insertInto('kept_answers').values({
    account: v.account,
    operation: v.operation,
    subject: v.subject,
    http_status: v.httpStatus,
    body: v.body,
    received_at: v.receivedAt,
  }),
);

export async function keepAnswer(tx: Transaction, answer: KeptAnswer): Promise<void> {
  await keepStatement(tx, { ...answer, body: withoutNul(answer.body) });
}

/** A place in the answers of an account by their age. */
export interface KeptAnswerPlace {
  readonly id: number;
  readonly received_at: string;
}

/** Reads answers that were received before a time, the oldest first, each with the state of its order if it is about one. */
export async function keptAnswersBefore(
  db: Database,
  query: { account: string; before: Date; after: KeptAnswerPlace; limit: number },
): Promise<readonly (KeptAnswerPlace & { readonly state: string | null })[]> {
  const { account, before, after, limit } = query;
  return await db
    .selectFrom('kept_answers as answer')
    .leftJoin('merchant_orders as order', (join) =>
      join.onRef('order.account', '=', 'answer.account').onRef('order.external_order_id', '=', 'answer.subject'),
    )
    .select(['answer.id', 'answer.received_at', 'order.state'])
    .where('answer.account', '=', account)
    .where('answer.received_at', '<', before.toISOString())
    .where((where) =>
      where(where.refTuple('answer.received_at', 'answer.id'), '>', where.tuple(after.received_at, after.id)),
    )
    .orderBy('answer.received_at')
    .orderBy('answer.id')
    .limit(limit)
    .execute();
}

export async function deleteKeptAnswers(tx: Transaction, account: string, ids: readonly number[]): Promise<void> {
  await tx.deleteFrom('kept_answers').where('account', '=', account).where('id', 'in', ids).execute();
}
