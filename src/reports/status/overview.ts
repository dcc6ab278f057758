import type { HoldView } from '../../domain/accounts/holds.ts';
import type { AccountStop } from '../../domain/accounts/stops.ts';
import type { FeedEvent } from '../../domain/events/feed.ts';
import type { Severity } from '../../domain/findings/classes.ts';
import type { OrderState } from '../../domain/orders/states.ts';

/** What an account has. */
export interface AccountCounts {
  readonly account: string;
  /** Orders by state; a state that is missing has none. */
  readonly orders: Readonly<Partial<Record<OrderState, number>>>;
  /** Open findings by class. */
  readonly findings: Readonly<Record<string, number>>;
}

/** An order, why it is in its state, and since when. */
export interface NamedOrder {
  readonly account: string;
  readonly externalOrderId: string;
  readonly state: OrderState;
  readonly reason: string | null;
  readonly since: string;
}

/** An account that is held. */
export interface AccountHold extends HoldView {
  readonly account: string;
}

/** Open findings of a class. */
export interface OpenFindings {
  readonly class: string;
  /** Of a class of another version: a warning. */
  readonly severity: Severity;
  readonly open: number;
}

/** An account of which the exchange is out of reach, as its owner last recorded. */
export interface LostReach {
  readonly account: string;
  readonly since: string;
  readonly reason: string | null;
}

/** How a receiver of webhooks does, with the events of all accounts. */
export interface ReceiverState {
  readonly name: string;
  /** When it took the last event. */
  readonly takenAt: string | null;
  /** It has taken no event since then; null while it takes them. */
  readonly failingSince: string | null;
  /** While it takes none: when one tries it again. */
  readonly nextTryAt: string | null;
  readonly cause: string | null;
  /** When the oldest event was recorded that it has not been offered, or has not taken; null where there is none. */
  readonly oldestWaiting: string | null;
  /** Orders, links and accounts with an event that it has refused and that is retried. */
  readonly parked: number;
  /** Events that it has refused to the end, and that were not delivered since. */
  readonly deadLetters: number;
}

/** How the orders of an account, or of all, are: read in a moment, however many there are. */
export interface Overview {
  /** Null where it is of all accounts. */
  readonly account: string | null;
  readonly asOf: string;
  readonly orders: Readonly<Record<OrderState, number>>;
  /** The states of which there are more orders than were counted. */
  readonly more: readonly OrderState[];
  /** The order whose time to be sent came first. */
  readonly oldestPending: NamedOrder | null;
  /** The order whose outcome is unknown for the longest time: since it was sent. */
  readonly oldestUnknown: NamedOrder | null;
  /** A few of the orders that wait for a person, the held ones first. */
  readonly attention: readonly NamedOrder[];
  /** The worst first. */
  readonly findings: readonly OpenFindings[];
  readonly holds: readonly AccountHold[];
  /** Accounts of which the exchange is out of reach, as was last recorded. */
  readonly outOfReach: readonly LostReach[];
  /** Accounts whose order records cannot be read, as was last recorded. */
  readonly unreadable: readonly LostReach[];
  /** Accounts that no worker can drive, as was last recorded. */
  readonly stopped: readonly AccountStop[];
  /** The receivers of the settings. */
  readonly receivers: readonly ReceiverState[];
  readonly lastEventAt: string | null;
  /** The newest events, the newest first. */
  readonly newest: readonly FeedEvent[];
  /** What each account has, in the order of their names. */
  readonly accounts: readonly AccountCounts[];
}
