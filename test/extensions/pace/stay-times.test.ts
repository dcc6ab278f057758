import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  AGE_BINS,
  ageBy,
  BIN_STARTS,
  binEnd,
  binOf,
  enough,
  gapMs,
  leaving,
  LONGEST_MS,
  passed,
  StayTimes,
} from '../../../src/extensions/pace/stay-times.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../support/tracking.ts';

const MOST = 7 * DAY;
const age = () => fc.double({ min: 0, max: 200 * DAY, noNaN: true });
const price = () => fc.double({ min: 1, max: 30 * DAY, noNaN: true });

/** The part of stays that lasts `ms` longer. */
const lasting = (...stay: Parameters<typeof passed>) => Math.exp(-passed(...stay));

/** Stays of all kinds, also such that cannot be. */
const anyStays = () =>
  fc.array(fc.record({ from: fc.double({ max: 1e14, min: -1e14 }), to: fc.double({ max: 1e14, min: -1e14 }) }), {
    maxLength: 20,
  });

function learned(stays: readonly { from: number; to: number }[], watched: readonly number[] = []): Float64Array {
  const times = new StayTimes();
  for (const stay of stays) times.ended(stay);
  for (const until of watched) times.watched(until);
  return times.hazards();
}

/** Stays that end at one age, seen to the second. */
const endingAt = (ms: number, count = 200) => Array.from({ length: count }, () => ({ from: ms - SECOND, to: ms }));

/** The cost of all look-ups until one finds the change, each after `part` of the gap, by sums over small steps. */
function costOf(hazards: Float64Array, ageMs: number, priceMs: number, part: number): number {
  const steps = 10;
  let [cost, left, since] = [0, 1, ageMs];
  for (let look = 0; look < 1_000 && left > 1e-3; look += 1) {
    const gap = part * gapMs(hazards, since, priceMs, MOST);
    let late = 0;
    for (let step = 0; step < steps; step += 1)
      late += leaving(hazards, since, ((step + 0.5) * gap) / steps) * (gap / steps);
    cost += left * (priceMs + late);
    left *= lasting(hazards, since, gap);
    since += gap;
  }
  return cost;
}

describe('the bins of age', () => {
  it('hold each age between their ends', () => {
    fc.assert(
      fc.property(age(), (ms) => {
        const bin = binOf(ms);
        expect(BIN_STARTS[bin]).toBeLessThanOrEqual(ms);
        expect(binEnd(bin)).toBeGreaterThan(ms);
      }),
    );
    expect(BIN_STARTS.map(binOf)).toEqual(Array.from({ length: AGE_BINS }, (_, bin) => bin));
    expect([binOf(-1), binOf(Number.MAX_VALUE)]).toEqual([0, AGE_BINS - 1]);
    const justBefore = BIN_STARTS.slice(1).map((start) => start * (1 - Number.EPSILON));
    expect(justBefore.map(binOf)).toEqual(BIN_STARTS.slice(1).map((_, bin) => bin));
  });

  it('begin at 0 and at 5 s, and each is 1.45 times as long as the one before from there, up to 80 days', () => {
    expect(BIN_STARTS.slice(0, 3)).toEqual([0, 5 * SECOND, 7.25 * SECOND]);
    expect(BIN_STARTS.at(-1)! / DAY).toBeCloseTo(78.4, 1);
  });
});

