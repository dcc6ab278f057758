import type { OrderSyncEvent } from './event.ts';

/** This many digits of the hash tell an event from an event of another database. */
const CURSOR_DIGITS = 16;
const BEFORE_HASH = 'evt_'.length;

/** An event as received. Its cursor is a number, which another database would accept too. */
export interface FeedEvent {
  cursor: number | string;
  readonly id: string;
}

/** Writes the cursor of the feed into an event in place of its number. */
export function withCursor(event: FeedEvent): OrderSyncEvent {
  event.cursor = `${event.cursor}.${event.id.slice(BEFORE_HASH, BEFORE_HASH + CURSOR_DIGITS)}`;
  return event as OrderSyncEvent;
}
