const SECOND = 1_000;
const FIRST_MS = 5 * SECOND;
const GROWTH = 1.45;

export const AGE_BINS = 40;

/** The beginnings of the bins of age, in milliseconds: 0, then 5 s × 1.45ⁿ up to 80 days. The last bin has no end. */
export const BIN_STARTS: readonly number[] = Array.from({ length: AGE_BINS }, (_, bin) =>
  bin === 0 ? 0 : FIRST_MS * GROWTH ** (bin - 1),
);

export function binEnd(bin: number): number {
  return BIN_STARTS[bin + 1] ?? Number.POSITIVE_INFINITY;
}

/** Returns the bin of an age in milliseconds; the first bin for an age below 0. */
export function binOf(ageMs: number): number {
  if (ageMs < FIRST_MS) return 0;
  const guess = Math.min(AGE_BINS - 1, 1 + Math.floor(Math.log(ageMs / FIRST_MS) / Math.log(GROWTH)));
  // The logarithm may be off by a rounding at the start of a bin.
  if (ageMs < (BIN_STARTS[guess] ?? 0)) return guess - 1;
  return ageMs >= binEnd(guess) ? guess + 1 : guess;
}

/** An ended stay in a status, in ms since its beginning: the order was still there at `from`, and not at `to`. */
export type EndedStay = { readonly from: number; readonly to: number };

const PRIOR_ENDS = 0.7;
const PRIOR_AGE_MS = 30_000;
export const LONGEST_MS = 2 * (BIN_STARTS.at(-1) ?? 0);

/** The prior of each bin: a hazard of 0.7 / (age + 30 s), as if one order had been watched through the bin. */
const PRIOR = BIN_STARTS.map((start, bin) => {
  const end = Math.min(binEnd(bin), LONGEST_MS);
  return { ends: PRIOR_ENDS * Math.log((end + PRIOR_AGE_MS) / (start + PRIOR_AGE_MS)), watchedMs: end - start };
});

/** Ends that were seen and time watched, by bin of age. Their quotient is the hazard: the chance to end in a moment. */
export class StayTimes {
  readonly #ends = new Float64Array(AGE_BINS);
  readonly #watchedMs = new Float64Array(AGE_BINS);
  stays = 0;

  copy(): StayTimes {
    const copy = new StayTimes();
    copy.#ends.set(this.#ends);
    copy.#watchedMs.set(this.#watchedMs);
    copy.stays = this.stays;
    return copy;
  }

  /** Spreads the unseen end of a stay between two looks, so that hourly looks do not teach stays of an hour. */
  ended({ from, to }: EndedStay): void {
    if (!(to >= 0 && to <= LONGEST_MS)) return;
    const first = Math.min(Math.max(0, from), to);
    if (Number.isNaN(first)) return;
    this.stays += 1;
    this.watched(first);
    const span = to - first;
    if (span === 0) {
      this.#ends[binOf(to)]! += 1;
      return;
    }
    for (let bin = binOf(first); bin <= binOf(to); bin += 1) {
      const start = Math.max(first, BIN_STARTS[bin]!);
      const end = Math.min(to, binEnd(bin));
      this.#ends[bin]! += (end - start) / span;
      // The part that is still there shrinks evenly.
      this.#watchedMs[bin]! += ((end - start) * (to - (start + end) / 2)) / span;
    }
  }

  /** Counts an order in the status from age `fromMs`, when its end would first be known, to at least `untilMs`. */
  watched(untilMs: number, fromMs = 0): void {
    const until = Math.min(untilMs, LONGEST_MS);
    const from = Math.max(0, fromMs);
    if (!(until > from)) return;
    for (let bin = binOf(from); bin <= binOf(until); bin += 1) {
      this.#watchedMs[bin]! += Math.min(until, binEnd(bin)) - Math.max(from, BIN_STARTS[bin]!);
    }
  }

  hazards(): Float64Array {
    return Float64Array.from(PRIOR, (prior, bin) => {
      return (this.#ends[bin]! + prior.ends) / (this.#watchedMs[bin]! + prior.watchedMs);
    });
  }
}

export function ageBy(part: number, hazards: Float64Array): number {
  let left = -Math.log(1 - part);
  for (let bin = 0; bin < AGE_BINS; bin += 1) {
    const hazard = hazards[bin]!;
    const most = hazard * (binEnd(bin) - BIN_STARTS[bin]!);
    if (left <= most) {
      const age = BIN_STARTS[bin]! + left / hazard;
      return age > LONGEST_MS ? Number.POSITIVE_INFINITY : age;
    }
    left -= most;
  }
  return Number.POSITIVE_INFINITY;
}

/** Returns the part of stays that ends within `ms`, exact for the smallest chances too. */
export function leaving(hazards: Float64Array, ageMs: number, ms: number): number {
  return -Math.expm1(-passed(hazards, ageMs, ms));
}

/** Returns the sum of the hazard over `ms` from an age on. The part of stays that lasts is e to its negative power. */
export function passed(hazards: Float64Array, ageMs: number, ms: number): number {
  const end = ageMs + ms;
  let sum = 0;
  for (let bin = binOf(ageMs); bin < AGE_BINS && BIN_STARTS[bin]! < end; bin += 1) {
    sum += hazards[bin]! * (Math.min(end, binEnd(bin)) - Math.max(ageMs, BIN_STARTS[bin]!));
  }
  return sum;
}

/**
 * Returns the time, at most `mostMs`, until an order at the age `ageMs` in its status is looked up again. The time
 * rises with the price.
 *
 * An order leaves a status once, and waits there until a look-up sees the change. With F the distribution of the time
 * until it leaves, and a price C of a look-up in milliseconds of delay, look-ups every x cost (C + ∫₀ˣF) / F(x) until
 * one of them finds the change. If the hazard h is constant, the cost is least when the sum of the hazard, u = h·x, has
 * e^u − 1 − u = h·C. So an order is looked up once the hazard of all bins that it has passed is enough by the hazard of
 * the bin that it has reached. If orders leave no more, little is enough: a change is seen at once. (With x in the
 * place of F(x), the cost of each moment, a stay that is shorter than the price would never be looked up.)
 */
export function gapMs(hazards: Float64Array, ageMs: number, priceMs: number, mostMs: number): number {
  let sum = 0;
  for (let bin = binOf(ageMs); bin < AGE_BINS; bin += 1) {
    const hazard = hazards[bin]!;
    const start = Math.max(0, BIN_STARTS[bin]! - ageMs);
    const end = binEnd(bin) - ageMs;
    const gap = start + Math.max(0, enough(hazard * priceMs) - sum) / hazard;
    if (gap < end || end >= mostMs) return Math.min(gap, mostMs);
    sum += hazard * (end - start);
  }
  return mostMs;
}

/** Below this, the first two terms of the series are exact. */
const SMALL = 1e-6;

/** The root u of e^u − 1 − u = cost, by Newton's method. */
export function enough(cost: number): number {
  if (cost < SMALL) return Math.sqrt(2 * cost) - cost / 3;
  let u = cost < 1 ? Math.sqrt(2 * cost) : Math.log1p(cost + Math.log1p(cost));
  for (let step = 0; step < 4; step += 1) u -= (Math.expm1(u) - u - cost) / Math.expm1(u);
  return u;
}
