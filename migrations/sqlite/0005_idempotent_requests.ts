import { sql, type Kysely } from 'kysely';
import { idempotentRequests } from '../idempotent-requests.ts';

const WORDS = { integer: 'integer', text: 'text', end: 'without rowid' };

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of idempotentRequests(WORDS)) await sql.raw(statement).execute(db);
}
