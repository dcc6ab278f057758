import type { CompiledQuery, Kysely, QueryResult } from 'kysely';
import type { Tracking } from '../orders/rules/tracking.ts';
import type { Query } from './dialect.ts';
import type { StoreError } from './errors.ts';
import type { OrderRow } from './orders/order-columns.ts';
import type { EventsTable, Tables } from './schema.ts';

/** The driver of SQLite returns a result, the driver of a server returns a promise. */
export type Answered<Result> = Result | Promise<Result>;

/** Builds queries on the tables in the database's dialect, and runs them inside or outside of a transaction. */
export interface Database extends Kysely<Tables> {
  /** Runs a compiled statement without Kysely's promises; absent on SQLite outside of a transaction. */
  readonly run?: <Row>(query: CompiledQuery<Row>) => Answered<QueryResult<Row>>;
  /** Only in a writer's transaction: ends of chains, events not yet inserted, generations read, orders to send. */
  readonly heads?: Map<string, Promise<EventHead>>;
  readonly events?: ChainedEvent[];
  readonly generations?: Map<string, Answered<QueryResult<{ generation: number }>>>;
  readonly intents?: Intent[];
}

/** An order to send once its transaction is durable. The transaction read `row` and wrote `tracking`. */
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

/** An account's newest event, and counts of its orders and open findings. Before the first event: id 0, empty hash. */
export interface EventHead {
  id: number;
  hash: string;
  readonly counts: Counts;
}

/** An open transaction. No other order-sync process writes the account's rows; `lockOrder` stops the merchant too. */
export type Transaction = Database;

/** Runs the queries of one transaction. Must await only queries, because other work waits for the same commit. */
export type Work<Result> = (tx: Transaction) => Promise<Result>;

/** Commits work on rows of accounts. Works that are submitted at about the same time may share a transaction. */
export interface Writer {
  /** `about` lists all orders that `work` uses: works on other orders may run meanwhile. Rejects with `StoreError`. */
  write<Result>(work: Work<Result>, about?: readonly string[]): Promise<Result>;
  /** Commits the result of a sent request. Tries again while the database takes no writes, until `signal` aborts. */
  writeUntilDurable<Result>(
    work: Work<Result>,
    signal: AbortSignal,
    onFailure: (error: StoreError) => void,
    about?: readonly string[],
  ): Promise<Result>;
  /** True once all intents are on as many standbys as are required; false if `signal` aborts first. */
  isReplicated(signal: AbortSignal): true | Promise<boolean>;
  /** Why nothing can be committed or sent for now, for example a full disk or a missing standby. */
  readonly failure: StoreError | undefined;
  /** Ends all retries and waits for the database, because the process must end now. */
  endGracePeriod(): void;
}

/** The database at one moment, on a connection that cannot write. */
export interface Snapshot extends AsyncDisposable {
  /** For queries that return few rows. On SQLite, `exactSum` works only here. */
  readonly db: Database;
  /** Yields a query's rows in pages. The snapshot can run no other query until the last page is read. */
  pages<Row>(query: Query<Row>): AsyncIterable<readonly Row[]>;
}

/** The right of this process to write the rows of an account and to send the account's requests. */
export interface AccountLease {
  readonly account: string;
  /** A fencing token: each owner of the account has a greater number than the owner before. */
  readonly generation: number;
  /** False while another process may own the account: no request is sent. May turn true again until `ending` aborts. */
  isTrusted(): boolean;
  readonly failure?: StoreError | undefined;
  now(): Date;
  /** The monotonic time (ms) after which a crashed last owner began no request; undefined if no owner crashed. */
  readonly lastOwnerUntil: number | undefined;
  /** Names of the account's settings that differ from the last owner's; empty if no other worker shares accounts. */
  readonly differsIn: readonly string[];
  /** The name and time-line of this owner's first commit; absent on SQLite. `timeLine` is null if it is not known. */
  readonly claim?: { readonly name: string; readonly timeLine: string | null };
  /** The owner writes only on this time-line: a promoted standby may lack a later owner's claim. Absent on SQLite. */
  readonly timeLine?: string | null;
  /** Create passes are done with the due orders before this place (JSON). After a fail-over the next owner reads it. */
  walked?: string;
  /** Aborts when this process loses the account or must release it: no new work of the account may begin. */
  readonly ending: AbortSignal;
  release(): Promise<void>;
}

/** An account, or all accounts that share a rate limit. One process owns the whole group. */
export type AccountGroup = readonly string[];

