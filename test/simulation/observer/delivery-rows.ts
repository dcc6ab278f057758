import { subjectKindOf, feedEventOf, type EventRow } from '../../../src/extensions/feed/event.ts';
import { isPoisoned, type PlannedReceiver } from '../plan/receivers.ts';

/** From when on nothing goes wrong with a receiver any more, but for what it never takes. */
export function wellAt({ dead, refusesAll, wellAt: isWellAt, addedAt }: PlannedReceiver): number {
  return Math.max(dead?.to ?? 0, refusesAll?.to ?? 0, isWellAt, addedAt);
}

/** An event that a receiver has refused, and that is retried. */
export interface RetryingRow {
  readonly account: string;
  readonly kind: string;
  readonly subject: string;
  readonly event_id: number;
  readonly next_attempt_at: string;
}

/** Tells whether an event is retried, or waits behind one that is. */
export function isBehind({ account, kind, subject, event_id: from }: RetryingRow, row: EventRow): boolean {
  return `${account} ${kind} ${subject}` === subjectOf(row) && row.id >= from;
}

/** At an event that it always fails at, while it is sent no other, it cannot be told from one that takes none. */
export function isBehindPoison({ poison }: PlannedReceiver, row: EventRow, waiting: readonly EventRow[]): boolean {
  if (poison === null || (typeof poison.answer === 'number' && poison.answer < 500)) return false;
  const first = waiting.find((one) => subjectOf(one) === subjectOf(row));
  return first !== undefined && isPoisoned(feedEventOf(first), poison.oneOf);
}

/** A name for what events are in order about. */
export function subjectOf({ account, type, subject }: EventRow): string {
  return `${account} ${subjectKindOf(type)} ${subject}`;
}

/** Names an event in a broken promise. */
export function describe(row: EventRow | undefined): string {
  return row === undefined ? 'nothing' : `${row.id} ${row.type} ${JSON.stringify(row.subject)} ${row.field}`;
}
