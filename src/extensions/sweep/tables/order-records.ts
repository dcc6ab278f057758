import { sql } from 'kysely';
import type { Database, Transaction } from '../../../store/port.ts';

type RecordPage = Readonly<{ account: string; fromId: string; limit: number }>;

async function idsIn(db: Database, { account, fromId, limit }: RecordPage, condition = sql`true`): Promise<string[]> {
  const { rows } = await sql<{ external_order_id: string }>`select external_order_id from order_records
    where account = ${account} and external_order_id > ${fromId} and ${condition}
    order by external_order_id limit ${limit}`.execute(db);
  return rows.map((row) => row.external_order_id);
}

export async function uncomparedIds(db: Database, page: RecordPage): Promise<string[]> {
  return await idsIn(db, page, sql`compared_at is null`);
}

/** Marks a page of records as not compared. Returns the id of the last record; undefined if the page is empty. */
export async function forgetCompared(tx: Transaction, page: RecordPage): Promise<string | undefined> {
  const ids = await idsIn(tx, page);
  if (ids.length === 0) return undefined;
  await sql`update order_records set compared_at = null
    where account = ${page.account} and external_order_id in (${sql.join(ids)})`.execute(tx);
  return ids.at(-1);
}