/** Makes this process the owner of accounts. The disposal releases all of them. */
export interface Ownership extends AsyncDisposable {
  /** Makes this process the group's owner. Throws `OwnedError` if another owner does not end within `patienceMs`. */
  take(group: AccountGroup, patienceMs: number, signal?: AbortSignal): Promise<readonly AccountLease[]>;
  /** Takes this process's share of the free groups until `stop` aborts. Calls `onTaken` with each lease. */
  share(groups: readonly AccountGroup[], onTaken: (lease: AccountLease) => void, stop: AbortSignal): Promise<void>;
}

export interface MigrationStatus {
  readonly applied: readonly string[];
  readonly pending: readonly string[];
  readonly newer: readonly string[];
}

/** How far a database, or one of its accounts, has come: the number of owners and the id of the newest event. */
export interface Position {
  readonly generation: number;
  readonly eventId: number;
  /** The hash of the newest event; undefined if there is no event, or if an earlier version wrote the mark. */
  readonly hash?: string | undefined;
  /** The system identifier and time-line of the newest commit's server; null if unknown, undefined for SQLite. */
  readonly timeLine?: string | null | undefined;
}

/** The period (UTC, ISO 8601) whose changes a restored database lacks; an unknown beginning or end is null. */
export interface MissingTime {
  readonly from: string | null;
  readonly to: string | null;
}

export interface MarkContent extends Position {
  readonly at: string;
  /** Present from the beginning of `db accept-restore` to its end. */
  readonly restoring?: MissingTime;
}

/** A record, outside of the database, of how far the database has come. It reveals an older copy: see mark.md. */
export interface Mark {
  readonly path: string;
  readonly account: string | undefined;
  read(): Promise<MarkContent | undefined>;
  position(): Promise<Position>;
  /** Returns a sign (see mark.md) that the database is an older copy or continued from one, or undefined. */
  sign(): Promise<string | undefined>;
  /** True if the database has events, and this machine has no mark of any of the database's accounts. */
  isMissing(): Promise<boolean>;
  /** Stops each account that is older than a mark of this machine; does nothing on SQLite. Throws `StoreError`. */
  compareAll(): Promise<void>;
  write(content: MarkContent): Promise<void>;
  /** Throws `StoreError` while the mark cannot be written, because the mark could not reveal an older copy later. */
  assertWritten(): void;
}

/** Calls listeners when an account may have new events. Each listener reads the events by its own cursor. */
export class NewEvents {
  readonly #listeners = new Set<(account: string) => void>();

  /** Adds a listener, which must not throw. The returned object removes the listener. */
  listen(listener: (account: string) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  tell(account: string): void {
    for (const listener of this.#listeners) listener(account);
  }
}

/** A fault of the server's set-up, because of which a fail-over may lose commits. `text` contains the remedy. */
export interface Weakness {
  readonly name: string;
  readonly text: string;
}

/** A process that owns an account. Its addresses are known only on PostgreSQL. */
export interface Driver {
  readonly name: string;
  readonly host?: string;
  /** The path of the process's control socket, on `host`. */
  readonly socket?: string | null;
  readonly advertise?: string | null;
}

export interface Store {
  /** The path or the URL of the database, for messages: without the password. */
  readonly address: string;
  readonly db: Database;
  readonly writer: Writer;
  readonly mark: Mark;
  /** Calls listeners after commits of this process. A reader of `changes` calls `tell` for decisions made elsewhere. */
  readonly newEvents: NewEvents;
  /** An open snapshot keeps old row versions in the database. For decisions read the `primary`: a standby may lag. */
  snapshot(of?: 'primary'): Promise<Snapshot>;
  /** After other processes' commits, yields the accounts in which a person or import decided. Throws `StoreError`. */
  changes(signal: AbortSignal): AsyncIterable<readonly string[]>;
  migrations(): Promise<MigrationStatus>;
  /** Describes the server to people: the host in use, if several are set, and the standbys. Empty for SQLite. */
  server(): Promise<readonly string[]>;
  weaknesses(): Promise<readonly Weakness[]>;
  /** Finds the process that owns one of these accounts. `withSilent` adds processes that may have ended. */
  driverOf(accounts: readonly string[], withSilent?: boolean): Promise<Driver | undefined>;
  /** False once the file was moved, deleted or replaced: later writes would be lost. */
  isInPlace(): boolean;
  /** The same database, for one account. On PostgreSQL, writes with `lease` fail once another process is owner. */
  forAccount(account: string, lease?: Pick<AccountLease, 'generation' | 'walked'>): Store;
  /** Closes the database, unless the store is from `forAccount`. */
  close(): Promise<void>;
}
