/** Orders that are alike: those of one status and one bin of age. */
export interface PacedGroup {
  /** Look-ups a millisecond of all of them at a price; it falls with the price. */
  demand(priceMs: number): number;
}

/** Look-ups a millisecond. */
export interface Budget {
  /** What is set aside for orders that are followed (`follow.share` of the rate). */
  readonly budget: number;
  /** What the exchange allows. */
  readonly rate: number;
}

/**
 * A look-up is never worth more than so much delay, in milliseconds: where that is too little, all that is due waits in its
 * turn, which costs less than new orders that are looked up as seldom as those that never change.
 */
const HIGHEST_MS = 60 * 60_000;
/** The price is found to a part of this. */
const PRECISION = 0.01;
/** The part of the budget that nobody else can take: from orders that are to be fresh, or from those of one kind. */
const RESERVED = 0.2;
/** The part of the rate up to which look-ups are planned. */
const MOST_OF_RATE = 0.98;

/** Look-ups a millisecond of all groups at a price. */
export function demandAt(groups: readonly PacedGroup[], priceMs: number): number {
  return groups.reduce((sum, group) => sum + group.demand(priceMs), 0);
}

/**
 * Solves the price of a look-up: the lowest, of at least `leastMs`, at which the groups together take no more than `budget`
 * look-ups a millisecond. Those that must be made at any price are not to be saved: where they leave less than a fifth of the
 * budget, the others have that fifth all the same, as far as the rate allows. Else a great many old orders would have new ones
 * looked up never. Where even the highest price is too low, it is the highest: the oldest due goes first.
 */
export function solvePrice(groups: readonly PacedGroup[], { budget, rate }: Budget, leastMs: number): number {
  const atMost = demandAt(groups, HIGHEST_MS) + RESERVED * budget;
  const allowed = Math.max(budget, Math.min(atMost, MOST_OF_RATE * rate));
  if (demandAt(groups, leastMs) <= allowed) return leastMs;
  let [tooLow, enough] = [leastMs, Math.max(leastMs, HIGHEST_MS)];
  if (demandAt(groups, enough) > allowed) return enough;
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
  { budget, rate }: Budget,
  leastMs: number,
): readonly [number, number] {
  const common = solvePrice([...one, ...other], { budget, rate }, leastMs);
  const reserved = RESERVED * budget;
  const rest = (kind: readonly PacedGroup[], spared: readonly PacedGroup[], priceMs: number) =>
    solvePrice(kind, { budget: Math.max(reserved, budget - demandAt(spared, priceMs)), rate }, leastMs);
  const alone = solvePrice(one, { budget: reserved, rate }, leastMs);
  if (alone < common) return [alone, rest(other, one, alone)];
  const otherAlone = solvePrice(other, { budget: reserved, rate }, leastMs);
  return otherAlone < common ? [rest(one, other, otherAlone), otherAlone] : [common, common];
}