describe('the times of stays', () => {
  it('give the median of what was seen', () => {
    const stays = Array.from({ length: 2_000 }, (_, index) => ({ from: index * SECOND, to: index * SECOND }));
    expect(ageBy(0.5, learned(stays)) / SECOND).toBeCloseTo(1_000, -2);
    expect(ageBy(0.9, learned(stays)) / SECOND).toBeCloseTo(1_800, -2);
  });

  it('assume with nothing seen that a stay lasts the longer the older it is', () => {
    const hazards = [...learned([])];
    expect(hazards).toEqual(hazards.toSorted((one, other) => other - one));
    expect(Math.min(...hazards)).toBeGreaterThan(0);
  });

  it('assume with nothing seen a hazard of 0.7 / (age + 30 s)', () => {
    for (const start of BIN_STARTS)
      expect(lasting(learned([]), 0, start)).toBeCloseTo((1 + start / (30 * SECOND)) ** -0.7, 12);
    // The last bin is watched to twice the age at which it begins.
    expect(LONGEST_MS).toBe(2 * BIN_STARTS.at(-1)!);
    expect(lasting(learned([]), 0, LONGEST_MS)).toBeCloseTo((1 + LONGEST_MS / (30 * SECOND)) ** -0.7, 12);
  });

  const LAST = BIN_STARTS.at(-1)!;
  it.each<[string, (times: StayTimes) => void, Readonly<Record<number, readonly [ends: number, seconds: number]>>]>([
    ['seen to end at once', (times) => times.ended({ from: 3_000, to: 3_000 }), { 0: [1, 3] }],
    ['that ends as it begins', (times) => times.ended({ from: 0, to: 0 }), { 0: [1, 0] }],
    ['that ends in the second bin', (times) => times.ended({ from: 6_000, to: 6_000 }), { 0: [0, 5], 1: [1, 1] }],
    ['whose end is spread in a bin', (times) => times.ended({ from: 1_000, to: 3_000 }), { 0: [1, 2] }],
    // Three fifths end in the first bin, which begins with all and ends with two fifths, and the others in the second
    // one.
    ['spread over two', (times) => times.ended({ from: 2_000, to: 7_000 }), { 0: [0.6, 4.1], 1: [0.4, 0.4] }],
    ['that was looked at before it began', (times) => times.ended({ from: -9, to: 2_000 }), { 0: [1, 1] }],
    ['that was there after its end', (times) => times.ended({ from: 9_000, to: 2_000 }), { 0: [1, 2] }],
    ['that lasts too long', (times) => times.ended({ from: 0, to: LONGEST_MS + 1 }), {}],
    ['watched in vain', (times) => times.watched(7_000), { 0: [0, 5], 1: [0, 2] }],
    ['watched from an age on', (times) => times.watched(7_000, 6_000), { 1: [0, 1] }],
    ['watched from before it began', (times) => times.watched(1_000, -6_000), { 0: [0, 1] }],
    ['watched for too long', (times) => times.watched(1e300, LAST), { [AGE_BINS - 1]: [0, LAST / SECOND] }],
  ])('count the ends and the time watched of each bin: of one %s', (_name, add, counted) => {
    const times = new StayTimes();
    add(times);
    const assumed = learned([]);
    const expected = [...assumed].map((hazard, bin) => {
      const [ends, seconds] = counted[bin] ?? [0, 0];
      const watchedMs = Math.min(binEnd(bin), LONGEST_MS) - BIN_STARTS[bin]!;
      return (ends + hazard * watchedMs) / (seconds * SECOND + watchedMs);
    });
    for (const [bin, hazard] of times.hazards().entries()) expect(hazard / expected[bin]!).toBeCloseTo(1, 9);
  });

  it('count no stay beyond the highest age that is distinguished, nor one whose times cannot be read', () => {
    const times = new StayTimes();
    times.ended({ from: LONGEST_MS, to: LONGEST_MS });
    times.ended({ from: LONGEST_MS, to: LONGEST_MS + 1 });
    times.ended({ from: Number.NaN, to: HOUR });
    expect(times.stays).toBe(1);
  });

  it('are copied as they are, and then count for themselves', () => {
    const times = new StayTimes();
    times.ended({ from: 2_000, to: 7_000 });
    const copy = times.copy();
    expect([copy.hazards(), copy.stays]).toEqual([times.hazards(), 1]);
    copy.ended({ from: 2_000, to: 7_000 });
    expect(times.hazards()).toEqual(learned([{ from: 2_000, to: 7_000 }]));
    expect([times.stays, copy.stays]).toEqual([1, 2]);
  });

  it('spread an end over the time without a look-up', () => {
    const hourly = learned(Array.from({ length: 500 }, () => ({ from: 0, to: HOUR })));
    // A quarter of the stays may have ended in the first quarter of an hour, as far as anybody can know.
    expect(1 - lasting(hourly, 0, 15 * MINUTE)).toBeCloseTo(0.25, 1);
  });

  it('count the time for which an order was watched in vain', () => {
    const never = learned(
      [],
      Array.from({ length: 1_000 }, () => 10 * DAY),
    );
    expect(1 - lasting(never, HOUR, DAY)).toBeLessThan(0.01);
    expect(1 - lasting(learned([]), HOUR, DAY)).toBeGreaterThan(0.5);
  });

  it('leave out what cannot be, and stay usable whatever comes', () => {
    const impossible = [
      { from: 0, to: -SECOND },
      { from: Number.NaN, to: SECOND },
      { from: 0, to: Number.NaN },
      { from: 0, to: Number.POSITIVE_INFINITY },
    ];
    expect(learned(impossible, [-1, Number.NaN])).toEqual(learned([]));
    fc.assert(
      fc.property(anyStays(), fc.array(fc.double()), age(), price(), (stays, watched, ageMs, priceMs) => {
        const hazards = learned(stays, watched);
        for (const hazard of hazards) expect(hazard).toBeGreaterThan(0);
        const gap = gapMs(hazards, ageMs, priceMs, MOST);
        expect(gap).toBeGreaterThan(0);
        expect(gap).toBeLessThanOrEqual(MOST);
      }),
    );
  });
});

