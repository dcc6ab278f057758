import type { CompiledQuery, Kysely, QueryResult } from 'kysely';
import type { Tracking } from '../orders/rules/tracking.ts';
import type { Query } from './dialect.ts';
import type { StoreError } from './errors.ts';
import type { OrderRow } from './orders/order-columns.ts';
import type { EventsTable, Tables } from './schema.ts';

/** SQLite answers at once, a connection to a server later. */
export type Answered<Result> = Result | Promise<Result>;

/** The tables, for queries in or outside of a transaction. Queries are compiled in the dialect of the database. */
export interface Database extends Kysely<Tables> {
  /** Runs a compiled statement without Kysely's promises; on SQLite only in a transaction. */
  readonly run?: <Row>(query: CompiledQuery<Row>) => Answered<QueryResult<Row>>;
  /** In a writer's transaction: ends of chains, events to write, generations read, and orders to send afterwards. */
  readonly heads?: Map<string, Promise<EventHead>>;
  readonly events?: ChainedEvent[];
  readonly generations?: Map<string, Answered<QueryResult<{ generation: number }>>>;
  readonly intents?: Intent[];
}

/** An order that is sent once its transaction is durable. The transaction read `row` and wrote `tracking`. */
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

/** An open transaction on one account, whose rows no other process of ours writes. Rows of the merchant are locked. */
export type Transaction = Database;

/** A unit of work in a transaction: all of it happens or nothing. Work uses no network and waits for nothing else. */
export type Work<Result> = (tx: Transaction) => Promise<Result>;

/** Every write goes through a writer. Work that is asked for together may share a transaction. */
export interface Writer {
  /** `about` has the ids of all rows that work decides on: other work may run beside. Rejects with `StoreError`. */
  write<Result>(work: Work<Result>, about?: readonly string[]): Promise<Result>;
  /** Writes a sent request's result, which must not be lost: waits out a full disk or lock until `signal` aborts. */
  writeUntilDurable<Result>(
    work: Work<Result>,
    signal: AbortSignal,
    onFailure: (error: StoreError) => void,
    about?: readonly string[],
  ): Promise<Result>;
  /** Asked before each request: true once all intents are on the required standbys, false if `signal` aborts first. */
  isReplicated(signal: AbortSignal): true | Promise<boolean>;
  /** Why the last group could not be committed: a locked database or a full disk. Undefined after a commit. */
  readonly failure: StoreError | undefined;
  /** From now on the writer does not wait for a locked database: the process has no time left. */
  endGracePeriod(): void;
}

/** The database at one moment, on a connection that cannot write. */
export interface Snapshot extends AsyncDisposable {
  /** For queries of few rows. `exact_sum` of decimal texts is JSON: `[sum, count of values that are no decimal]`. */
  readonly db: Database;
  /** Yields the rows of a query in parts. No other query may run until the rows are read to the end. */
  pages<Row>(query: Query<Row>): AsyncIterable<readonly Row[]>;
}

/** The lease of an account: the right of this process to write and to send its requests. */
export interface AccountLease {
  readonly account: string;
  /** The number of owners that the account has had, this owner included: a fencing token. */
  readonly generation: number;
  /** False while another process might own the account: no request leaves. Only once `ending` aborts, that is final. */
  isTrusted(): boolean;
  readonly failure?: StoreError | undefined;
  now(): Date;
  /** Set if the last owner crashed: its last request began by this monotonic time, and may leave later. */
  readonly lastOwnerUntil: number | undefined;
  /** The settings of the account in which its last owner differed, if there are other workers. Ours are in force. */
  readonly differsIn: readonly string[];
  /** The first commit of this owner; absent if commits bear no names. `timeLine` is null if the server tells none. */
  readonly claim?: { readonly name: string; readonly timeLine: string | null };
  /** The time-line on which this owner may write, because another may lack a later owner. Absent for SQLite. */
  readonly timeLine?: string | null;
  /** The place in the due orders that the create pass has reached, as JSON, for the next owner after a fail-over. */
  walked?: string;
  /** Aborts when the account must be released or was lost: no new work may begin for it. */
  readonly ending: AbortSignal;
  release(): Promise<void>;
}

