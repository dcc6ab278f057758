import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OTHERS } from '../../../../src/domain/orders/pace/pace.ts';
import {
  isAccepted,
  isPaced,
  statusKey,
  statusName,
  type PacedOrder,
} from '../../../../src/domain/orders/pace/status.ts';
import { ORDER_STATES } from '../../../../src/domain/orders/states.ts';
import { ACCEPTED, OPEN } from '../../../support/paces.ts';

it('orders that are accepted, open or disputed are looked up at a pace', () => {
  expect(ORDER_STATES.filter(isPaced).toSorted()).toEqual(['accepted', 'disputed', 'open']);
});

describe('the key of a status', () => {
  const status = () => fc.option(fc.oneof(fc.constantFrom('', 'NEW', '","'), fc.string()));
  const order = fc.record<PacedOrder>({
    state: fc.constantFrom('open', 'disputed'),
    orderStatus: status(),
    cryptoStatus: status(),
    fiatStatus: status(),
  });

  it('names the order that it is of, and no other', () => {
    fc.assert(
      fc.property(order, (one) => {
        const { state, orderStatus, cryptoStatus, fiatStatus } = one;
        expect(JSON.parse(statusKey(one))).toEqual([state, orderStatus, cryptoStatus, fiatStatus]);
        expect(statusKey(one)).not.toBe(OTHERS);
      }),
    );
  });

  it('is that of all accepted pre-orders, as they have no record', () => {
    expect(statusKey({ ...OPEN, state: 'accepted' })).toBe(statusKey(ACCEPTED));
    expect([ACCEPTED, OPEN].map((one) => isAccepted(statusKey(one)))).toEqual([true, false]);
  });
});

it.each<[string, PacedOrder]>([
  ['accepted', ACCEPTED],
  ['accepted', { ...OPEN, state: 'accepted' }],
  ['REQUEST / NEW / PAID', { ...OPEN, fiatStatus: 'PAID' }],
  ['REQUEST / none / NEW', { ...OPEN, cryptoStatus: null }],
  ['REQUEST / NEW / NEW, disputed', { ...OPEN, state: 'disputed' }],
  ['disputed', { state: 'disputed', orderStatus: null, cryptoStatus: null, fiatStatus: null }],
])('%s is what people read of a status', (name, order) => {
  expect(statusName(order)).toBe(name);
});
