import type { EventRow } from '../../domain/events/feed.ts';
import { subjectKindOf } from '../../domain/events/delivery.ts';
import type { Holding, Store } from '../../store/port.ts';
import type { ParkedRow } from '../../store/webhooks/parked.ts';

/** An order, link or account that is parked, by its row. */
export interface Parked {
  row: ParkedRow;
  /** How many events the endpoint had taken by then in this process. */
  readonly takenBefore: number;
  /** Its last event that the endpoint has taken since, whether that could be written or not. */
  takenTo: number;
}

/** The events of one account on their way to one endpoint. */
export interface AccountDelivery {
  readonly account: string;
  readonly holding: Holding;
  /** As the owner of the account writes it. */
  readonly store: Store;
  /** All events up to this one are taken, or parked, or of no type that is wanted. Undefined until it is read. */
  cursor: number | undefined;
  /** The cursor as the database has it. */
  written: number | undefined;
  /** There may be events after the cursor. */
  isBehind: boolean;
  isQueued: boolean;
  isRunning: boolean;
  /** Events after the cursor that were taken: one before them was not. */
  readonly taken: Set<number>;
  readonly parked: Map<string, Parked>;
}

/** A name for what a row is about, within its account. */
export function subjectKey({ type, subject }: Pick<EventRow, 'type' | 'subject'>): string {
  return `${subjectKindOf(type)} ${subject}`;
}

/** A name for an event, among those of all accounts. */
export function eventKey({ account, id }: Pick<EventRow, 'account' | 'id'>): string {
  return `${account} ${id}`;
}

/** A name for what is parked, within its account. */
export function parkedKey({ kind, subject }: Pick<ParkedRow, 'kind' | 'subject'>): string {
  return `${kind} ${subject}`;
}

/** Tells whether something that is parked is to be sent again by now. */
export function hasDue({ parked }: AccountDelivery, now: string): boolean {
  for (const { row } of parked.values()) if (row.next_try_at <= now) return true;
  return false;
}
