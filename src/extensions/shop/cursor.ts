import type { OrderSyncEvent } from './event.ts';

/** As many digits of its hash tell an event from that of another database. */
const CURSOR_DIGITS = 16;
const BEFORE_HASH = 'evt_'.length;

/** An event as it comes: its cursor is a number, which another database would take as well. */
export interface FeedEvent {
  cursor: number | string;
  readonly id: string;
}

/** Writes the cursor of the feed into an event in place of its number. */
export function withCursor(event: FeedEvent): OrderSyncEvent {
  event.cursor = `${event.cursor}.${event.id.slice(BEFORE_HASH, BEFORE_HASH + CURSOR_DIGITS)}`;
  return event as OrderSyncEvent;
}
