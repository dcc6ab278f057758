import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AGE_BINS, BIN_STARTS, binEnd, binOf } from '../../../../src/domain/orders/pace/ages.ts';
import { ageBy, gapMs, lasting, leaving, StayTimes } from '../../../../src/domain/orders/pace/stay-times.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../../support/tracking.ts';

const MOST = 7 * DAY;
const age = () => fc.double({ min: 0, max: 200 * DAY, noNaN: true });
const price = () => fc.double({ min: 1, max: 30 * DAY, noNaN: true });

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

  it('spread an end over the time in which nobody looked', () => {
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

describe('the gap between look-ups', () => {
  it('rises with the price', () => {
    fc.assert(
      fc.property(anyStays(), age(), price(), price(), (stays, ageMs, one, other) => {
        const hazards = learned(stays);
        const cheap = gapMs(hazards, ageMs, Math.min(one, other), MOST);
        expect(cheap).toBeLessThanOrEqual(gapMs(hazards, ageMs, Math.max(one, other), MOST) * (1 + 1e-6));
      }),
    );
  });

  it('is that of an exponential time where the hazard does not change', () => {
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

  it('is not for ever where a look-up costs more than a whole stay', () => {
    const hazards = learned(endingAt(30 * SECOND));
    expect(gapMs(hazards, 0, 10 * MINUTE, MOST)).toBeLessThan(5 * MINUTE);
  });

  it('ends where nothing more is to be expected, as what has happened waits to be seen', () => {
    const hazards = new Float64Array(AGE_BINS).fill(1e-12);
    hazards[0] = 1 / SECOND;
    expect(gapMs(hazards, 0, DAY, MOST)).toBe(BIN_STARTS[1]);
  });

  it('is the longest one where nothing is to be expected', () => {
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
