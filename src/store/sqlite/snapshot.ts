import Database from 'better-sqlite3';
import { DecimalSum } from '../../domain/decimal.ts';
import { queries, compileFor } from '../statement.ts';
import type { Query } from '../dialect.ts';
import type { Snapshot } from '../port.ts';

/** So many rows are given at a time. */
const PAGE = 500;

/** Opens a snapshot of a database file; see `Store.snapshot`. */
export async function openSnapshot(path: string): Promise<Snapshot> {
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

/**
 * Closes the snapshot and copies what others wrote meanwhile from the write-ahead log into the database. Otherwise a commit
 * of the daemon would do it, and wait for it. Writers go on during the copy. What was read stands, whether the copy succeeds
 * or, on a full disk, does not.
 */
function closeAndCopyLog(path: string, sqlite: Database.Database): void {
  // Opened first, so that as few commits as can be come in between.
  const copier = new Database(path, { fileMustExist: true });
  try {
    sqlite.close();
    copier.pragma('wal_checkpoint(passive)');
  } catch (error) {
    // What else is wrong with the disk is found by whoever writes next.
    if (!(error instanceof Database.SqliteError)) throw error;
  } finally {
    copier.close();
  }
}