describe('the chance to leave', () => {
  const even = (hazard: number) => new Float64Array(AGE_BINS).fill(hazard);

  it('is that of an exponential time if the hazard does not change', () => {
    fc.assert(
      fc.property(age(), age(), fc.double({ min: 1e-9, max: 1e-3, noNaN: true }), (ageMs, ms, hazard) => {
        // Months in milliseconds are exact to a millionth: at the highest hazard that is a billionth.
        expect(lasting(even(hazard), ageMs, ms)).toBeCloseTo(Math.exp(-hazard * ms), 8);
        expect(leaving(even(hazard), ageMs, ms)).toBeCloseTo(1 - Math.exp(-hazard * ms), 8);
      }),
    );
  });

  it('is exact if it is small, and goes by the hazard of each bin on the way', () => {
    expect(leaving(even(1e-20), DAY, 1)).toBeCloseTo(1e-20, 30);
    const hazards = even(0);
    hazards[1] = 1 / SECOND;
    expect(lasting(hazards, 4 * SECOND, 2 * SECOND)).toBeCloseTo(Math.exp(-1), 12);
    expect(lasting(hazards, 6 * SECOND, HOUR)).toBeCloseTo(Math.exp(-1.25), 12);
    expect([lasting(hazards, 0, 5 * SECOND), lasting(hazards, 8 * SECOND, HOUR)]).toEqual([1, 1]);
  });

  it('tells by which age a part has left, if that is not too far away', () => {
    expect(ageBy(0.5, even(1 / HOUR)) / HOUR).toBeCloseTo(Math.LN2, 9);
    expect(ageBy(0, even(1 / HOUR))).toBe(0);
    expect(ageBy(1 - Math.exp(-1), even(1 / LONGEST_MS))).toBeCloseTo(LONGEST_MS, -3);
    expect(ageBy(0.64, even(1 / LONGEST_MS))).toBe(Number.POSITIVE_INFINITY);
    expect(ageBy(0.5, even(0))).toBe(Number.POSITIVE_INFINITY);
    fc.assert(
      fc.property(anyStays(), fc.double({ min: 0.01, max: 0.9, noNaN: true }), (stays, part) => {
        const hazards = learned(stays);
        const ageMs = ageBy(part, hazards);
        if (ageMs === Number.POSITIVE_INFINITY) expect(leaving(hazards, 0, LONGEST_MS)).toBeLessThan(part + 1e-9);
        else expect(leaving(hazards, 0, ageMs)).toBeCloseTo(part, 9);
      }),
    );
  });
});

