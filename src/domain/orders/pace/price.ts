/** Orders that are looked up at the same gap: those of one status and one bin of age. */
export interface PacedGroup {
  readonly orders: number;
  /** The time between look-ups of one of them at a price, in milliseconds; it rises with the price. */
  gapMs(priceMs: number): number;
}

/** At this price nothing is looked up sooner than it must be. */
const HIGHEST_MS = 1e15;
/** The price is found to a part of this. */
const PRECISION = 0.01;
/** The part of the budget that nobody else can take: from orders that are to be fresh, or from those of one kind. */
const RESERVED = 0.2;

/** Look-ups a millisecond of all groups at a price. */
export function demandAt(groups: readonly PacedGroup[], priceMs: number): number {
  return groups.reduce((sum, group) => sum + group.orders / group.gapMs(priceMs), 0);
}

/**
 * Solves the price of a look-up: the lowest, of at least `leastMs`, at which the groups together take no more than `budget`
 * look-ups a millisecond. Those that must be made at any price are not to be saved: where they leave less than a fifth of the
 * budget, the others have that fifth all the same. Else a great many old orders would have new ones looked up never.
 */
export function solvePrice(groups: readonly PacedGroup[], budget: number, leastMs: number): number {
  const allowed = Math.max(budget, demandAt(groups, HIGHEST_MS) + RESERVED * budget);
  if (demandAt(groups, leastMs) <= allowed) return leastMs;
  let [tooLow, enough] = [leastMs, HIGHEST_MS];
  while (enough / tooLow > 1 + PRECISION) {
    const middle = Math.sqrt(tooLow * enough);
    if (demandAt(groups, middle) <= allowed) enough = middle;
    else tooLow = middle;
  }
  return enough;
}

/**
 * Solves the prices of two kinds of orders that share a budget. It is one price, but neither kind pays more than it would with a
 * fifth of the budget to itself: a great many of one kind do not stand in the way of the other.
 */
export function solvePrices(
  [one, other]: readonly [readonly PacedGroup[], readonly PacedGroup[]],
  budget: number,
  leastMs: number,
): readonly [number, number] {
  const common = solvePrice([...one, ...other], budget, leastMs);
  const rest = (kind: readonly PacedGroup[], spared: readonly PacedGroup[], priceMs: number) =>
    solvePrice(kind, Math.max(RESERVED * budget, budget - demandAt(spared, priceMs)), leastMs);
  const alone = solvePrice(one, RESERVED * budget, leastMs);
  if (alone < common) return [alone, rest(other, one, alone)];
  const otherAlone = solvePrice(other, RESERVED * budget, leastMs);
  return otherAlone < common ? [rest(one, other, otherAlone), otherAlone] : [common, common];
}
