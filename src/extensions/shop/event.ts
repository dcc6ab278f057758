/** Why an event happened, and who decided it. Texts are for people. */
interface Why {
  readonly reason: string | null;
  readonly actor: string | null;
}

interface Change extends Why {
  readonly field: string;
  /** Values are text as received, with every digit. */
  readonly oldValue: string | null;
  readonly newValue: string | null;
  readonly exchangeTime: string | null;
  readonly source: string;
}

export interface OrderChange extends Change {
  readonly externalOrderId: string;
}

export interface LinkChange extends Change {
  readonly linkId: string;
}

export interface FindingChange extends Why {
  readonly externalOrderId: string;
  readonly class: string;
  readonly severity: 'info' | 'warning' | 'error' | null;
  readonly expected: string | null;
  readonly actual: string | null;
}

export interface PhotosReceived {
  readonly linkId: string;
  readonly level: string;
  readonly requestId: string | null;
  readonly delivery: string | null;
}

export interface AccountChange extends Why {
  readonly hold: string | null;
}

interface DataOfType {
  'order.state_changed': OrderChange;
  'order.status_changed': OrderChange;
  'order.field_changed': OrderChange;
  'order.needs_attention': OrderChange;
  'finding.opened': FindingChange;
  'finding.resolved': FindingChange;
  'finding.acknowledged': FindingChange;
  'link.status_changed': LinkChange;
  'photos.received': PhotosReceived;
  'account.out_of_reach': AccountChange;
  'account.back': AccountChange;
  'account.key_refused': AccountChange;
  'account.paused': AccountChange;
  'account.resumed': AccountChange;
  'account.restored': AccountChange;
  'account.stopped': AccountChange;
  'account.unreadable': AccountChange;
  'account.readable': AccountChange;
}

export type EventType = keyof DataOfType;

interface EventOf<Type extends EventType> {
  readonly version: 1;
  /** The same on every reading and delivery: an event of this id was handled before. */
  readonly id: string;
  /** Store it with what you did about the event, and read on after it. Another database refuses it. */
  readonly cursor: string;
  readonly type: Type;
  readonly account: string;
  /** UTC, ISO 8601. */
  readonly timestamp: string;
  readonly data: DataOfType[Type];
}

/** An event of one of the types. Later versions may have more types: ignore those that you do not know. */
export type EventOfType<Type extends EventType> = { [One in Type]: EventOf<One> }[Type];
export type OrderSyncEvent = EventOfType<EventType>;

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
