import { expect, it } from 'vitest';
import { statusName, type PacedOrder } from '../../../src/orders/rules/lookup.ts';

const OPEN: PacedOrder = { state: 'open', orderStatus: 'REQUEST', cryptoStatus: 'NEW', fiatStatus: 'NEW' };
const WITHOUT_RECORD = { orderStatus: null, cryptoStatus: null, fiatStatus: null };

it.each<[string, PacedOrder]>([
  ['accepted', { ...WITHOUT_RECORD, state: 'accepted' }],
  ['accepted', { ...OPEN, state: 'accepted' }],
  ['REQUEST / NEW / PAID', { ...OPEN, fiatStatus: 'PAID' }],
  ['REQUEST / none / NEW', { ...OPEN, cryptoStatus: null }],
  ['REQUEST / NEW / NEW, disputed', { ...OPEN, state: 'disputed' }],
  ['disputed', { ...WITHOUT_RECORD, state: 'disputed' }],
])('%s is the text that people read of a status', (name, order) => {
  expect(statusName(order)).toBe(name);
});
