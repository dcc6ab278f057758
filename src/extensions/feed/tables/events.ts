import { sql } from 'kysely';
import { BEGINNING, ROW_TYPES, type EventRow, type Place } from '../event.ts';
import type { Database } from '../../../store/port.ts';
import { queries, statement, together } from '../../../store/statement.ts';

/** `afterId` is the id of the last event that was read; 0 for the beginning. */
export type FeedQuery = Readonly<{ account: string; afterId: number; limit: number }>;

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

type NewestQuery = Omit<FeedQuery, 'afterId'>;

export const eventsOf = (v: NewestQuery, direction: 'asc' | 'desc') =>
  queries
    .selectFrom('events')
    .select(FEED_COLUMNS)
    .where('account', '=', v.account)
    // The account in `order by` makes the database use an index that begins with the account.
    .orderBy('account', direction)
    .orderBy('id', direction)
    .limit(v.limit);
const pageStatement = statement((v: FeedQuery) => eventsOf(v, 'asc').where('id', '>', v.afterId));
const newestStatement = statement((v: NewestQuery) => eventsOf(v, 'desc'));

export async function readFeed(db: Database, query: FeedQuery): Promise<readonly EventRow[]> {
  return (await pageStatement(db, query)).rows;
}

type OfOrder = Readonly<{ externalOrderId: string }>;
type OfType = OfOrder & Readonly<{ type: EventRow['type'] }>;

const ofType = (v: NewestQuery & OfType, direction: 'asc' | 'desc') =>
  eventsOf(v, direction).where('type', '=', v.type).where('subject', '=', v.externalOrderId);
const ofTypeStatement = statement((v: FeedQuery & OfType) => ofType(v, 'asc').where('id', '>', v.afterId));
const newestOfTypeStatement = statement((v: NewestQuery & OfType) => ofType(v, 'desc'));

export async function readOrderFeed(db: Database, query: FeedQuery & OfOrder): Promise<readonly EventRow[]> {
  const read = await together(...ROW_TYPES.order.map((type) => ofTypeStatement(db, { ...query, type })));
  return inOrder(read).slice(0, query.limit);
}

export async function newestOfOrder(db: Database, query: NewestQuery & OfOrder) {
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

/** Reads the newest event of the named account, or of each account with events, ordered by account. */
export async function feedHeads(db: Database, account: string | undefined): Promise<readonly FeedHead[]> {
  const heads = sql<FeedHead>`select event_heads.account, event_heads.id, event_heads.hash, observed_at from event_heads
    join events on events.account = event_heads.account and events.id = event_heads.id
    where ${account === undefined ? sql`true` : sql`event_heads.account = ${account}`} order by event_heads.account`;
  return (await heads.execute(db)).rows;
}

const MOST_LOOKED_AT = 100;

export async function newestEvents(db: Database, account: string | undefined, limit: number) {
  if (account !== undefined) return (await newestStatement(db, { account, limit })).rows;
  // The `limit` newest events belong to the `limit` accounts whose newest event came last.
  const accounts = await db.selectFrom('event_heads').select('account').orderBy('id', 'desc').limit(limit).execute();
  const read = await together(...accounts.map(({ account: name }) => newestStatement(db, { account: name, limit })));
  return inOrder(read).toReversed().slice(0, limit);
}

/** Reads `serverDate` (§2.7) of the newest record of the orders that changed last; undefined without a record. */
export async function newestRecord(db: Database, account: string) {
  const events = await newestEvents(db, account, MOST_LOOKED_AT);
  const orders = [...new Set(events.filter(({ type }) => type === 'order').map(({ subject }) => subject))];
  if (orders.length === 0) return undefined;
  const { rows } = await sql<{ body: string; receivedAt: string }>`select body, received_at as "receivedAt"
    from order_records where account = ${account} and external_order_id in (${sql.join(orders)})
    order by received_at desc limit 1`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const serverDate = /"serverDate"\s*:\s*"([^"\\]{1,40})"/.exec(row.body)?.[1] ?? null;
  return { serverDate, receivedAt: row.receivedAt };
}