describe('the gap between look-ups', () => {
  it.each([1e-30, 1e-12, 1e-7, 1e-6, 1e-5, 0.01, 0.5, 0.999, 1, 1.5, 10, 1e6, 1e15])(
    'has the order pass through so much hazard that e^u − 1 − u is its cost: %d',
    (cost) => {
      const u = enough(cost);
      // The difference of numbers that are almost equal has few digits: its series is exact if u is small.
      const sum = u < 0.01 ? u ** 2 / 2 + u ** 3 / 6 + u ** 4 / 24 : Math.expm1(u) - u;
      expect(sum / cost).toBeCloseTo(1, 6);
      expect(enough(0)).toBe(0);
    },
  );

  it('ends as soon as the hazard passed through is enough by that of the bin that the order has come to', () => {
    fc.assert(
      fc.property(anyStays(), age(), price(), (stays, ageMs, priceMs) => {
        const hazards = learned(stays);
        const gap = gapMs(hazards, ageMs, priceMs, MOST);
        const missing = (ms: number) =>
          enough(hazards[binOf(ageMs + ms)]! * priceMs) + Math.log(lasting(hazards, ageMs, ms));
        if (gap < MOST) expect(missing(gap * (1 + 1e-6))).toBeLessThan(1e-5);
        expect(missing(gap * (1 - 1e-6))).toBeGreaterThan(-1e-5);
      }),
    );
  });

  it('rises with the price', () => {
    fc.assert(
      fc.property(anyStays(), age(), price(), price(), (stays, ageMs, one, other) => {
        const hazards = learned(stays);
        const cheap = gapMs(hazards, ageMs, Math.min(one, other), MOST);
        expect(cheap).toBeLessThanOrEqual(gapMs(hazards, ageMs, Math.max(one, other), MOST) * (1 + 1e-6));
      }),
    );
  });

  it('is that of an exponential time if the hazard does not change', () => {
    const hazards = new Float64Array(AGE_BINS).fill(1 / MINUTE);
    for (const priceMs of [SECOND / 1_000, SECOND, MINUTE, HOUR]) {
      const gap = gapMs(hazards, 0, priceMs, MOST);
      // (e^(hx) − 1) / h − x = C
      expect((MINUTE * Math.expm1(gap / MINUTE) - gap) / priceMs).toBeCloseTo(1, 6);
    }
  });

  it('waits for the time at which orders leave', () => {
    const hazards = learned(endingAt(10 * MINUTE));
    const first = gapMs(hazards, 0, 10 * SECOND, MOST);
    expect(first).toBeGreaterThan(7 * MINUTE);
    expect(first).toBeLessThan(15 * MINUTE);
  });

  it('is not for ever if a look-up costs more than a whole stay', () => {
    const hazards = learned(endingAt(30 * SECOND));
    expect(gapMs(hazards, 0, 10 * MINUTE, MOST)).toBeLessThan(5 * MINUTE);
  });

  it('ends if nothing more must be expected, as a change waits to be seen', () => {
    const hazards = new Float64Array(AGE_BINS).fill(1e-12);
    hazards[0] = 1 / SECOND;
    expect(gapMs(hazards, 0, DAY, MOST)).toBe(BIN_STARTS[1]);
  });

  it('is the longest one if nothing must be expected', () => {
    expect(gapMs(new Float64Array(AGE_BINS).fill(1e-30), DAY, HOUR, MOST)).toBe(MOST);
  });

  it('costs less than look-ups that come sooner or later', () => {
    const hazards = learned([...endingAt(40 * SECOND, 30), ...endingAt(20 * MINUTE, 70)], [HOUR, DAY]);
    for (const [ageMs, priceMs] of [
      [0, MINUTE],
      [MINUTE, 10 * SECOND],
      [10 * MINUTE, 10 * MINUTE],
    ] as const) {
      const cost = costOf(hazards, ageMs, priceMs, 1);
      for (const part of [0.5, 2]) expect(cost).toBeLessThan(costOf(hazards, ageMs, priceMs, part));
    }
  });
});
