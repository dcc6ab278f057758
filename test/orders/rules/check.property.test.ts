import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkOrder } from '../../../src/orders/rules/check.ts';
import type { UncheckedOrder } from '../../../src/orders/rules/record.ts';

const GOOD: UncheckedOrder = {
  externalOrderId: 'shop-1',
  asset: '1.5',
  assetPosition: 'INPUT',
  fromCurrency: 'BTC',
  toCurrency: 'EUR',
  orderType: 'DEPOSIT',
  limit: null,
  paymentToken: null,
  providerType: null,
  cryptoAddress: null,
  bonus: null,
};

describe('any row', () => {
  it('is either passed on unchanged or refused with a reason, and never throws', () => {
    const value = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 30 }),
      fc.constantFrom('1', '0.5', 'BTC', null, undefined),
      fc.double(),
      fc.uint8Array({ maxLength: 3 }),
    );
    const fields = Object.keys(GOOD) as (keyof UncheckedOrder)[];
    fc.assert(
      fc.property(fc.constantFrom(...fields), value, (field, one) => {
        const checked = checkOrder({ ...GOOD, [field]: one });
        if (!checked.ok) expect(checked.problems.map((problem) => problem.field)).toContain(field);
        else if (field !== 'asset' && field !== 'limit' && field !== 'bonus') {
          expect(checked.order[field]).toBe(one ?? null);
        }
      }),
      { numRuns: 500 },
    );
  });
});
