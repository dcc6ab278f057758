/** The exit code depends on the problem. `denied` is a missing right or wrong password, which a person may correct. */
export const STORE_PROBLEMS = ['unusable', 'denied', 'disk', 'busy', 'refused'] as const;
export type StoreProblem = (typeof STORE_PROBLEMS)[number];

export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly problem: StoreProblem;
  constructor(problem: StoreProblem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.problem = problem;
  }
}

export function unusable(message: string, options?: ErrorOptions): StoreError {
  return new StoreError('unusable', message, options);
}

/** Returns the error for an open file that is no longer at its path. Writes to that file are lost. */
export function lostFile(path: string): StoreError {
  const advice = 'if you still need it, put it back and start again';
  return new StoreError('disk', `${path} was moved or deleted while it was open; ${advice}`);
}

/** An open transaction of a merchant's program locks the row of an order. Other orders do not wait for that row. */
export class RowLockedError extends StoreError {
  constructor(options?: ErrorOptions) {
    super('busy', 'an open transaction of another program locks the row of the order; end that transaction', options);
  }
}

export class UnlistedError extends StoreError {}

export class OwnedError extends Error {
  override readonly name = 'OwnedError';
}

/** Returns true if the database failed with a code that this program does not list: a retry may succeed or not. */
export function isUnlisted(error: unknown): error is Error {
  if (error instanceof StoreError || !(error instanceof Error)) return error instanceof UnlistedError;
  return 'code' in error && String(error.code).startsWith('SQLITE_');
}

/** Returns true if a retry may succeed once the cause has ended: a lock, a disk fault, or a missing right. */
export function isPassing(error: unknown): error is StoreError {
  return error instanceof StoreError && ['denied', 'disk', 'busy'].includes(error.problem);
}

/** Returns true if the database failed, not the program: errors of a driver have a code, and our own have none. */
export function isOfDatabase(error: unknown): boolean {
  if (error instanceof StoreError) return true;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  // Node's own errors have codes too: `ERR_…`.
  return typeof code === 'string' && !code.startsWith('ERR_');
}
