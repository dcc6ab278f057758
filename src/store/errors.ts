/** They decide the exit code. `denied` comes of a missing right or a wrong password, which a person may be changing meanwhile. */
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

/** The error of a file that is no longer at its path: what is written to it now is lost. */
export function lostFile(path: string): StoreError {
  const advice = 'if you still need it, put it back and start again';
  return new StoreError('disk', `${path} was moved or deleted while it was open; ${advice}`);
}

/** An order's row is locked by a transaction of the merchant's that is still open: no other order waits for it. */
export class RowLockedError extends StoreError {
  constructor(options?: ErrorOptions) {
    super('busy', 'its row is locked by an open transaction of another program; end that', options);
  }
}

export class UnlistedError extends StoreError {}

export class OwnedError extends Error {
  override readonly name = 'OwnedError';
}

/** True if the database failed with an unknown code: the same work may pass, or fail because of one row. */
export function isUnlisted(error: unknown): error is Error {
  if (error instanceof StoreError || !(error instanceof Error)) return error instanceof UnlistedError;
  return 'code' in error && String(error.code).startsWith('SQLITE_');
}

/** True if the database takes nothing for now, which passes by itself or when a person mends it. */
export function isPassing(error: unknown): error is StoreError {
  return error instanceof StoreError && ['denied', 'disk', 'busy'].includes(error.problem);
}

/** True when the database failed, not the program: unlike the errors of our own code, those of a driver bear a code. */
export function isOfDatabase(error: unknown): boolean {
  if (error instanceof StoreError) return true;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  // Node's own errors have codes too: `ERR_…`.
  return typeof code === 'string' && !code.startsWith('ERR_');
}
