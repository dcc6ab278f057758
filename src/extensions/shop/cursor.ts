import type { OrderSyncEvent } from './event.ts';

/** This many digits of an event's hash distinguish the event from events of other databases. */
const CURSOR_DIGITS = 16;
const BEFORE_HASH = 'evt_'.length;

/** An event as received. Its cursor is a number, which another database would accept too. */
export interface FeedEvent {
  cursor: number | string;
  readonly id: string;
}

/** Replaces the number in `cursor` with a cursor that only the database of the event accepts. */
export function withCursor(event: FeedEvent): OrderSyncEvent {
  event.cursor = `${event.cursor}.${event.id.slice(BEFORE_HASH, BEFORE_HASH + CURSOR_DIGITS)}`;
  return event as OrderSyncEvent;
}
