import { sql, type Kysely } from 'kysely';
import { idempotentRequests } from '../idempotent-requests.ts';

const WORDS = { integer: 'bigint', text: 'text collate "C"', end: '' };

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of idempotentRequests(WORDS)) await sql.raw(statement).execute(db);
}
