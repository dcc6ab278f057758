/** Why an event happened, and who decided it. Texts are for people. */
type Why = Readonly<{ reason: string | null; actor: string | null }>;

interface Change extends Why {
  readonly field: string;
  /** Values are text as received, with every digit. */
  readonly oldValue: string | null;
  readonly newValue: string | null;
  readonly exchangeTime: string | null;
  readonly source: string;
}

export type OrderChange = Change & Readonly<{ externalOrderId: string }>;

export type LinkChange = Change & Readonly<{ linkId: string }>;

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

export type AccountChange = Why & Readonly<{ hold: string | null }>;

/** The data of an event, by the first word of its type. */
interface DataOf {
  order: OrderChange;
  finding: FindingChange;
  link: LinkChange;
  photos: PhotosReceived;
  account: AccountChange;
}

export type EventType =
  | `order.${'state_changed' | 'status_changed' | 'field_changed' | 'needs_attention'}`
  | `finding.${'opened' | 'resolved' | 'acknowledged'}`
  | 'link.status_changed'
  | 'photos.received'
  | `account.${'out_of_reach' | 'back' | 'key_refused' | 'paused' | 'resumed' | 'restored'}`
  | `account.${'stopped' | 'unreadable' | 'readable'}`;

interface EventOf<Type extends EventType> {
  readonly version: 1;
  /** The event has the same id whenever it is read or delivered, so the shop can recognize an event that it handled. */
  readonly id: string;
  /** Store the cursor in the transaction that handles the event. Another database of order-sync refuses the cursor. */
  readonly cursor: string;
  readonly type: Type;
  readonly account: string;
  /** UTC, ISO 8601. */
  readonly timestamp: string;
  readonly data: Type extends `${infer Of extends keyof DataOf}.${string}` ? DataOf[Of] : never;
}

/** An event of one of the types. Later versions may have more types: ignore a type that you do not know. */
export type EventOfType<Type extends EventType> = { [One in Type]: EventOf<One> }[Type];
export type OrderSyncEvent = EventOfType<EventType>;
