import { readCursor, type Place, feedEventOf, type EventType, type FeedEvent } from './event.ts';
import { quote } from '../../base/text.ts';
import { eventHash } from '../../store/tables/chain.ts';
import { feedHead, readFeed, readOrderFeed } from './tables/events.ts';
import type { Database } from '../../store/port.ts';

const MOST_READ = 10_000;
const READ_AT_A_TIME = 1_000;

export interface FeedFilter {
  readonly account: string;
  readonly types?: readonly EventType[] | undefined;
  readonly externalOrderId?: string | undefined;
}

/** `isEnd` is true if no event came after the page when it was read. */
export type FeedPage = Awaited<ReturnType<typeof readPage>>;

type CursorRefusal = Readonly<{ reason: 'cursor-unreadable' | 'cursor-ahead' | 'cursor-of-another'; message: string }>;

/** Returns the place of a cursor or of `head`. Refuses a cursor of another database, whose reader would miss events. */
export async function placeOf(db: Database, account: string, after: string): Promise<Place | CursorRefusal> {
  const head = await feedHead(db, account);
  if (after === 'head') return head;
  const place = readCursor(after);
  const advice = `read from the beginning (0) or new events only (head), and compare them with yours`;
  if (place === undefined) {
    const message = `${quote(after)} is not a cursor; use one that the feed returned, 0 or head`;
    return { reason: 'cursor-unreadable', message };
  }
  if (place.id > head.id) {
    const message = `the cursor ${place.id} is ahead of the feed, which ends at ${head.id}: it comes from another database, or from a later state of this database; ${advice}`;
    return { reason: 'cursor-ahead', message };
  }
  if (place.hash === '') return place;
  const hash = await eventHash(db, account, place.id);
  if (hash?.startsWith(place.hash) === true) return { id: place.id, hash };
  const message = `the event ${place.id} is a different event here: the cursor comes from another account, database or state; ${advice}`;
  return { reason: 'cursor-of-another', message };
}

/** Returns up to `limit` events that match the filter. Looks at 10,000 events at most, so a page may have no event. */
export async function readPage(db: Database, filter: FeedFilter, after: Place, limit: number) {
  // The head is read before the events, so that an event committed between both reads comes after this head.
  const head = await feedHead(db, filter.account);
  const { account, types, externalOrderId } = filter;
  const isFiltered = types !== undefined && externalOrderId === undefined;
  const atATime = isFiltered ? READ_AT_A_TIME : limit;
  const events: FeedEvent[] = [];
  let next = after;
  for (let read = 0; read < MOST_READ; read += atATime) {
    const query = { account, afterId: next.id, limit: atATime };
    const rows = await (externalOrderId === undefined
      ? readFeed(db, query)
      : readOrderFeed(db, { ...query, externalOrderId }));
    for (const row of rows) {
      const event = feedEventOf(row);
      if (types === undefined || types.includes(event.type)) events.push(event);
      next = { id: row.id, hash: row.hash };
      if (events.length === limit) return { events, next, head, isEnd: false };
    }
    if (rows.length < atATime) return { events, next: next.id < head.id ? head : next, head, isEnd: true };
    if (!isFiltered) break;
  }
  return { events, next, head, isEnd: false };
}
