import { lasting, LONGEST_MS } from './stay-times.ts';

/** A look-up that an order has in a status. */
export interface ExpectedLookup {
  /** How long the order has been in the status by then, in milliseconds. */
  readonly ageMs: number;
  /** The part of the orders that have it: those that were still there at the look-up before. */
  readonly part: number;
}

/** Of the orders that stay for the longest, the look-ups are not counted. */
const LEAST_PART = 0.001;
const MOST_LOOKUPS = 10_000;

/**
 * The look-ups that are expected while an order is in a status: from when it was seen to come into it, to the one that sees it
 * leave. The sum of their parts is the number of look-ups of an order. `gapMs` is the wait for the next look-up at an age.
 */
export function* expectedLookups(
  hazards: Float64Array,
  gapMs: (ageMs: number) => number,
): Generator<ExpectedLookup, void, undefined> {
  let [ageMs, part] = [0, 1];
  for (let count = 0; count < MOST_LOOKUPS && part >= LEAST_PART && ageMs < LONGEST_MS; count += 1) {
    const gap = gapMs(ageMs);
    yield { ageMs: ageMs + gap, part };
    part *= lasting(hazards, ageMs, gap);
    ageMs += gap;
  }
}

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
  return { changes: sorted.length, meanMs, p95Ms: atPart(sorted, 0.95) };
}

/** Gives the smallest of the times, which are in their order, that a part of them does not exceed. */
export function atPart(sorted: Float64Array, part: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
}
