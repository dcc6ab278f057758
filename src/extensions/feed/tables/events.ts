import { BEGINNING, ROW_TYPES, type EventRow, type Place } from '../event.ts';
import type { Database } from '../../../store/port.ts';
import { queries, statement, together } from '../../../store/statement.ts';

export interface FeedQuery {
  readonly account: string;
  /** The id of the last event that was read; 0 for the beginning. */
  readonly afterId: number;
  readonly limit: number;
}

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

export async function readFeed(db: Database, query: FeedQuery): Promise<readonly EventRow[]> {
  return (await pageStatement(db, query)).rows;
}

type OrderFeedQuery = FeedQuery & { readonly externalOrderId: string };

type OfType = OrderFeedQuery & { readonly type: EventRow['type'] };

/** Of one type, so that the index of subjects has the first of them in their order. */
const ofType = (v: Omit<OfType, 'afterId'>, direction: 'asc' | 'desc') =>
  queries
    .selectFrom('events')
    .select(FEED_COLUMNS)
    .where('account', '=', v.account)
    .where('type', '=', v.type)
    .where('subject', '=', v.externalOrderId)
    .orderBy('account', direction)
    .orderBy('type', direction)
    .orderBy('subject', direction)
    .orderBy('id', direction)
    .limit(v.limit);
const ofTypeStatement = statement((v: OfType) => ofType(v, 'asc').where('id', '>', v.afterId));
const newestOfTypeStatement = statement((v: Omit<OfType, 'afterId'>) => ofType(v, 'desc'));

/** Reads the next events of one order, and of its findings, in the order in which they were committed. */
export async function readOrderFeed(db: Database, query: OrderFeedQuery): Promise<readonly EventRow[]> {
  const read = await together(...ROW_TYPES.order.map((type) => ofTypeStatement(db, { ...query, type })));
  return inOrder(read).slice(0, query.limit);
}

/** Reads the newest events of one order and of its findings, the oldest of them first. */
export async function newestOfOrder(db: Database, query: Omit<OrderFeedQuery, 'afterId'>) {
  const read = await together(...ROW_TYPES.order.map((type) => newestOfTypeStatement(db, { ...query, type })));
  return inOrder(read).slice(-query.limit);
}

function inOrder(read: readonly { readonly rows: readonly EventRow[] }[]): readonly EventRow[] {
  return read.flatMap(({ rows }) => rows).toSorted((one, other) => one.id - other.id);
}

const headStatement = statement((v: { account: string }) =>
  queries.selectFrom('event_heads').select(['id', 'hash']).where('account', '=', v.account),
);

export async function feedHead(db: Database, account: string): Promise<Place> {
  return (await headStatement(db, { account })).rows[0] ?? BEGINNING;
}

export type FeedHead = Pick<EventRow, 'account' | 'id' | 'hash' | 'observed_at'>;

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

const MOST_LOOKED_AT = 100;

export async function newestEvents(db: Database, account: string | undefined, limit: number) {
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

interface NewestRecord {
  /** When the exchange says that it sent the record (§2.7). */
  readonly serverDate: string | null;
  readonly receivedAt: string;
}

/** Reads the newest of the orders that changed last; undefined if none of them has a record. */
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
