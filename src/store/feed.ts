import type { EventRow } from '../domain/events/feed.ts';
import type { Database } from './port.ts';
import { queries, statement } from './statement.ts';

/** The events of an account after a cursor, or those of one of its orders or links. */
export interface FeedQuery {
  readonly account: string;
  /** The id of the last event that was read; 0 for the beginning. */
  readonly afterId: number;
  readonly limit: number;
}

/** The columns of an event that the feed shows. */
export const FEED_COLUMNS = [
  'id',
  'account',
  'type',
  'subject',
  'field',
  'old_value',
  'new_value',
  'observed_at',
  'exchange_time',
  'source',
  'reason',
  'actor',
  'hash',
] as const satisfies readonly (keyof EventRow)[];

const pageStatement = statement((v: FeedQuery) =>
  queries
    .selectFrom('events')
    .select(FEED_COLUMNS)
    .where('account', '=', v.account)
    .where('id', '>', v.afterId)
    // By the account too: an index that begins with it is taken.
    .orderBy('account')
    .orderBy('id')
    .limit(v.limit),
);

/** Reads the next events of an account in the order in which they were committed. */
export async function readFeed(db: Database, query: FeedQuery): Promise<readonly EventRow[]> {
  return (await pageStatement(db, query)).rows;
}
