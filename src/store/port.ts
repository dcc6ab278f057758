import type { CompiledQuery, Kysely, QueryResult } from 'kysely';
import type { Tracking } from '../orders/rules/tracking.ts';
import type { Query } from './dialect.ts';
import type { StoreError } from './errors.ts';
import type { OrderRow } from './orders/order-columns.ts';
import type { EventsTable, Tables } from './schema.ts';

/** SQLite answers at once, a connection to a server later. */
export type Answered<Result> = Result | Promise<Result>;

/** The tables, for queries: outside of a transaction or within one. Queries are compiled in the dialect of the database. */
export interface Database extends Kysely<Tables> {
  /** Runs a compiled statement on the driver itself, without Kysely's ten promises; on SQLite within a transaction alone, which has the driver to itself. */
  readonly run?: <Row>(query: CompiledQuery<Row>) => Answered<QueryResult<Row>>;
  /** In a transaction of a writer: the ends of chains that it moves, events to write, generations that it has read, and what is sent once it is durable. */
  readonly heads?: Map<string, Promise<EventHead>>;
  readonly events?: ChainedEvent[];
  readonly generations?: Map<string, Answered<QueryResult<{ generation: number }>>>;
  readonly intents?: Intent[];
}

/** An order that is sent once its transaction is durable: `row` is what the transaction read, `tracking` what it wrote. */
export interface Intent {
  readonly row: OrderRow;
  readonly tracking: Tracking;
}

export type NewEvent = Omit<EventsTable, 'id' | 'previous_hash' | 'hash'>;

export type ChainedEvent = NewEvent & { previous_hash: string; hash: string };

export interface Counts {
  readonly orders: Record<string, number>;
  readonly findings: Record<string, number>;
}

/** The newest event of a chain; id 0 and no hash before the first. */
export interface EventHead {
  id: number;
  hash: string;
  readonly counts: Counts;
}

/** An open transaction on rows of one account, which no other program of ours writes meanwhile; the merchant's rows are read with their lock. */
export type Transaction = Database;

/** One unit of work inside a transaction: all of it happens or nothing. No network, no waiting for anything else. */
export type Work<Result> = (tx: Transaction) => Promise<Result>;

/** Every write goes through here. Work that is asked for together may share a transaction. */
export interface Writer {
  /** Work that says what it is `about`, by ids, decides on rows of those alone: it may run beside work about others. Rejects with `StoreError`. */
  write<Result>(work: Work<Result>, about?: readonly string[]): Promise<Result>;
  /** Writes the result of a request that was sent, which must not be lost: waits out a full disk or a lock until `signal` aborts. */
  writeUntilDurable<Result>(
    work: Work<Result>,
    signal: AbortSignal,
    onFailure: (error: StoreError) => void,
    about?: readonly string[],
  ): Promise<Result>;
  /** True once all committed intents are on `database.synchronousStandbys` standbys, false if `signal` aborts first. Asked before each request. */
  isReplicated(signal: AbortSignal): true | Promise<boolean>;
  /** Why the last group could not be committed: the database is locked or its disk is full. Undefined once one could. */
  readonly failure: StoreError | undefined;
  /** From now on a locked database is not waited for: the process has no time left. */
  endGracePeriod(): void;
}

/** The database at one moment, on a connection that cannot write. */
export interface Snapshot extends AsyncDisposable {
  /**
   * For queries of few rows. Queries of a snapshot may use the aggregate `exact_sum`: of decimal texts, as JSON
   * `[sum, count of the values that are no decimal]`.
   */
  readonly db: Database;
  /** The rows of a query, some at a time; until they are read to the end no other query runs. */
  pages<Row>(query: Query<Row>): AsyncIterable<readonly Row[]>;
}

/** The lease of an account: the right of this process to write and to send its requests. */
export interface AccountLease {
  readonly account: string;
  /** The number of owners that the account has had, this one counted: a fencing token. */
  readonly generation: number;
  /** True while no other process can own the account: no request leaves otherwise. It may become true again unless `ending` aborts. */
  isTrusted(): boolean;
  readonly failure?: StoreError | undefined;
  now(): Date;
  /** The monotonic time by which a last owner that did not end in order had begun its last request: it may send it when it wakes. */
  readonly lastOwnerUntil: number | undefined;
  /** If there are other workers: the settings of the account that differed in its last owner. The ones of this process are in force now. */
  readonly differsIn: readonly string[];
  /** The first commit of this owner; absent if commits bear no names. Its `timeLine` is null if the server does not tell it. */
  readonly claim?: { readonly name: string; readonly timeLine: string | null };
  /** The time-line on which this owner may write: on another one, a next owner may have been lost. Absent if servers are not promoted. */
  readonly timeLine?: string | null;
  /** The place in the due orders that the create pass has reached, as JSON: the next owner reads it after a fail-over. */
  walked?: string;
  /** Aborts when the account must be released or was lost: nothing more is begun for it. */
  readonly ending: AbortSignal;
  release(): Promise<void>;
}

