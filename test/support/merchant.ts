/**
 * The merchant's own connection, as tests use it: the part of better-sqlite3's interface that both dialects have. Everything
 * happens at once, as in a program of the merchant's that knows nothing of this one.
 */
export interface Merchant {
  prepare(sql: string): MerchantQuery;
  /** Runs one or more statements without values. */
  exec(sql: string): unknown;
  /** Returns a function that runs `work` in a transaction. */
  transaction(work: () => void): () => void;
  close(): unknown;
}

/** A statement that takes its values at each run: in their order, or by their names. */
export interface MerchantQuery {
  run(...values: unknown[]): { readonly changes: number };
  get(...values: unknown[]): unknown;
  all(...values: unknown[]): unknown[];
  /** From now on each row is the value of its first column. */
  pluck(): MerchantQuery;
  /** From now on each row is an array. */
  raw(): MerchantQuery;
}
