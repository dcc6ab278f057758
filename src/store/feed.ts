import { ROW_TYPES } from '../domain/events/delivery.ts';
import type { EventRow } from '../domain/events/feed.ts';
import type { Database } from './port.ts';
import { queries, statement, together } from './statement.ts';

/** The events of an account after a cursor. */
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

/** The events of one order after a cursor. */
interface OrderFeedQuery extends FeedQuery {
  readonly externalOrderId: string;
}

type OfType = OrderFeedQuery & { readonly type: EventRow['type'] };

/** Of one type, so that the index of subjects gives the first of them in their order. */
const ofTypeStatement = statement((v: OfType) =>
  queries
    .selectFrom('events')
    .select(FEED_COLUMNS)
    .where('account', '=', v.account)
    .where('type', '=', v.type)
    .where('subject', '=', v.externalOrderId)
    .where('id', '>', v.afterId)
    .orderBy('account')
    .orderBy('type')
    .orderBy('subject')
    .orderBy('id')
    .limit(v.limit),
);

const newestOfTypeStatement = statement((v: Omit<OfType, 'afterId'>) =>
  queries
    .selectFrom('events')
    .select(FEED_COLUMNS)
    .where('account', '=', v.account)
    .where('type', '=', v.type)
    .where('subject', '=', v.externalOrderId)
    .orderBy('account', 'desc')
    .orderBy('type', 'desc')
    .orderBy('subject', 'desc')
    .orderBy('id', 'desc')
    .limit(v.limit),
);

/** Reads the next events of one order, and of its findings, in the order in which they were committed. */
export async function readOrderFeed(db: Database, query: OrderFeedQuery): Promise<readonly EventRow[]> {
  const read = await together(...ROW_TYPES.order.map((type) => ofTypeStatement(db, { ...query, type })));
  return inOrder(read).slice(0, query.limit);
}

/** Reads the newest events of one order and of its findings, the oldest of them first. */
export async function newestOfOrder(
  db: Database,
  query: Omit<OrderFeedQuery, 'afterId'>,
): Promise<readonly EventRow[]> {
  const read = await together(...ROW_TYPES.order.map((type) => newestOfTypeStatement(db, { ...query, type })));
  return inOrder(read).slice(-query.limit);
}

function inOrder(read: readonly { readonly rows: readonly EventRow[] }[]): readonly EventRow[] {
  return read.flatMap(({ rows }) => rows).toSorted((one, other) => one.id - other.id);
}

const hashStatement = statement((v: { account: string; id: number }) =>
  queries.selectFrom('events').select('hash').where('account', '=', v.account).where('id', '=', v.id),
);

/** Reads the hash of an event; undefined where the account has none of this id. */
export async function eventHash(db: Database, account: string, id: number): Promise<string | undefined> {
  return (await hashStatement(db, { account, id })).rows[0]?.hash;
}

const headStatement = statement((v: { account: string }) =>
  queries.selectFrom('event_heads').select(['id', 'hash']).where('account', '=', v.account),
);

/** Reads where the feed of an account ends: 0 and no hash where it has no event. */
export async function feedHead(db: Database, account: string): Promise<{ readonly id: number; readonly hash: string }> {
  return (await headStatement(db, { account })).rows[0] ?? { id: 0, hash: '' };
}

/** The newest event of an account. */
export interface FeedHead {
  readonly account: string;
  readonly id: number;
  readonly hash: string;
  readonly observed_at: string;
}

/** Reads the newest event of each account that has one, or of the one that is named, by the names of the accounts. */
export async function feedHeads(db: Database, account: string | undefined): Promise<readonly FeedHead[]> {
  let heads = db
    .selectFrom('event_heads')
    .innerJoin('events', (join) =>
      join.onRef('events.account', '=', 'event_heads.account').onRef('events.id', '=', 'event_heads.id'),
    )
    .select(['event_heads.account', 'event_heads.id', 'event_heads.hash', 'events.observed_at']);
  if (account !== undefined) heads = heads.where('event_heads.account', '=', account);
  return await heads.orderBy('event_heads.account').execute();
}
