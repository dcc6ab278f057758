import type { HoldView } from '../../domain/accounts/holds.ts';
import type { AccountStop } from '../../domain/accounts/stops.ts';
import type { FeedEvent } from '../../domain/events/feed.ts';
import type { OrderState } from '../../domain/orders/states.ts';
import type { LostReach, ReceiverState } from '../status/overview.ts';
import type { OverdueStatus, RateUse, Times } from '../status/status.ts';
import type { SummaryPart } from '../summary.ts';

/** What a dashboard shows, read at one moment. Times are UTC, ISO 8601; a list that is cut says so. */
export interface DashboardFacts {
  readonly at: string;
  /** Undefined: all accounts. */
  readonly account: string | undefined;
  /** The accounts that may be chosen, the first ones of many. */
  readonly accounts: readonly string[];
  readonly orders: readonly StateCount[];
  /** The orders that have waited the longest to be sent, or whose outcome has been unknown the longest. */
  readonly oldest: readonly OldestIn[];
  /** Orders that wait for a person, the first ones of many. */
  readonly undecided: readonly UndecidedOrder[];
  readonly findings: readonly ClassCount[];
  /** The gravest open findings, the first ones of many. */
  readonly newestFindings: readonly NamedFinding[];
  readonly holds: readonly AccountHold[];
  /** Accounts whose order records cannot be read. */
  readonly unreadable: readonly LostReach[];
  /** Accounts that no worker can drive. */
  readonly stopped: readonly AccountStop[];
  /** Null where this process drives none of the accounts, so that nobody here knows. */
  readonly exchange: ExchangeFacts | null;
  readonly database: DatabaseFacts;
  readonly receivers: readonly ReceiverState[];
  /** Null where so many accounts are shown that it is not added up. */
  readonly activity: ActivityFacts | null;
  readonly events: readonly FeedEvent[];
}

/** So many orders of a state; `isMore`: at least so many. */
export interface StateCount {
  readonly state: OrderState;
  readonly orders: number;
  readonly isMore: boolean;
}

/** Since when the oldest order of a state has had it. */
export interface OldestIn {
  readonly account: string;
  readonly state: OrderState;
  readonly since: string;
}

/** An order that a person has to decide about. */
export interface UndecidedOrder {
  readonly account: string;
  readonly externalOrderId: string;
  readonly state: OrderState;
  readonly reason: string | null;
  readonly since: string;
}

/** Open findings of a class. */
export interface ClassCount {
  readonly account: string | undefined;
  readonly class: string;
  readonly findings: number;
  readonly isMore: boolean;
}

/** An open finding. */
export interface NamedFinding {
  readonly account: string;
  readonly class: string;
  readonly severity: string;
  readonly externalOrderId: string | null;
  readonly expected: string | null;
  readonly actual: string | null;
  readonly firstSeenAt: string;
}

/** A hold, and the account that it is of. */
export interface AccountHold extends HoldView {
  readonly account: string;
}

/** What the process that answers knows of its requests to the exchange. */
export interface ExchangeFacts {
  /** Accounts whose exchange is out of reach, since when, and why. */
  readonly outOfReach: readonly { readonly account: string; readonly since: string; readonly reason: string | null }[];
  /** Passes that were woken, and of which none has ended well since. */
  readonly waiting: readonly { readonly account: string; readonly pass: string; readonly since: string }[];
  readonly lastAnswerAt: string | null;
  readonly lastPassAt: string | null;
  readonly inFlight: number;
  readonly rate: RateUse;
  readonly operations: readonly OperationFacts[];
  /** How late changes of orders were seen. */
  readonly detection: Times | null;
  readonly overdue: OverdueStatus | null;
}

/** Requests of one operation since the process began. */
export interface OperationFacts extends Times {
  readonly operation: string;
  readonly failed: number;
}

/** The database, for people. */
export interface DatabaseFacts {
  /** Without a password. */
  readonly address: string;
  /** Why nothing can be written; null where it can. */
  readonly failure: string | null;
  readonly bytes: number | null;
  /** The time that reading for this page took. */
  readonly readMs: number;
}

/** What came and went, added up over a bounded number of rows. */
export interface ActivityFacts {
  readonly hours: Hours;
  readonly money: readonly MoneyPeriod[];
  readonly ageing: Ageing;
}

/** Orders by the hour of today, UTC: `inserted[13]` came between 13:00 and 14:00. */
export interface Hours {
  readonly day: string;
  readonly inserted: readonly number[];
  readonly accepted: readonly number[];
  readonly final: readonly number[];
  /** Before this time not everything was counted, as there is too much; null where all of the day is. */
  readonly since: string | null;
}

/** The orders that were inserted since a time, by what became of them. */
export interface MoneyPeriod {
  readonly title: string;
  /** `currency` is that of the amounts; null where nobody knows which of the pair it is. */
  readonly parts: readonly (SummaryPart & { readonly currency: string | null })[];
  /** Only the newest orders were added up, those since this time. */
  readonly cutAt: string | null;
}

/** The orders that are followed, by state and by how long they have not changed. */
export interface Ageing {
  readonly rows: readonly { readonly state: string; readonly orders: readonly number[] }[];
  /** Not all orders were looked at, as there are too many. */
  readonly isCut: boolean;
}

/** The ends of the classes of ages, in milliseconds; the last class has none. */
export const AGE_LIMITS_MS = [60_000, 600_000, 3_600_000, 86_400_000, 7 * 86_400_000] as const;
