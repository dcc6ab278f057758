import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Migrator } from 'kysely/migration';
import { MIGRATIONS } from '../../../migrations/index.ts';
import type { Clock } from '../../clock.ts';
import { changesOf } from './changes.ts';
import { BUSY_TIMEOUT_MS, connect, type Connection, type WrapStatement } from './connection.ts';
import { StoreError } from '../errors.ts';
import type { Store } from '../port.ts';
import { missingDatabase, openError, storeError } from './errors.ts';
import { FileMark, type ReplaceFile } from './mark.ts';
import { openSnapshot } from './snapshot.ts';
import { GroupWriter } from './writer.ts';

/** The way in which a command opens the database. */
export interface OpenOptions {
  /**
   * `migrate` makes the database or brings it up to date; `upgrade` only the latter; `current` wants one that is up to
   * date; `any` takes an older one too.
   */
  readonly expect: 'migrate' | 'upgrade' | 'current' | 'any';
  /** With `migrate`: makes the folder of a new database as well. */
  readonly createFolder?: boolean;
  readonly wrap?: WrapStatement;
  readonly synchronous?: 'off';
  /** Opens a database that was put back to an older state, for a person to accept: the mark is left as it is. */
  readonly isRestored?: boolean;
  /** The way in which the mark is written. */
  readonly replaceFile?: ReplaceFile;
}

/** Opens the database. Throws `StoreError` that says what is wrong with the file and what to do. */
export async function openStore(path: string, clock: Clock, options: OpenOptions): Promise<Store> {
  assertFile(path, options);
  const connection = openConnection(path, options);
  try {
    if (options.synchronous === 'off') connection.sqlite.pragma('synchronous = off');
    const mayMigrate = options.expect === 'migrate' || options.expect === 'upgrade';
    if (mayMigrate && !isUpToDate(appliedMigrations(connection.sqlite))) await migrate(connection);
    connection.sqlite.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
  } catch (error) {
    await closeConnection(connection);
    throw storeError(error, path);
  }
  const db = connection.kysely;
  const isDurable = options.synchronous !== 'off';
  const mark = new FileMark({ path, db, clock, isDurable, replaceFile: options.replaceFile });
  const store: Store = {
    address: path,
    db,
    writer: new GroupWriter(connection, clock, options.isRestored === true ? undefined : mark),
    mark,
    snapshot: () => openSnapshot(path),
    changes: (signal) => changesOf(connection, clock, signal),
    isInPlace: () => connection.isInPlace(),
    // The whole file has one writer, whatever account it writes for.
    forAccount: () => ({ ...store, close: async () => {} }),
    async close() {
      await mark.close();
      await closeConnection(connection);
    },
  };
  return store;
}

/** Migrations of a database file: those that ran, and those that wait. */
export interface MigrationStatus {
  readonly applied: readonly string[];
  readonly pending: readonly string[];
}

/** Reads which migrations an open database has. */
export async function migrationStatus(store: Store): Promise<MigrationStatus> {
  const migrations = await new Migrator({ db: store.db, provider: { getMigrations } }).getMigrations();
  const names = (isApplied: boolean) =>
    migrations.filter(({ executedAt }) => (executedAt !== undefined) === isApplied).map(({ name }) => name);
  return { applied: names(true), pending: names(false) };
}

function unusable(message: string, options?: ErrorOptions): StoreError {
  return new StoreError('unusable', message, options);
}

/** Throws `StoreError` where there is no file that could be a database. */
export function assertFile(path: string, options: Pick<OpenOptions, 'expect' | 'createFolder'>): void {
  if (!existsSync(path)) {
    assertNothingLeft(path);
    if (options.expect === 'migrate' && (options.createFolder === true || existsSync(dirname(path)))) return;
    throw missingDatabase(path);
  }
  const file = statSync(path);
  if (!file.isFile()) throw unusable(`${path} is not a file; set database.url to the database file`);
  if (file.size === 0) {
    throw unusable(
      `${path} is empty (0 bytes), a database was expected; restore a backup, or delete the file to begin anew`,
    );
  }
}

/** SQLite empties a write-ahead log beside a new database: it may hold the newest commits of one that was moved away. */
function assertNothingLeft(path: string): void {
  const left = `${path}-wal`;
  if ((statSync(left, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  throw unusable(
    `there is no database at ${path}, but its newest changes are in ${left}: put the database back beside it; only to begin anew delete that file`,
  );
}

function openConnection(path: string, options: OpenOptions): Connection {
  try {
    return connect(path, {
      create: options.expect === 'migrate',
      check: (sqlite) => assertKnownVersion(sqlite, path, options),
      ...(options.wrap === undefined ? {} : { wrap: options.wrap }),
    });
  } catch (error) {
    throw openError(error, path);
  }
}

/** Kysely closes the driver only once a query has gone through it; closing twice does no harm. */
async function closeConnection(connection: Connection): Promise<void> {
  await connection.kysely.destroy();
  connection.sqlite.close();
}

function assertKnownVersion(sqlite: Connection['sqlite'], path: string, options: OpenOptions): void {
  const applied = appliedMigrations(sqlite);
  const unknown = applied.find((name) => !Object.hasOwn(MIGRATIONS.sqlite, name));
  if (unknown !== undefined) {
    throw unusable(`${path} was made by another version of order-sync (migration ${unknown}); use that version`);
  }
  if (options.expect === 'current' && applied.length === 0) {
    const hint = 'check database.url, or make them with: order-sync db migrate';
    throw unusable(`${path} is a database without the tables of order-sync; ${hint}`);
  }
  if (options.expect === 'current' && !isUpToDate(applied)) {
    throw unusable(`${path} is not up to date; bring it up to date with: order-sync db migrate`);
  }
}

function appliedMigrations(sqlite: Connection['sqlite']): readonly string[] {
  const hasMigrations =
    sqlite.prepare(`select 1 from sqlite_master where name = 'kysely_migration'`).get() !== undefined;
  const rows = hasMigrations ? sqlite.prepare('select name from kysely_migration').all() : [];
  return (rows as { name: string }[]).map(({ name }) => name);
}

/** Asked before the migrator, which describes every table to itself to find that there is nothing to do. */
function isUpToDate(applied: readonly string[]): boolean {
  return applied.length === Object.keys(MIGRATIONS.sqlite).length;
}

async function getMigrations() {
  return { ...MIGRATIONS.sqlite };
}

async function migrate({ kysely, path }: Connection): Promise<void> {
  const { error } = await new Migrator({ db: kysely, provider: { getMigrations } }).migrateToLatest();
  if (error !== undefined) {
    const known = storeError(error, path);
    if (known instanceof StoreError) throw known;
    const detail = error instanceof Error ? error.message : 'no reason given';
    throw unusable(`${path} could not be migrated: ${detail}`, { cause: error });
  }
}
