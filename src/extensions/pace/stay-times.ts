const SECOND = 1_000;
const FIRST_MS = 5 * SECOND;
const GROWTH = 1.45;

export const AGE_BINS = 40;

/** The beginnings of the bins of age, in milliseconds: 0, then 5 s × 1.45ⁿ up to 78 days. The last bin has no end. */
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
  // At the start of a bin, rounding in the logarithm may yield the bin beside it.
  if (ageMs < (BIN_STARTS[guess] ?? 0)) return guess - 1;
  return ageMs >= binEnd(guess) ? guess + 1 : guess;
}

/** A stay that has ended, in ms since its beginning: the order had the status at `from`, and had left it at `to`. */
export type EndedStay = { readonly from: number; readonly to: number };

const PRIOR_ENDS = 0.7;
const PRIOR_AGE_MS = 30_000;
export const LONGEST_MS = 2 * (BIN_STARTS.at(-1) ?? 0);

/** The prior of each bin: an order watched through the bin, and the ends expected at a hazard of 0.7 / (age + 30 s). */
const PRIOR = BIN_STARTS.map((start, bin) => {
  const end = Math.min(binEnd(bin), LONGEST_MS);
  return { ends: PRIOR_ENDS * Math.log((end + PRIOR_AGE_MS) / (start + PRIOR_AGE_MS)), watchedMs: end - start };
});

/** Ends of stays and watched time, by bin of age. Ends / time is the hazard: the chance per ms that a stay ends. */
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

  /** Spreads the end of a stay over `from` to `to`. Otherwise, hourly look-ups would make stays seem an hour long. */
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
      // The part of the stay that has not ended falls evenly, to 0 at `to`.
      this.#watchedMs[bin]! += ((end - start) * (to - (start + end) / 2)) / span;
    }
  }

  /** Adds the time in which an order kept its status: from age `fromMs` to age `untilMs`, at most to `LONGEST_MS`. */
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

/** Returns the part of the stays of age `ageMs` that ends within `ms`. `expm1` keeps the digits of small parts. */
export function leaving(hazards: Float64Array, ageMs: number, ms: number): number {
  return -Math.expm1(-passed(hazards, ageMs, ms));
}

/** Returns the hazard summed over `ms` from the age `ageMs`. The part of stays that lasts is e^−sum. */
export function passed(hazards: Float64Array, ageMs: number, ms: number): number {
  const end = ageMs + ms;
  let sum = 0;
  for (let bin = binOf(ageMs); bin < AGE_BINS && BIN_STARTS[bin]! < end; bin += 1) {
    sum += hazards[bin]! * (Math.min(end, binEnd(bin)) - Math.max(ageMs, BIN_STARTS[bin]!));
  }
  return sum;
}

/**
 * Returns the ms, at most `mostMs`, until the next look-up of an order that has had its status for `ageMs`.
 *
 * A change waits until a look-up sees it. F is the distribution of the time until the change, and C the price of a
 * look-up in ms of delay. Look-ups every x ms cost (C + ∫₀ˣF) / F(x) until one of them sees the change. At a constant
 * hazard h this cost is least if u = h·x has e^u − 1 − u = h·C. So the order is looked up when the hazard summed since
 * `ageMs` reaches `enough(h·C)`, with the h of the bin of that moment. The divisor is F(x) and not x, because with x a
 * stay that is shorter than C would never be looked up.
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

/** Below this cost, the first two terms of the series have 7 correct digits. */
const SMALL = 1e-6;

/** Returns the root u of e^u − 1 − u = cost, by Newton's method. */
export function enough(cost: number): number {
  if (cost < SMALL) return Math.sqrt(2 * cost) - cost / 3;
  let u = cost < 1 ? Math.sqrt(2 * cost) : Math.log1p(cost + Math.log1p(cost));
  for (let step = 0; step < 4; step += 1) u -= (Math.expm1(u) - u - cost) / Math.expm1(u);
  return u;
}
