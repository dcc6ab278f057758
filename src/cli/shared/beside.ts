/** Asks the process that drives an account to do work, instead of driving it here. */
export interface Beside<Value> extends AsyncDisposable {
  /** Undefined if no process answers. Nothing was done then. Throws `OwnedError` if this process must not own the account. */
  ask(): Promise<{ readonly value: Value } | undefined>;
  /** Why it may not answer. */
  readonly unreachable: string;
}
