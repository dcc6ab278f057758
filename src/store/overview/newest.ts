import type { EventRow } from '../../domain/events/feed.ts';
import { FEED_COLUMNS } from '../feed.ts';
import type { Database } from '../port.ts';
import { together } from '../statement.ts';

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
