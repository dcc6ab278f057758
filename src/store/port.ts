import type { Compilable, CompiledQuery, Kysely, QueryResult } from 'kysely';
import type { StoreError } from './errors.ts';
import type { Tables } from './schema.ts';

/**
 * The tables, for queries: outside of a transaction or within one.
 *
 * Most queries are portable SQL that Kysely compiles for the dialect. Not portable, and to be replaced for another
 * database: the guards of the migration, `sql` templates with `+column` (no index is taken), `strftime` and `iif`, and all of
 * `stage/`, whose temporary databases are SQLite whatever the store is.
 */
export type Database = Kysely<Tables>;

/** An open transaction. What it reads stays so until it is committed: no other program writes in between. */
export interface Transaction extends Database {
  /** Runs a compiled query on the driver itself: on the way through Kysely each would wait for ten promises. */
  run<Row>(query: CompiledQuery<Row>): QueryResult<Row>;
}

/** One unit of work inside a transaction: all of it happens or nothing. No network, no waiting for anything else. */
export type Work<Result> = (tx: Transaction) => Promise<Result>;

/** Every write goes through here. Work that is asked for together may share a transaction. */
export interface Writer {
  /** Runs the work in a durable transaction. Rejects with `StoreError` when the database cannot take it. */
  write<Result>(work: Work<Result>): Promise<Result>;
  /**
   * Writes what must not be lost, the result of a request that was sent: a full disk or a locked database is waited
   * out, once a second, until `signal` says that there is no time left.
   */
  writeUntilDurable<Result>(
    work: Work<Result>,
    signal: AbortSignal,
    onFailure: (error: StoreError) => void,
  ): Promise<Result>;
  /** Why the last group could not be committed: the database is locked or its disk is full. Undefined once one could. */
  readonly failure: StoreError | undefined;
  /** From now on a locked database is not waited for: the process has no time left. */
  endGracePeriod(): void;
}

/** The database at one moment, on a connection that cannot write. */
export interface Snapshot extends Disposable {
  /**
   * The rows of a query, one at a time; until they are read to the end no other query runs. The query may use the aggregate
   * `exact_sum`: of decimal texts, as JSON `[sum, count of the values that are no decimal]`.
   */
  rows<Row>(query: Compilable<Row>): IterableIterator<Row>;
}

/** The right to drive the accounts of a database; it ends with the process at the latest. */
export interface Ownership {
  release(): void;
}

/** How far a database has come: the owners it has had, and the id of its newest event. */
export interface Position {
  readonly generation: number;
  readonly eventId: number;
}

/** The time of which a restored database lacks the changes; null where nothing tells its beginning or end. */
export interface MissingTime {
  readonly from: string | null;
  readonly to: string | null;
}

/** What stands in the mark of a database. */
export interface MarkContent extends Position {
  /** When the commit was named. */
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
  /** Gives undefined where there is none, or none that can be understood. */
  read(): MarkContent | undefined;
  /** Writes what a person has decided about a restored database. Throws `StoreError`. */
  write(content: MarkContent): Promise<void>;
  /** Throws `StoreError` while the mark cannot be written: what is sent then would not be missed in an older copy. */
  assertWritten(): void;
}

/** An open database. Reads go through `db`, every write through `writer`. */
export interface Store {
  /** The path or address of the database. */
  readonly path: string;
  readonly db: Database;
  readonly writer: Writer;
  readonly mark: Mark;
  /**
   * Opens a snapshot: what is committed from now on is not seen. It holds up no writer, but the write-ahead log grows
   * while it is open: it is kept for the reading alone and never while output waits for a reader.
   */
  snapshot(): Snapshot;
  /** A number that changes when another connection has committed. */
  dataVersion(): number;
  /** False once the file was moved, deleted or replaced: what is written then would be lost. */
  isInPlace(): boolean;
  close(): Promise<void>;
}
