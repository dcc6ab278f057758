import { sql, type Kysely } from 'kysely';
import { webhookDeliveries } from '../webhook-deliveries.ts';

const WORDS = { integer: 'bigint', text: 'text collate "C"', end: '' };

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of webhookDeliveries(WORDS)) await sql.raw(statement).execute(db);
}
