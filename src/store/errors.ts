/** What can be wrong with the database; decides the exit code. */
export const STORE_PROBLEMS = ['unusable', 'disk', 'busy', 'refused'] as const;
export type StoreProblem = (typeof STORE_PROBLEMS)[number];

/** The database cannot do what was asked. The message says what happened and what to do. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly problem: StoreProblem;
  constructor(problem: StoreProblem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.problem = problem;
  }
}

/** Another process drives this account. */
export class OwnedError extends Error {
  override readonly name = 'OwnedError';
}

const CORRUPT = ['SQLITE_CORRUPT', 'SQLITE_NOTADB'];
const DISK = ['SQLITE_FULL', 'SQLITE_IOERR', 'SQLITE_READONLY', 'SQLITE_CANTOPEN', 'SQLITE_PERM'];

/** Says what an error of the driver means, or gives it back as it is when it is none. */
export function storeError(error: unknown, path: string): unknown {
  const code = driverCode(error);
  if (error instanceof StoreError || code === undefined) return error;
  const detail = (error as Error).message;
  if (CORRUPT.some((prefix) => code.startsWith(prefix))) {
    return new StoreError('unusable', `${path} is not a sound SQLite database (${detail}); restore a backup`, {
      cause: error,
    });
  }
  if (DISK.some((prefix) => code.startsWith(prefix))) {
    return new StoreError('disk', `${path} cannot be written (${detail}); check free space and permissions`, {
      cause: error,
    });
  }
  if (code.startsWith('SQLITE_BUSY')) {
    return new StoreError('busy', `${path} is locked by another program for too long; find its open transaction`, {
      cause: error,
    });
  }
  if (code.startsWith('SQLITE_CONSTRAINT')) return new StoreError('refused', detail, { cause: error });
  return error;
}

/** As `storeError`, and for what the system itself says of a file that cannot be made or opened. */
export function openError(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !('errno' in error)) return storeError(error, path);
  const message = `${path} cannot be opened (${error.message}); check its folder and the permissions`;
  return new StoreError('disk', message, { cause: error });
}

/** Whether the database was locked by another connection, so that trying again helps. */
export function isBusy(error: unknown): boolean {
  return driverCode(error)?.startsWith('SQLITE_BUSY') ?? false;
}

/** Whether the database failed, not the program. */
export function isOfDatabase(error: unknown): boolean {
  return error instanceof StoreError || driverCode(error) !== undefined;
}

function driverCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : undefined;
}