/** A unit of ownership: accounts that share a rate limit are owned by one process. */
export type AccountGroup = readonly string[];

/** Decides which accounts this process owns. When it is disposed of, it frees them all. */
export interface Ownership extends AsyncDisposable {
  /** Becomes the owner of the accounts of a group, once another has ended. Throws `OwnedError` after `patienceMs`. */
  take(group: AccountGroup, patienceMs: number, signal?: AbortSignal): Promise<readonly AccountLease[]>;
  /** Takes this process's share of the groups, whenever they are free, until `stop` aborts. Each account comes to `onTaken`. */
  share(groups: readonly AccountGroup[], onTaken: (lease: AccountLease) => void, stop: AbortSignal): Promise<void>;
}

export interface MigrationStatus {
  readonly applied: readonly string[];
  readonly pending: readonly string[];
  readonly newer: readonly string[];
}

/** How far a database has come: the owners it has had, and the id of its newest event. */
export interface Position {
  readonly generation: number;
  readonly eventId: number;
  /** That of the newest event; undefined if there is none, and in a mark that an earlier version wrote. */
  readonly hash?: string | undefined;
  /** The server's system identifier and time-line; undefined for SQLite, null if the server tells neither. */
  readonly timeLine?: string | null | undefined;
}

/** The time of which a restored database lacks the changes; null if nothing tells its beginning or end. */
export interface MissingTime {
  readonly from: string | null;
  readonly to: string | null;
}

export interface MarkContent extends Position {
  readonly at: string;
  /** Present while a restored database is being accepted: the time of which it lacks the changes. */
  readonly restoring?: MissingTime;
}

/** Tells, outside of the database, how far it had come, so that an older copy in its place is noticed: see mark.md. */
export interface Mark {
  readonly path: string;
  readonly account: string | undefined;
  read(): Promise<MarkContent | undefined>;
  position(): Promise<Position>;
  /** Returns the sign by which the database shows that it is an older copy, or continued from one; undefined if there is none. */
  sign(): Promise<string | undefined>;
  /** True if the database has a history and no mark tells how far any of its accounts had come. */
  isMissing(): Promise<boolean>;
  /** Stops every account that a mark of this machine shows to be in an older state. Throws `StoreError`. */
  compareAll(): Promise<void>;
  write(content: MarkContent): Promise<void>;
  /** Throws `StoreError` while the mark cannot be written: what is sent then would not be missed in an older copy. */
  assertWritten(): void;
}

/** Tells who waits for new events that there may be some. Whoever is told reads them from the database by its own cursor. */
export class NewEvents {
  readonly #listeners = new Set<(account: string) => void>();

  /** Is called with the account after each commit of this process that added events to it; it must not throw. */
  listen(listener: (account: string) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  tell(account: string): void {
    for (const listener of this.#listeners) listener(account);
  }
}

/** A property that a server lacks for a fail-over that loses nothing, in words that say what to do. */
export interface Weakness {
  readonly name: string;
  readonly text: string;
}

/** A process that owns an account. A worker of PostgreSQL names its addresses. */
export interface Driver {
  readonly name: string;
  readonly host?: string;
  /** The path of its control socket, on its host. */
  readonly socket?: string | null;
  readonly advertise?: string | null;
}

export interface Store {
  /** The path or address of the database, for people: without a password. */
  readonly address: string;
  readonly db: Database;
  readonly writer: Writer;
  readonly mark: Mark;
  /** Tells of the events of all accounts that this process has committed, and of others while `changes` is read. */
  readonly newEvents: NewEvents;
  /** A view without later commits, kept for the reading alone: the database cannot clean up meanwhile. Whoever writes by it names the primary. */
  snapshot(of?: 'primary'): Promise<Snapshot>;
  /** Yields the accounts in which a person or an import has decided something, whenever others may have written. Throws `StoreError`. */
  changes(signal: AbortSignal): AsyncIterable<readonly string[]>;
  migrations(): Promise<MigrationStatus>;
  /** Reads what a person may want to know of the server: the host in use, if there are several, and the standbys. */
  server(): Promise<readonly string[]>;
  weaknesses(): Promise<readonly Weakness[]>;
  /** Finds the process that owns one of these accounts; undefined if none does. `isSilent`: also one that may have ended. */
  driverOf(accounts: readonly string[], isSilent?: boolean): Promise<Driver | undefined>;
  /** False once the file was moved, deleted or replaced: later writes would be lost. */
  isInPlace(): boolean;
  /** The same database for another account; with a lease its owner writes, who is refused once another has followed. */
  forAccount(account: string, lease?: Pick<AccountLease, 'generation' | 'walked'>): Store;
  /** Closes what opening it has opened; one of `forAccount` closes nothing of the database. */
  close(): Promise<void>;
}
