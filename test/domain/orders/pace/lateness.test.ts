import fc from 'fast-check';
import { expect, it } from 'vitest';
import { latenessOf } from '../../../../src/domain/orders/pace/lateness.ts';

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
