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
  /** False while another process may drive it: its lease could not be renewed. */
  readonly isTrusted?: boolean;
  /** How many orders wait for a look-up that was due. */
  readonly overdue?: number;
  /** A few of the orders that the database does not let the daemon write. */
  readonly keptBack?: readonly KeptBack[];
}

/** An order that the database, such as a trigger of the merchant's, does not let the daemon write. */
export interface KeptBack {
  readonly externalOrderId: string;
  readonly since: string;
  readonly cause: string;
}

/** What a process knows of itself beside its accounts. */
export interface ProcessFacts {
  readonly isStopping: boolean;
  /** Why the database cannot be read; null where it can. */
  readonly databaseFailure: string | null;
  /** Migrations that the database has and this version does not know, or the reverse. */
  readonly otherMigrations: readonly string[];
  /** False if it owns no account, and no other process may own them. */
  readonly isOwner: boolean;
  /** Of the disk with the database; null where it cannot be told. */
  readonly freeBytes: number | null;
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

/** The state of an account, or of all: everything from which problems are listed. */
export interface Reading {
  readonly asOf: string;
  /** Null where none answers: then all is from the database. */
  readonly daemon: Pick<DaemonStatus, 'unwritten' | 'opsFailure' | 'accounts'> | null;
  /** The process that drives an account although no daemon answers; null if there is none. */
  readonly driver: string | null;
  /** Without a daemon: by what the database shows that it is an older copy, so that none begins; null where nothing shows it. */
  readonly olderState: string | null;
  /** How far the clock of the database is ahead of the machine's, in ms; null for a database in a file. */
  readonly databaseAheadMs: number | null;
  /** Null if the database cannot be read. */
  readonly overview: Overview | null;
  readonly process?: ProcessFacts;
}

/** How order-sync does: what the database has, and what the daemon says. */
export interface Status extends Reading {
  readonly database: string;
  readonly daemon: DaemonStatus | null;
  readonly overview: Overview;
}
