import { chmodSync, closeSync, linkSync, openSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { StoreError } from '../../../store/errors.ts';
import { openError, storeError } from '../../../store/sqlite/errors.ts';

const PAGES_A_STEP = 10_000;

/**
 * Copies the database at `path`, as it is now, into a new file and checks the copy. Other programs may write meanwhile.
 * A failure throws `StoreError` and leaves no unchecked copy. Makes no checkpoint, which would disturb a replicator.
 */
export async function backUp(path: string, target: string, onProgress?: (share: number) => void): Promise<void> {
  const partial = `${target}.partial`;
  try {
    // The file is made first, so that it is private, and so that a second backup to this name fails meanwhile.
    closeSync(openSync(partial, 'wx', 0o600));
  } catch (error) {
    throw backupError(error, partial, 'if no backup to this name is running, a killed one left the file: delete it');
  }
  try {
    await copyPages(path, partial, onProgress);
    checkCopy(partial);
    await syncFile(partial);
    linkSync(partial, target);
    await syncFile(dirname(target));
  } catch (error) {
    throw backupError(error, target, 'name a new file');
  } finally {
    for (const ending of ['', '-wal', '-shm', '-journal']) rmSync(`${partial}${ending}`, { force: true });
  }
}

function backupError(error: unknown, path: string, advice: string): unknown {
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) return openError(error, path);
  return new StoreError('refused', `${path} exists already; ${advice}`, { cause: error });
}

async function copyPages(path: string, target: string, onProgress?: (share: number) => void): Promise<void> {
  const source = new Database(path, { readonly: true, fileMustExist: true });
  try {
    // All steps read one snapshot, because each commit of another program would otherwise restart the copy.
    source.exec('begin');
    source.prepare('select count(*) from sqlite_master').get();
    await source.backup(target, {
      progress({ totalPages, remainingPages }) {
        onProgress?.(totalPages === 0 ? 0 : (totalPages - remainingPages) / totalPages);
        return PAGES_A_STEP;
      },
    });
  } finally {
    source.close();
  }
}

/** Throws `StoreError` if a database is not sound. A quick check does not compare the indexes with the rows. */
export function checkIntegrity(path: string, check: 'integrity_check' | 'quick_check' = 'integrity_check'): void {
  const sqlite = new Database(path, { readonly: true, fileMustExist: true });
  try {
    const problems = sqlite.prepare(`pragma ${check}(5)`).pluck().all() as string[];
    if (problems.length !== 1 || problems[0] !== 'ok')
      throw new StoreError('unusable', `${path} is not sound: ${problems.join('; ')}; restore a backup`);
  } catch (error) {
    throw storeError(error, path);
  } finally {
    sqlite.close();
  }
}

function checkCopy(path: string): void {
  const copy = new Database(path, { fileMustExist: true });
  // This mode needs no write-ahead log, so the copy is one file. `user_version` shows that it is a copy (mark.md).
  copy.pragma('journal_mode = delete');
  copy.pragma('user_version = 1');
  copy.close();
  chmodSync(path, 0o600);
  checkIntegrity(path);
}

async function syncFile(path: string): Promise<void> {
  await using file = await open(path);
  await file.sync();
}
