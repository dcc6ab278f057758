import { AGE_BINS, BIN_STARTS, binEnd, binOf } from './ages.ts';

/** A time in a status that has ended, in milliseconds since it began: it was still there at `from`, and no more at `to`. */
export interface EndedStay {
  readonly from: number;
  readonly to: number;
}

const PRIOR_ENDS = 0.7;
const PRIOR_AGE_MS = 30_000;
/** Beyond this age nothing is told apart. */
const LONGEST_MS = 2 * (BIN_STARTS.at(-1) ?? 0);

/** Of each bin, what is assumed while nothing is known: a hazard of 0.7 / (age + 30 s), as if one order had been watched through it. */
const PRIOR = BIN_STARTS.map((start, bin) => {
  const end = Math.min(binEnd(bin), LONGEST_MS);
  return { ends: PRIOR_ENDS * Math.log((end + PRIOR_AGE_MS) / (start + PRIOR_AGE_MS)), watchedMs: end - start };
});

/**
 * How long orders stay in a status: in each bin of age the ends that were seen, and the time for which orders were watched.
 * The hazard of a bin, the chance to end in a moment of it, is the one divided by the other.
 */
export class StayTimes {
  readonly #ends = new Float64Array(AGE_BINS);
  readonly #watchedMs = new Float64Array(AGE_BINS);
  #stays = 0;

  /** The number of stays that have ended. */
  get stays(): number {
    return this.#stays;
  }

  /**
   * Counts a stay that has ended. Nobody saw when, so that its end is spread evenly over the time between the two looks: an
   * order that was looked at once an hour does not teach that orders stay for an hour. Times that cannot be are left out.
   */
  ended({ from, to }: EndedStay): void {
    if (!(to >= 0 && to <= LONGEST_MS)) return;
    const first = Math.min(Math.max(0, from), to);
    if (Number.isNaN(first)) return;
    this.#stays += 1;
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

  /** Counts an order that is in the status, and was there until its age `untilMs` at least. */
  watched(untilMs: number): void {
    const until = Math.min(untilMs, LONGEST_MS);
    if (!(until > 0)) return;
    for (let bin = 0; bin <= binOf(until); bin += 1) {
      this.#watchedMs[bin]! += Math.min(until, binEnd(bin)) - BIN_STARTS[bin]!;
    }
  }

  /** Of each bin, the chance for each millisecond that a stay ends. */
  hazards(): Float64Array {
    return Float64Array.from(PRIOR, (prior, bin) => {
      return (this.#ends[bin]! + prior.ends) / (this.#watchedMs[bin]! + prior.watchedMs);
    });
  }
}

/** The age by which a part of all stays has ended, such as 0.5; infinite where it is beyond all that is told apart. */
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

/** The part of the stays that last until `ageMs` which last `ms` longer at least. */
export function lasting(hazards: Float64Array, ageMs: number, ms: number): number {
  const end = ageMs + ms;
  let exponent = 0;
  for (let bin = binOf(ageMs); bin < AGE_BINS && BIN_STARTS[bin]! < end; bin += 1) {
    exponent += hazards[bin]! * (Math.min(end, binEnd(bin)) - Math.max(ageMs, BIN_STARTS[bin]!));
  }
  return Math.exp(-exponent);
}

/** Halvings of the time within a bin in which the gap is sought: a bin of a month is known to a tenth of a second. */
const HALVINGS = 26;

/**
 * The time after which an order is looked up again that was in its status at the age `ageMs`, of at most `mostMs`.
 *
 * With F the distribution of the time until it leaves, and a price C of a look-up in milliseconds of delay, look-ups every x cost
 * (C + ∫₀ˣF) / F(x) until one of them finds the change: so much for each, and 1 / F(x) of them. The gap is the x at which that is
 * least; it rises with the price. A look-up that costs more than a whole stay is late, but it comes: the change waits until it is
 * seen. (With x in the place of F(x), the cost of each moment, a stay that is shorter than the price is never looked up.)
 *
 * Within a bin, in which the hazard h is constant, the cost falls while F² / (h·S) − ∫₀ˣF is below C, which rises with x.
 */
export function gapMs(hazards: Float64Array, ageMs: number, priceMs: number, mostMs: number): number {
  let best = { gap: mostMs, cost: Number.POSITIVE_INFINITY };
  const weigh = ({ gap, left, lateMs }: Look) => {
    const cost = (priceMs + lateMs) / left;
    if (cost < best.cost) best = { gap, cost };
  };
  let from: Look = { gap: 0, exponent: 0, left: 0, lateMs: 0 };
  // As F is at most 1, what comes later costs more than the delay until then.
  for (let bin = binOf(ageMs); bin < AGE_BINS && from.gap < mostMs && priceMs + from.lateMs < best.cost; bin += 1) {
    const hazard = hazards[bin]!;
    const end = lookAfter(from, Math.min(mostMs, binEnd(bin) - ageMs) - from.gap, hazard);
    weigh(end);
    if (isEnough(end, hazard, priceMs) && !isEnough(from, hazard, priceMs)) {
      let [least, most] = [0, end.gap - from.gap];
      for (let halving = 0; halving < HALVINGS; halving += 1) {
        const middle = (least + most) / 2;
        if (isEnough(lookAfter(from, middle, hazard), hazard, priceMs)) most = middle;
        else least = middle;
      }
      weigh(lookAfter(from, most, hazard));
    }
    from = end;
  }
  return best.gap;
}

/** A look-up after a time: the chance that the order has left by then, and how late that is seen in the mean of all, ∫₀ˣF. */
interface Look {
  readonly gap: number;
  readonly exponent: number;
  readonly left: number;
  readonly lateMs: number;
}

/** The same look-up by so much later, with one hazard in between. */
function lookAfter({ gap, exponent, left, lateMs }: Look, ms: number, hazard: number): Look {
  const rise = hazard * ms;
  const later = exponent + rise;
  // The difference of two numbers that are nearly the same would be noise.
  const unleft = rise < 1e-4 ? (rise * ms * (1 - rise / 3)) / 2 : ms + Math.expm1(-rise) / hazard;
  return {
    gap: gap + ms,
    exponent: later,
    left: -Math.expm1(-later),
    lateMs: lateMs + left * ms + (1 - left) * unleft,
  };
}

/** From here on, with this hazard, each moment adds more delay than the better chance is worth. */
function isEnough({ exponent, left, lateMs }: Look, hazard: number, priceMs: number): boolean {
  return (left * left) / (hazard * Math.exp(-exponent)) - lateMs >= priceMs;
}
