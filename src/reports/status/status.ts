import type { Overview } from './overview.ts';

/** A kind of pass of an account. Times are UTC, ISO 8601. */
export interface PassStatus {
  readonly pass: string;
  /** It was woken then, and none has ended well since. */
  readonly wantedSince: string | null;
  readonly runningSince: string | null;
  /** The last one that ended well. */
  readonly goodAt: string | null;
}

/** What a daemon does in an account, as it is in its memory. */
export interface LiveStatus {
  readonly account: string;
  /** False where it rests: nothing is due in it. */
  readonly isDriven: boolean;
  readonly inFlight: number;
  /** When the exchange last answered anything but a 5xx; null where it has not since the start. */
  readonly answeredAt: string | null;
  /** The circuit breaker of each lane: `closed` where requests go. */
  readonly breakers: Readonly<Record<'create' | 'lookup', 'closed' | 'open' | 'half-open'>> | null;
  readonly passes: readonly PassStatus[];
}

/** The requests that ended in the last so many milliseconds, and how many the limits of the rate allow in that time. */
export interface RateUse {
  readonly spent: number;
  readonly requests: number;
  readonly intervalMs: number;
}

/** So many times; half of them, and 99 of 100, are not longer than so many milliseconds. */
export interface Times {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Followed orders whose look-up was due before the last tick, and when the first of them was due. */
export interface OverdueStatus {
  readonly orders: number;
  readonly since: string;
}

/** A daemon that answers. */
export interface DaemonStatus {
  readonly pid: number;
  readonly version: string;
  readonly startedAt: string;
  /** How many accounts it owns, and how many it works at. */
  readonly owned: number;
  readonly driven: number;
  readonly rate: RateUse;
  /** Why it cannot write the database, so that it sends nothing; null where it can. */
  readonly unwritten: string | null;
  /** Why the ops endpoint does not listen; null if it does, or is off. */
  readonly opsFailure: string | null;
  /** How late changes of orders were seen, of the newest of each account; counted since the start. */
  readonly seenLate: Times;
  /** Null where no order waits, as of the last tick of `reconcile.cron`. */
  readonly overdue: OverdueStatus | null;
  /** What it does in the accounts that it has driven; a few of them where they are many. */
  readonly accounts: readonly LiveStatus[];
}

/** How order-sync does: what the database has, and what the daemon says. */
export interface Status {
  readonly asOf: string;
  readonly database: string;
  /** Null where none answers: then all is from the database. */
  readonly daemon: DaemonStatus | null;
  /** The process that drives an account although no daemon answers; null if there is none. */
  readonly driver: string | null;
  /** Without a daemon: by what the database shows that it is an older copy, so that none begins; null where nothing shows it. */
  readonly olderState: string | null;
  /** How far the clock of the database is ahead of the machine's, in ms; null for a database in a file. */
  readonly databaseAheadMs: number | null;
  readonly overview: Overview;
}