/** A unit of ownership: accounts that share a rate limit are owned by one process. */
export type AccountGroup = readonly string[];

/** Decides which accounts this process owns. Disposing of it releases them all. */
export interface Ownership extends AsyncDisposable {
  /** Becomes the owner of a group's accounts, once another owner has ended. Throws `OwnedError` after `patienceMs`. */
  take(group: AccountGroup, patienceMs: number, signal?: AbortSignal): Promise<readonly AccountLease[]>;
  /** Takes this process's share of the groups when they are free, until `stop` aborts. Each lease goes to `onTaken`. */
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
  /** The hash of the newest event; undefined if there is none, and in a mark that an earlier version wrote. */
  readonly hash?: string | undefined;
  /** The server's system identifier and time-line; undefined for SQLite, null if the server tells neither. */
  readonly timeLine?: string | null | undefined;
}

/** The time whose changes a restored database lacks; null if nothing tells its beginning or end. */
export interface MissingTime {
  readonly from: string | null;
  readonly to: string | null;
}

export interface MarkContent extends Position {
  readonly at: string;
  /** Present while a restored database is being accepted: the time whose changes it lacks. */
  readonly restoring?: MissingTime;
}

/** Records outside of the database how far it has come, so that an older copy in its place is noticed: see mark.md. */
export interface Mark {
  readonly path: string;
  readonly account: string | undefined;
  read(): Promise<MarkContent | undefined>;
  position(): Promise<Position>;
  /** Returns the sign that the database is an older copy or continued from one; undefined if there is none. */
  sign(): Promise<string | undefined>;
  /** True if the database has a history, and no mark says how far any account had come. */
  isMissing(): Promise<boolean>;
  /** Stops every account that a mark of this machine shows to be in an older state. Throws `StoreError`. */
  compareAll(): Promise<void>;
  write(content: MarkContent): Promise<void>;
  /** Throws `StoreError` while the mark cannot be written, because an older copy would then not be noticed. */
  assertWritten(): void;
}

/** Tells listeners that there may be new events. Each listener reads them from the database by its own cursor. */
export class NewEvents {
  readonly #listeners = new Set<(account: string) => void>();

  /** Calls the listener, which must not throw, with the account after each commit of this process that adds events. */
  listen(listener: (account: string) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  tell(account: string): void {
    for (const listener of this.#listeners) listener(account);
  }
}

/** A property without which a fail-over may lose commits. `text` says what to do. */
export interface Weakness {
  readonly name: string;
  readonly text: string;
}

/** A process that owns an account. A worker of PostgreSQL names its addresses. */
export interface Driver {
  readonly name: string;
  readonly host?: string;
  /** The path of the process's control socket, on `host`. */
  readonly socket?: string | null;
  readonly advertise?: string | null;
}

export interface Store {
  /** The path or address of the database, for people: without a password. */
  readonly address: string;
  readonly db: Database;
  readonly writer: Writer;
  readonly mark: Mark;
  /** Tells of events that this process commits, and of events of others while `changes` is read. */
  readonly newEvents: NewEvents;
  /** A view without later commits. While it is open the database cannot clean up. To write by it, name the primary. */
  snapshot(of?: 'primary'): Promise<Snapshot>;
  /** Yields accounts in which a person or an import decided, whenever others may have written. Throws `StoreError`. */
  changes(signal: AbortSignal): AsyncIterable<readonly string[]>;
  migrations(): Promise<MigrationStatus>;
  /** Reads what a person may want to know of the server: the host in use, if there are several, and the standbys. */
  server(): Promise<readonly string[]>;
  weaknesses(): Promise<readonly Weakness[]>;
  /** Finds the process that owns one of these accounts; undefined if none. `isSilent`: even if it may have ended. */
  driverOf(accounts: readonly string[], isSilent?: boolean): Promise<Driver | undefined>;
  /** False once the file was moved, deleted or replaced: later writes would be lost. */
  isInPlace(): boolean;
  /** The same database for another account. A write with a lease is refused once another owner has followed. */
  forAccount(account: string, lease?: Pick<AccountLease, 'generation' | 'walked'>): Store;
  /** Closes what was opened with the store. A store of `forAccount` leaves the database open. */
  close(): Promise<void>;
}
