import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import {
  CompiledQuery,
  Kysely,
  SqliteAdapter,
  SqliteDialect,
  SqliteDriver,
  type DatabaseConnection,
  type QueryResult,
  type SqliteDatabase,
  type SqliteStatement,
} from 'kysely';
import type { Clock } from '../../base/clock.ts';
import { SqliteCompiler } from '../dialect.ts';
import { lostFile } from '../errors.ts';
import type { Transactions } from '../group-writer.ts';
import type { Database as Queries } from '../port.ts';
import { isBusy, rowError } from './errors.ts';
import type { Tables } from '../schema.ts';

/** How long a statement may block the event loop while another program writes. After that the wait is asynchronous. */
export const BUSY_TIMEOUT_MS = 50;
const OPENING_TIMEOUT_MS = 250;
const WAL_LIMIT_BYTES = 64 * 1024 * 1024;
/** Pages of the log before a checkpoint (default: 1,000). Late checkpoints copy a page once after many commits. */
const CHECKPOINT_PAGES = 4_000;
const KEPT_STATEMENTS = 200;

export type Connection = Readonly<ReturnType<typeof connect>>;

/** Wraps each statement, so that a simulated process can die at any commit. */
export type WrapStatement = (sql: string, statement: SqliteStatement) => SqliteStatement;

/** Opens or creates a file. Changes an existing file unless `check` returns false. Throws the driver's errors. */
export function connect(
  path: string,
  options: { create: boolean; check?: (sqlite: Database.Database) => boolean; wrap?: WrapStatement },
) {
  if (options.create && !existsSync(path)) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    closeSync(openSync(path, 'a', 0o600));
  }
  const opened = statSync(path);
  const sqlite = new Database(path, { fileMustExist: true, timeout: OPENING_TIMEOUT_MS });
  try {
    if (options.check?.(sqlite) !== false) {
      for (const ending of ['', '-wal', '-shm']) closeToOthers(`${path}${ending}`);
      sqlite.pragma('journal_mode = wal');
    }
    sqlite.pragma('synchronous = full');
    sqlite.pragma(`journal_size_limit = ${WAL_LIMIT_BYTES}`);
    sqlite.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    sqlite.pragma('foreign_keys = on');
  } catch (error) {
    sqlite.close();
    throw error;
  }
  const statements = keepStatements(sqlite, options.wrap);
  const dialect = dialectOf(statements);
  dialect.createDriver = () => new ImmediateSqliteDriver(statements, sqlite);
  return {
    path,
    sqlite,
    statements,
    kysely: new Kysely<Tables>({ dialect }),
    /** False if the path no longer names the open file. Writes to a moved or deleted file are lost without an error. */
    isInPlace: () => {
      const now = statSync(path, { throwIfNoEntry: false });
      return now !== undefined && now.ino === opened.ino && now.dev === opened.dev;
    },
  };
}

/** All files share one adapter, because statements are compiled once for each adapter. */
const ADAPTER = new SqliteAdapter();

export function dialectOf(database: SqliteDatabase): SqliteDialect {
  const dialect = new SqliteDialect({ database });
  dialect.createAdapter = () => ADAPTER;
  dialect.createQueryCompiler = () => new SqliteCompiler();
  return dialect;
}

/** Removes rights of other users, because backups are often put back readable for all. Skips another user's file. */
function closeToOthers(path: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & 0o077) === 0) return;
  try {
    chmodSync(path, mode & 0o700);
  } catch {
    return;
  }
}

class ImmediateSqliteDriver extends SqliteDriver {
  readonly #database: Database.Database;

  constructor(kept: SqliteDatabase, database: Database.Database) {
    super({ database: kept });
    this.#database = database;
  }

  /** After a plain `begin`, a write fails at once if another connection wrote since the transaction's first read. */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  /** If the disk is full, SQLite rolls back by itself. The error of a second rollback would hide the reason. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.inTransaction) await connection.executeQuery(CompiledQuery.raw('rollback'));
  }
}

/** Prepares each SQL text once, because preparing costs more than running. Drops the oldest if too many are kept. */
function keepStatements(database: Database.Database, wrap?: WrapStatement): SqliteDatabase {
  const kept = new Map<string, SqliteStatement>();
  return {
    close: () => database.close(),
    prepare(sql) {
      const known = kept.get(sql);
      if (known !== undefined) return known;
      const prepared = database.prepare(sql) as unknown as SqliteStatement;
      const statement = wrap === undefined ? prepared : wrap(sql, prepared);
      if (kept.size >= KEPT_STATEMENTS) kept.delete(kept.keys().next().value ?? '');
      kept.set(sql, statement);
      return statement;
    },
  };
}

const BUSY_TRIES = 40;
const BUSY_WAIT_MS = 50;

export function transactionsOn(connection: Connection, clock: Pick<Clock, 'sleep'>): Transactions {
  const { path, sqlite, kysely, statements, isInPlace } = connection;
  const run = runOn(statements);
  return {
    isInPlace,
    async run(work, signal) {
      if (!isInPlace()) throw lostFile(path);
      for (let tries = 1; ; tries += 1) {
        try {
          return await kysely.transaction().execute((tx) => work(Object.assign(tx, { run })));
        } catch (error) {
          if (!isBusy(error) || tries >= BUSY_TRIES || signal.aborted) {
            throw rowError(error, path, () => triggersOfOthers(sqlite));
          }
          await clock.sleep(BUSY_WAIT_MS, signal).catch(() => undefined);
        }
      }
    },
  };
}

function triggersOfOthers(sqlite: Connection['sqlite']): readonly string[] {
  const select = `select name from sqlite_master where type = 'trigger'
    and name not glob 'merchant_orders_*' and name not glob 'events_*' order by name`;
  return sqlite.prepare<[], string>(select).pluck().all();
}

/** Runs compiled queries on the driver itself. Only a transaction may do so, because it alone has the connection. */
function runOn(database: SqliteDatabase): NonNullable<Queries['run']> {
  return <Row>({ sql, parameters }: CompiledQuery<Row>): QueryResult<Row> => {
    const prepared = database.prepare(sql);
    if (prepared.reader) return { rows: prepared.all(parameters) as Row[] };
    const { changes, lastInsertRowid } = prepared.run(parameters);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  };
}
