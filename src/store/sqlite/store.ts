import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { MIGRATIONS } from '../../../migrations/index.ts';
import { TABLES } from '../../../migrations/rules.ts';
import type { Clock } from '../../base/clock.ts';
import { changesOf } from './changes.ts';
import {
  BUSY_TIMEOUT_MS,
  connect,
  dialectOf,
  transactionsOn,
  type Connection,
  type WrapStatement,
} from './connection.ts';
import { unusable } from '../errors.ts';
import { GroupWriter } from '../group-writer.ts';
import {
  assertKnownVersion,
  assertNotNewer,
  foreignTables,
  isUpToDate,
  migrate,
  migrationStatus,
  type AppliedMigrations,
  type Expectation,
} from '../migrations.ts';
import { NewEvents, type Store, type Writer, type Snapshot } from '../port.ts';
import { missingDatabase, openError, storeError } from './errors.ts';
import { FileMark, type ReplaceFile } from './mark.ts';
import { lockHolder } from './owner.ts';
import Database from 'better-sqlite3';
import { DecimalSum } from '../../base/decimal.ts';
import { queries, compileFor } from '../statement.ts';
import type { Query } from '../dialect.ts';
import type { Tables } from '../schema.ts';
import { Kysely } from 'kysely';

const OWN_TABLES: readonly string[] = TABLES;

export interface OpenOptions {
  readonly expect: Expectation;
  /** With `expect: 'migrate'`, also makes the folder of a new database. */
  readonly createFolder?: boolean;
  /** With `expect: 'migrate'`, makes the tables even beside tables of another program. */
  readonly intoExisting?: boolean;
  readonly warn?: (text: string) => void;
  readonly inform?: (text: string) => void;
  readonly wrap?: WrapStatement;
  readonly synchronous?: 'off';
  /** `off` looks for others' commits by a timer, because a file watch would outlive a simulated process that dies. */
  readonly watch?: 'off';
  /** True while a person accepts an older state: the writer neither compares the mark nor changes it. */
  readonly isRestored?: boolean;
  readonly replaceFile?: ReplaceFile;
}

export async function openStore(path: string, clock: Clock, options: OpenOptions): Promise<Store> {
  assertFile(path, options);
  const connection = openConnection(path, options);
  try {
    if (options.synchronous === 'off') connection.sqlite.pragma('synchronous = off');
    const mayMigrate = options.expect === 'migrate' || options.expect === 'upgrade';
    if (mayMigrate && !isUpToDate(MIGRATIONS, appliedMigrations(connection.sqlite))) {
      const migrated = { migrations: MIGRATIONS, address: path };
      await migrate(connection.kysely, migrated, (error) => storeError(error, path));
    }
    connection.sqlite.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
  } catch (error) {
    await closeConnection(connection);
    throw storeError(error, path);
  }
  const db = connection.kysely;
  const isDurable = options.synchronous !== 'off';
  const mark = new FileMark({ path, db, clock, isDurable, replaceFile: options.replaceFile });
  const newEvents = new NewEvents();
  const followed = options.isRestored === true ? undefined : mark;
  const writer = new GroupWriter(transactionsOn(connection, clock), clock, followed, newEvents);
  const shared = sharedWriter(writer);
  const migrations = async () => migrationStatus(MIGRATIONS, appliedMigrations(connection.sqlite));
  const notNewer = () => assertNotNewer({ address: path, migrations });
  const store: Store = {
    address: path,
    db,
    writer,
    mark,
    newEvents,
    snapshot: () => openSnapshot(path),
    changes: (signal) => changesOf(connection, clock, notNewer, signal, options.watch),
    migrations,
    server: async () => [],
    weaknesses: async () => [],
    driverOf: async () => lockHolder(path),
    isInPlace: () => connection.isInPlace(),
    forAccount: () => ({ ...store, writer: shared, close: async () => {} }),
    async close() {
      await mark.close();
      await closeConnection(connection);
    },
  };
  return store;
}

/** Returns the writer for one account. It ignores `endGracePeriod`, because other accounts may still wait. */
function sharedWriter(writer: Writer): Writer {
  return {
    write: (...args) => writer.write(...args),
    writeUntilDurable: (...args) => writer.writeUntilDurable(...args),
    get failure() {
      return writer.failure;
    },
    isReplicated: (signal) => writer.isReplicated(signal),
    endGracePeriod: () => {},
  };
}

export function assertFile(path: string, options: Pick<OpenOptions, 'expect' | 'createFolder'>): void {
  if (!existsSync(path)) {
    assertNothingLeft(path);
    if (options.expect === 'migrate' && (options.createFolder === true || existsSync(dirname(path)))) return;
    throw missingDatabase(path);
  }
  const file = statSync(path);
  if (!file.isFile()) throw unusable(`${path} is not a file; set database.url to the database file`);
  if (file.size === 0)
    throw unusable(
      `${path} is empty (0 bytes), a database was expected; restore a backup, or delete the file to begin anew`,
    );
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) assertOwnLog(path);
}

