import { sql, type Kysely } from 'kysely';
import { webhookDeliveries } from '../webhook-deliveries.ts';

const WORDS = { integer: 'integer', text: 'text', end: 'without rowid' };

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of webhookDeliveries(WORDS)) await sql.raw(statement).execute(db);
}
