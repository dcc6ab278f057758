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
  /**
   * Runs a statement that was compiled once on the driver itself, if it can: through Kysely each would wait for ten promises.
   * On SQLite only within a transaction, which has the driver to itself.
   */
  readonly run?: <Row>(query: CompiledQuery<Row>) => Answered<QueryResult<Row>>;
  /** In a transaction of a writer: the ends of the chains of events that it adds to, by account. It writes them once. */
  readonly heads?: Map<string, Promise<EventHead>>;
  /** In a transaction of a writer: the events that are chained and not written yet. */
  readonly events?: ChainedEvent[];
  /** In a transaction of a writer: the newest generation of each account that it reads; nothing else writes it meanwhile. */
  readonly generations?: Map<string, Answered<QueryResult<{ generation: number }>>>;
  /** In a transaction of a writer: the orders that are sent once it is durable. */
  readonly intents?: Intent[];
}

/** An order that is sent once its transaction is durable: `row` is what the transaction read, `tracking` what it wrote. */
export interface Intent {
  readonly row: OrderRow;
  readonly tracking: Tracking;
}

export type NewEvent = Omit<EventsTable, 'id' | 'previous_hash' | 'hash'>;

export type ChainedEvent = NewEvent & { previous_hash: string; hash: string };

/** The orders by state and open findings by class of an account, as its events count them. Zeros are left out. */
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

/**
 * An open transaction that writes rows of one account. No other program of ours writes rows of that account in between;
 * a row that the merchant may write is read with its lock.
 */
export type Transaction = Database;

/** One unit of work inside a transaction: all of it happens or nothing. No network, no waiting for anything else. */
export type Work<Result> = (tx: Transaction) => Promise<Result>;

/** Every write goes through here. Work that is asked for together may share a transaction. */
export interface Writer {
  /**
   * Runs the work in a durable transaction. Work that says what it is `about`, as the ids of an order and its pre-order, decides on
   * rows of those alone: it may run beside work about others. Rejects with `StoreError` when the database cannot take it.
   */
  write<Result>(work: Work<Result>, about?: readonly string[]): Promise<Result>;
  /**
   * Writes the result of a request that was sent, which must not be lost: a full disk or a locked database is waited
   * out, once a second, until `signal` says that there is no time left.
   */
  writeUntilDurable<Result>(
    work: Work<Result>,
    signal: AbortSignal,
    onFailure: (error: StoreError) => void,
    about?: readonly string[],
  ): Promise<Result>;
  /**
   * True if all committed intents are known to be on `database.synchronousStandbys` synchronous standbys. Otherwise resolves
   * to true once they are, to false if `signal` aborts first. Asked after each intent and before its request.
   */
  isReplicated(signal: AbortSignal): true | Promise<boolean>;
  /** Why the last group could not be committed: the database is locked or its disk is full. Undefined once one could. */
  readonly failure: StoreError | undefined;
  /** From now on a locked database is not waited for: the process has no time left. */
  endGracePeriod(): void;
}

/** The database at one moment, on a connection that cannot write. */
export interface Snapshot extends AsyncDisposable {
  /** For queries of few rows. Queries of a snapshot may use the aggregate `exact_sum`: of decimal texts, as JSON `[sum, count of the values that are no decimal]`. */
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
  /** Why it is not trusted, if the database failed; undefined if it did not. */
  readonly failure?: StoreError | undefined;
  /** The time that all owners of the account go by: the clocks of their machines differ. */
  now(): Date;
  /**
   * The monotonic time by which the last owner had begun its last request, if its process did not end in order: it may be
   * stopped, and its requests leave when it wakes. Undefined if it has ended.
   */
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
  /** Frees the account, once its requests have ended. */
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
  /** The applied ones that this version does not know. */
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

/**
 * Tells, outside of the database, how far it had come at least, so that an older copy in its place is noticed. A writer refuses
 * to write to one; the mark follows its commits by itself.
 */
export interface Mark {
  readonly path: string;
  /** The account that it speaks of; undefined if it speaks of all. */
  readonly account: string | undefined;
  /** Returns undefined if there is none, or none that can be understood. */
  read(): Promise<MarkContent | undefined>;
  position(): Promise<Position>;
  /** Returns the sign by which the database shows that it is an older copy, or continued from one; undefined if there is none. */
  sign(): Promise<string | undefined>;
  /** True if the database has a history and no mark tells how far any of its accounts had come. */
  isMissing(): Promise<boolean>;
  /** Stops every account that a mark of this machine shows to be in an older state. Throws `StoreError`. */
  compareAll(): Promise<void>;
  /** Writes what a person has decided about a restored database. Throws `StoreError`. */
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

  /** Events of an account were committed, here or by another process. */
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
  /** For people. */
  readonly name: string;
  readonly host?: string;
  /** The path of its control socket, on its host. */
  readonly socket?: string | null;
  /** The URL of its API. */
  readonly advertise?: string | null;
}

/** An open database, as one account uses it. Reads go through `db`, every write through `writer`. */
export interface Store {
  /** The path or address of the database, for people: without a password. */
  readonly address: string;
  readonly db: Database;
  readonly writer: Writer;
  readonly mark: Mark;
  /** Tells of the events of all accounts that this process has committed, and of others while `changes` is read. */
  readonly newEvents: NewEvents;
  /**
   * Opens a snapshot: later commits are not seen. It blocks no writer, but the database cannot clean up meanwhile: it is kept
   * for the reading alone and never while output waits for a reader. A standby may be read that has all commits until now; a
   * caller that writes by a snapshot names the primary.
   */
  snapshot(of?: 'primary'): Promise<Snapshot>;
  /**
   * Yields, whenever others may have written, the accounts in which a person or an import has decided something, until `signal`
   * aborts; new rows may be anywhere. Throws `StoreError` when the database is no longer in its place, or a newer version of
   * the program has changed its tables.
   */
  changes(signal: AbortSignal): AsyncIterable<readonly string[]>;
  migrations(): Promise<MigrationStatus>;
  /** Reads what a person may want to know of the server: the host in use, if there are several, and the standbys. */
  server(): Promise<readonly string[]>;
  /** Reads what makes a fail-over of the server unsafe. */
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
