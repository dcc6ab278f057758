import type { FeedEvent } from './feed.ts';

/** The last event that a reader of an account has read; id 0 and no hash before the first. */
export interface Place {
  readonly id: number;
  /** The hash of the event; empty where it is not known. */
  readonly hash: string;
}

/** The place before all events. */
export const BEGINNING: Place = { id: 0, hash: '' };

const FORM = /^(\d{1,15})(?:\.([0-9a-f]{8,64}))?$/;
/** As many digits of a hash tell an event from that of another database. */
const DIGITS = 16;

/**
 * Reads a cursor: the id of an event, and behind a dot the beginning of its hash where it is to be checked. Gives undefined
 * where it is none.
 */
export function readCursor(text: string): Place | undefined {
  const [, id, hash = ''] = FORM.exec(text) ?? [];
  return id === undefined ? undefined : { id: Number(id), hash };
}

/** Writes a cursor, so that it is refused in another database. */
export function writeCursor({ id, hash }: Place): string {
  return hash === '' ? String(id) : `${id}.${hash.slice(0, DIGITS)}`;
}

/** The cursor of an event. */
export function cursorOf({ cursor, id }: Pick<FeedEvent, 'cursor' | 'id'>): string {
  return writeCursor({ id: cursor, hash: id.slice('evt_'.length) });
}
