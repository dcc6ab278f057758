const SECOND = 1_000;
const FIRST_MS = 5 * SECOND;
const GROWTH = 1.45;

/** The number of bins into which ages are sorted. */
export const AGE_BINS = 40;

/** Where the bins of age begin, in milliseconds: 0, then 5 s × 1.45ⁿ up to 80 days. The last one has no end. */
export const BIN_STARTS: readonly number[] = Array.from({ length: AGE_BINS }, (_, bin) =>
  bin === 0 ? 0 : FIRST_MS * GROWTH ** (bin - 1),
);

/** The age at which a bin ends, in milliseconds. */
export function binEnd(bin: number): number {
  return BIN_STARTS[bin + 1] ?? Number.POSITIVE_INFINITY;
}

/** The bin of an age in milliseconds; the first one for an age below 0. */
export function binOf(ageMs: number): number {
  if (ageMs < FIRST_MS) return 0;
  const guess = Math.min(AGE_BINS - 1, 1 + Math.floor(Math.log(ageMs / FIRST_MS) / Math.log(GROWTH)));
  // The logarithm may be off by a rounding at the start of a bin.
  if (ageMs < (BIN_STARTS[guess] ?? 0)) return guess - 1;
  return ageMs >= binEnd(guess) ? guess + 1 : guess;
}
