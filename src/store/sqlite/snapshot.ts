import Database from 'better-sqlite3';
import type { Compilable } from 'kysely';
import { DecimalSum } from '../../domain/decimal.ts';
import type { Snapshot } from '../port.ts';

/** Opens a snapshot of a database file; see `Store.snapshot`. */
export function openSnapshot(path: string): Snapshot {
  const sqlite = new Database(path, { readonly: true, fileMustExist: true });
  try {
    // SQLite's own sum is a binary one.
    sqlite.aggregate('exact_sum', {
      start: () => ({ sum: new DecimalSum(), unreadable: 0 }),
      step(total, value: unknown) {
        if (!total.sum.addReadable(value)) total.unreadable += 1;
      },
      result: ({ sum, unreadable }) => JSON.stringify([sum.toString(), unreadable]),
    });
    sqlite.exec('begin');
    // The moment is that of the first read.
    sqlite.prepare('select count(*) from sqlite_master').get();
  } catch (error) {
    sqlite.close();
    throw error;
  }
  return {
    rows<Row>(query: Compilable<Row>) {
      const { sql, parameters } = query.compile();
      return sqlite.prepare<unknown[], Row>(sql).iterate(...parameters);
    },
    [Symbol.dispose]: () => closeAndCopyLog(path, sqlite),
  };
}

/**
 * Closes the snapshot and copies what others wrote meanwhile from the write-ahead log into the database. Otherwise a commit
 * of the daemon would do it, and wait for it. Writers go on during the copy.
 */
function closeAndCopyLog(path: string, sqlite: Database.Database): void {
  // Opened first, so that as few commits as can be come in between.
  const copier = new Database(path, { fileMustExist: true });
  try {
    sqlite.close();
    copier.pragma('wal_checkpoint(passive)');
  } finally {
    copier.close();
  }
}
