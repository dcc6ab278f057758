import fc from 'fast-check';
import { expect, it } from 'vitest';
import { AGE_BINS } from '../../../../src/domain/orders/pace/ages.ts';
import { atPart, expectedLookups, latenessOf } from '../../../../src/domain/orders/pace/lookups.ts';
import { lasting, LONGEST_MS } from '../../../../src/domain/orders/pace/stay-times.ts';

const MINUTE = 60_000;
const even = (hazard: number) => new Float64Array(AGE_BINS).fill(hazard);
const lookups = (hazards: Float64Array, gapMs: (ageMs: number) => number) =>
  [...expectedLookups(hazards, gapMs)].reduce((sum, { part }) => sum + part, 0);

it('an order is looked up until one look-up finds that it has left', () => {
  const hazards = even(1 / (10 * MINUTE));
  // Each look-up finds it with the same chance: so many are needed in the mean.
  const found = 1 - lasting(hazards, 0, MINUTE);
  expect(lookups(hazards, () => MINUTE)).toBeCloseTo(1 / found, 1);
  expect([...expectedLookups(hazards, () => MINUTE)].slice(0, 3).map(({ ageMs }) => ageMs)).toEqual(
    [1, 2, 3].map((minutes) => minutes * MINUTE),
  );
});

it('a status that nothing leaves, and a pace of no time, come to an end', () => {
  expect(lookups(even(0), () => 12 * 60 * MINUTE)).toBeGreaterThan(100);
  expect(lookups(even(0), () => 1)).toBe(10_000);
  expect(lookups(even(1), () => MINUTE)).toBe(1);
});

it('each look-up is that of the orders that were still there at the one before', () => {
  // At each one half of them are found to have left.
  const halves = [...expectedLookups(even(Math.LN2 / MINUTE), () => MINUTE)];
  expect(halves.map(({ ageMs }) => ageMs / MINUTE)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  for (const [index, { part }] of halves.entries()) expect(part).toBeCloseTo(0.5 ** index, 12);
});

it('look-ups are counted up to the highest age that is distinguished', () => {
  const ages = [...expectedLookups(even(0), () => LONGEST_MS / 2)].map(({ ageMs }) => ageMs);
  expect(ages).toEqual([LONGEST_MS / 2, LONGEST_MS]);
});

it('a part of some times is the smallest time that it does not exceed', () => {
  const of = (part: number, ...sorted: readonly number[]) => atPart(Float64Array.from(sorted), part);
  expect([0, 0.25, 0.26, 1].map((part) => of(part, 1, 2, 3, 4))).toEqual([1, 1, 2, 4]);
  expect(of(0.5)).toBeNaN();
});

it('lateness is the mean, and the least time that 95 % do not exceed', () => {
  expect(latenessOf([])).toBeUndefined();
  expect(latenessOf([7])).toEqual({ changes: 1, meanMs: 7, p95Ms: 7 });
  expect(latenessOf(Array.from({ length: 100 }, (_, index) => 100 - index))).toEqual({
    changes: 100,
    meanMs: 50.5,
    p95Ms: 95,
  });
  fc.assert(
    fc.property(fc.array(fc.nat(1e9), { minLength: 1 }), (late) => {
      const { meanMs = 0, p95Ms = 0 } = latenessOf(late) ?? {};
      expect(late.filter((ms) => ms <= p95Ms).length / late.length).toBeGreaterThanOrEqual(0.95);
      expect(meanMs).toBeLessThanOrEqual(Math.max(...late) + 1e-3);
    }),
  );
});
