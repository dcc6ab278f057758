import type { EventRow } from '../../domain/events/feed.ts';
import { FEED_COLUMNS } from '../feed.ts';
import type { Database } from '../port.ts';
import { together } from '../statement.ts';

/** Among so many of the newest events the newest record is looked for. */
const MOST_LOOKED_AT = 100;

/** Reads the newest events of the account, or of all where none is named; the newest first. */
export async function newestEvents(
  db: Database,
  account: string | undefined,
  limit: number,
): Promise<readonly EventRow[]> {
  if (account !== undefined) return await newestOf(db, account, limit);
  // The newest events of all are among those of the accounts whose newest came last.
  const heads = db.selectFrom('event_heads').select('account').orderBy('id', 'desc').limit(limit);
  const accounts = await heads.execute();
  const pages = await together(...accounts.map(async (head) => await newestOf(db, head.account, limit)));
  return pages
    .flat()
    .toSorted((one, other) => other.id - one.id)
    .slice(0, limit);
}

async function newestOf(db: Database, account: string, limit: number): Promise<readonly EventRow[]> {
  return await db
    .selectFrom('events')
    .select(FEED_COLUMNS)
    .where('account', '=', account)
    // By the account too: an index that begins with it is taken.
    .orderBy('account', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** The times of the newest order record of an account: when the exchange says that it sent it (§2.7), and when it came. */
export interface NewestRecord {
  readonly serverDate: string | null;
  readonly receivedAt: string;
}

/** Reads the newest of the orders that changed last; undefined where none of them has a record. */
export async function newestRecord(db: Database, account: string): Promise<NewestRecord | undefined> {
  const events = await newestOf(db, account, MOST_LOOKED_AT);
  const orders = [...new Set(events.filter(({ type }) => type === 'order').map(({ subject }) => subject))];
  if (orders.length === 0) return undefined;
  const row = await db
    .selectFrom('order_records')
    .select(['body', 'received_at as receivedAt'])
    .where('account', '=', account)
    .where('external_order_id', 'in', orders)
    .orderBy('received_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const serverDate = /"serverDate"\s*:\s*"([^"\\]{1,40})"/.exec(row.body)?.[1] ?? null;
  return { serverDate, receivedAt: row.receivedAt };
}