/** Throws for a copy by `db backup` beside the write-ahead log of an old database. SQLite would write the log into it. */
function assertOwnLog(path: string): void {
  const header = Buffer.alloc(20);
  try {
    const file = openSync(path, 'r');
    readSync(file, header);
    closeSync(file);
  } catch (error) {
    throw openError(error, path);
  }
  // SQLite's file format has 1 in both bytes if the database has no write-ahead log.
  if (header[18] !== 1 || header[19] !== 1) return;
  const advice = `if you put a copy back, delete ${path}-wal`;
  throw unusable(`${path}-wal is the write-ahead log of another database and would ruin ${path}; ${advice}`);
}

/** Throws if a write-ahead log is left: it may have commits of a database that was moved, and SQLite would empty it. */
function assertNothingLeft(path: string): void {
  const left = `${path}-wal`;
  if ((statSync(left, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  throw unusable(
    `there is no database at ${path}, but its newest changes are in ${left}: put the database back beside it; delete that file only if you want to begin with an empty database`,
  );
}

function openConnection(path: string, options: OpenOptions): Connection {
  try {
    return connect(path, {
      create: options.expect === 'migrate',
      check: (sqlite) => {
        const applied = appliedMigrations(sqlite);
        const { own = [], others = [] } = applied.size > 0 ? {} : tablesOf(sqlite);
        const migrated = { migrations: MIGRATIONS, address: path };
        assertKnownVersion(migrated, applied, options.expect, options.intoExisting === true ? [] : others);
        if (options.expect === 'any') return applied.size > 0;
        if (own.length > 0) throw foreignTables(path, own);
        return true;
      },
      ...(options.wrap === undefined ? {} : { wrap: options.wrap }),
    });
  } catch (error) {
    throw openError(error, path);
  }
}

/** Closes Kysely and the file, because Kysely closes the file only after a query. A second close does nothing. */
async function closeConnection(connection: Connection): Promise<void> {
  await connection.kysely.destroy();
  connection.sqlite.close();
}

function tablesOf(sqlite: Connection['sqlite']) {
  const select = `select name from sqlite_master where type = 'table' order by name`;
  const names = sqlite.prepare<[], string>(select).pluck().all();
  const ofMerchants = names.filter((name) => !/^(sqlite|kysely)_/.test(name));
  return Object.groupBy(ofMerchants, (name) => (OWN_TABLES.includes(name) ? 'own' : 'others'));
}

function appliedMigrations(sqlite: Connection['sqlite']): AppliedMigrations {
  const hasTable = (name: string) =>
    sqlite.prepare('select 1 from sqlite_master where name = ?').get(name) !== undefined;
  if (!hasTable('kysely_migration')) return new Map();
  const hash = hasTable('migration_hashes') ? '(select hash from migration_hashes h where h.name = m.name)' : 'null';
  const rows = sqlite.prepare(`select name, ${hash} as hash from kysely_migration m order by name`).all();
  return new Map((rows as { name: string; hash: string | null }[]).map((row) => [row.name, row.hash]));
}

const PAGE = 500;

export async function openSnapshot(path: string): Promise<Snapshot> {
  const sqlite = new Database(path, { readonly: true, fileMustExist: true });
  try {
    // SQLite's own `sum` adds binary numbers, which are not exact.
    sqlite.aggregate('exact_sum', {
      start: () => ({ sum: new DecimalSum(), unreadable: 0 }),
      step(total, value: unknown) {
        if (!total.sum.addReadable(value)) total.unreadable += 1;
      },
      result: ({ sum, unreadable }) => JSON.stringify([sum.toString(), unreadable]),
    });
    sqlite.exec('begin');
    // The first read fixes the moment that the snapshot shows.
    sqlite.prepare('select count(*) from sqlite_master').get();
  } catch (error) {
    sqlite.close();
    throw error;
  }
  return {
    db: new Kysely<Tables>({ dialect: dialectOf(sqlite) }),
    async *pages<Row>(query: Query<Row>) {
      const { sql, parameters } = compileFor(queries, query);
      let page: Row[] = [];
      for (const row of sqlite.prepare<unknown[], Row>(sql).iterate(...parameters)) {
        page.push(row);
        if (page.length < PAGE) continue;
        yield page;
        page = [];
      }
      if (page.length > 0) yield page;
    },
    [Symbol.asyncDispose]: async () => closeAndCopyLog(path, sqlite),
  };
}

/** Closes a snapshot, and copies the write-ahead log into the file, so that no commit of the daemon must do so. */
function closeAndCopyLog(path: string, sqlite: Database.Database): void {
  // The copier is opened before the snapshot is closed, so that few commits come between the close and the copy.
  const copier = new Database(path, { fileMustExist: true });
  try {
    sqlite.close();
    copier.pragma('wal_checkpoint(passive)');
  } catch (error) {
    // A failed copy loses nothing, and the next writer meets the same fault of the disk.
    if (!(error instanceof Database.SqliteError)) throw error;
  } finally {
    copier.close();
  }
}
