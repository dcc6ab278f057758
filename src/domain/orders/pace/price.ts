/** Orders that are looked up at the same gap: those of one status and one bin of age. */
export interface PacedGroup {
  readonly orders: number;
  /** The time between look-ups of one of them at a price, in milliseconds; it rises with the price. */
  gapMs(priceMs: number): number;
}

/** Beyond this price nothing is looked up sooner than it must be. */
const HIGHEST_MS = 400 * 24 * 60 * 60_000;
/** The price is found to a part of this. */
const PRECISION = 0.01;

/** Look-ups a millisecond of all groups at a price. */
export function demandAt(groups: readonly PacedGroup[], priceMs: number): number {
  return groups.reduce((sum, group) => sum + group.orders / group.gapMs(priceMs), 0);
}

/**
 * Solves the price of a look-up: the lowest, of at least `leastMs`, at which the groups together take no more than `budget`
 * look-ups a millisecond. Where even the highest one does not bring that about, it is the highest: then orders are looked up
 * as late as they may, and the oldest due first.
 */
export function solvePrice(groups: readonly PacedGroup[], budget: number, leastMs: number): number {
  if (demandAt(groups, leastMs) <= budget) return leastMs;
  let [tooLow, enough] = [leastMs, Math.max(leastMs, HIGHEST_MS)];
  if (demandAt(groups, enough) > budget) return enough;
  while (enough / tooLow > 1 + PRECISION) {
    const middle = Math.sqrt(tooLow * enough);
    if (demandAt(groups, middle) <= budget) enough = middle;
    else tooLow = middle;
  }
  return enough;
}
