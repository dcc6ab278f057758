import { withoutNul } from '../domain/text.ts';
import type { Answer } from '../domain/record.ts';
import type { Transaction } from './port.ts';
import type { KeptAnswersTable } from './schema.ts';
import { queries, statement } from './statement.ts';

/** An answer that is kept, what was asked, and when it came. */
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

/** Stores an answer that could not be read. */
export async function keepAnswer(tx: Transaction, answer: KeptAnswer): Promise<void> {
  await keepStatement(tx, { ...answer, body: withoutNul(answer.body) });
}
