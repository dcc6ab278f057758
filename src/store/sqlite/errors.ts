import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreError, unusable } from '../errors.ts';

const MEANINGS = [
  [/^SQLITE_(CORRUPT|NOTADB)/, 'unusable', 'is not a sound SQLite database', 'restore a backup'],
  [/^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|PERM)/, 'disk', 'cannot be written', 'check free space and permissions'],
  [/^SQLITE_BUSY/, 'busy', 'has been locked by another program for too long', 'find its open transaction'],
] as const;

export function storeError(error: unknown, path: string): unknown {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return error;
  const { message, code } = error;
  if (code.startsWith('SQLITE_CONSTRAINT')) return new StoreError('refused', message, { cause: error });
  const [, problem, meaning, advice] = MEANINGS.find(([codes]) => codes.test(code)) ?? [];
  if (problem === undefined) return error;
  return new StoreError(problem, `${path} ${meaning} (${message}); ${advice}`, { cause: error });
}

/** As `storeError`, but blames a general error on the merchant's triggers, because SQLite does not name the trigger. */
export function rowError(error: unknown, path: string, triggersOf: () => readonly string[]): unknown {
  const meant = storeError(error, path);
  if (meant !== error || !(error instanceof Error && 'code' in error && error.code === 'SQLITE_ERROR')) return meant;
  const triggers = triggersOf();
  if (triggers.length === 0) return error;
  return new StoreError('refused', `${error.message} (in a trigger: ${triggers.join(', ')})`, { cause: error });
}

/** Returns why a file cannot be opened or made, without the names of system calls. */
export function fileFault(error: Error, path: string): string {
  if (!existsSync(dirname(path))) return `there is no folder ${dirname(path)}`;
  const [, words = error.message] = /^E\w+: ([^,]+), /.exec(error.message) ?? [];
  return `${words} (${(error as NodeJS.ErrnoException).code})`;
}

/** As `storeError`, also for errors of the operating system about a file that cannot be made or opened. */
export function openError(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !('errno' in error)) return storeError(error, path);
  const message = `${path} cannot be opened (${fileFault(error, path)}); check its folder and the permissions`;
  return new StoreError('disk', message, { cause: error });
}

export function missingDatabase(path: string): StoreError {
  const next = existsSync(dirname(path))
    ? '; make it with: order-sync db migrate'
    : ', nor its folder: correct database.url, or make both with: order-sync db migrate --create-folder';
  return unusable(`there is no database at ${path}${next}`);
}

export function isBusy(error: unknown): boolean {
  const meant = storeError(error, '');
  return meant instanceof StoreError && meant.problem === 'busy';
}
