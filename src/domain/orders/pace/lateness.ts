/** How late changes were seen, in milliseconds; of so many changes. */
export interface Lateness {
  readonly changes: number;
  readonly meanMs: number;
  /** So late was the latest of 19 in 20. */
  readonly p95Ms: number;
}

/** Sums up how late changes were seen; undefined where it is known of none. */
export function latenessOf(lateMs: readonly number[]): Lateness | undefined {
  if (lateMs.length === 0) return undefined;
  const sorted = Float64Array.from(lateMs).toSorted();
  const meanMs = sorted.reduce((sum, ms) => sum + ms, 0) / sorted.length;
  return { changes: sorted.length, meanMs, p95Ms: sorted[Math.ceil(sorted.length * 0.95) - 1] ?? Number.NaN };
}
