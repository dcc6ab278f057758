import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { demandAt, solvePrice, solvePrices, type PacedGroup } from '../../../../src/domain/orders/pace/price.ts';
import { HOUR, MINUTE } from '../../../support/tracking.ts';

const AMPLE = { budget: 1, rate: 100 };
const LEAST = 0.001;

/** Orders of which some are looked up as often as the price allows, and others whatever it is. */
const group = (some: number, always = 0): PacedGroup => ({ demand: (priceMs) => always + some / priceMs });
/** The price is found to 1 %, and never too low. */
const about = (priceMs: number) => (actual: number) => actual >= priceMs * (1 - 1e-9) && actual <= priceMs * 1.01;

it('the demand of groups is that of each together', () => {
  expect(demandAt([group(6), group(2, 5)], 2)).toBe(9);
  expect(demandAt([], 2)).toBe(0);
});

describe('the price of look-ups', () => {
  it('is the least one where that does not take more than the budget', () => {
    expect(solvePrice([group(10)], { budget: 5, rate: 9 }, 2)).toBe(2);
    expect(solvePrice([group(10)], { budget: 4.9, rate: 9 }, 2)).toSatisfy(about(10 / 4.9));
  });

  it('is the lowest at which the budget is enough', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.01, max: 0.7 * HOUR, noNaN: true }), (some) => {
        expect(solvePrice([group(some)], AMPLE, LEAST)).toSatisfy(about(some));
      }),
    );
  });

  it('leaves a fifth of the budget beside what is made at any price, as far as the rate allows', () => {
    expect(solvePrice([group(10, 0.9)], AMPLE, LEAST)).toSatisfy(about(10 / (0.2 + 10 / HOUR)));
    expect(solvePrice([group(10, 0.9)], { budget: 1, rate: 1.05 }, LEAST)).toSatisfy(about(10 / (0.98 * 1.05 - 0.9)));
    expect(solvePrice([group(10, 0.9)], { budget: 1, rate: 1 }, LEAST)).toSatisfy(about(10 / 0.1));
  });

  it('is an hour, or the least one, where that is too low', () => {
    expect(solvePrice([group(10, 3)], { budget: 1, rate: 1 }, LEAST)).toBe(HOUR);
    expect(solvePrice([group(10, 3)], { budget: 1, rate: 1 }, 2 * HOUR)).toBe(2 * HOUR);
    // At ten minutes it is just enough, and at no price would it be more than that.
    const bounded = { demand: (priceMs: number) => Math.max(1, (10 * MINUTE) / priceMs) };
    expect(solvePrice([bounded], { budget: 1, rate: 1 }, LEAST)).toSatisfy(about(10 * MINUTE));
    // At an hour it is just enough.
    expect(solvePrice([group(HOUR)], { budget: 1, rate: 1 }, LEAST)).toSatisfy(about(HOUR));
  });
});

describe('the prices of two kinds of orders', () => {
  it('are one where neither kind would pay less with a fifth of the budget to itself', () => {
    expect(solvePrices([[group(1)], [group(1)]], AMPLE, 5)).toEqual([5, 5]);
    const [one, other] = solvePrices([[group(30)], [group(10)]], AMPLE, LEAST);
    expect(one).toSatisfy(about(40));
    expect(other).toBe(one);
  });

  it.each([
    ['few orders of one kind pay', group(1), 5, group(100), 125],
    ['what is always made leaves the others a fifth, so that they pay', group(0.001, 0.9), 0.025, group(100), 500],
  ])(
    'are two where one kind would pay less with a fifth of the budget to itself: %s',
    (_name, few, low, many, high) => {
      const [one, other] = solvePrices([[few], [many]], AMPLE, LEAST);
      expect(one).toSatisfy(about(low));
      // The price of the others depends on the first one.
      expect(Math.abs(other / high - 1)).toBeLessThan(0.02);
      expect(solvePrices([[many], [few]], AMPLE, LEAST)).toEqual([other, one]);
    },
  );
});
