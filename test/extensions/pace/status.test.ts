import type { PacedOrder } from '../../../src/orders/rules/lookup.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OverdueLookups } from '../../../src/orders/pass/process-events.ts';
import { OTHERS } from '../../../src/extensions/pace/pace.ts';
import {
  isAccepted,
  learnStuckAfter,
  withOverdue,
  statusKey,
  type FollowedOrder,
} from '../../../src/extensions/pace/status.ts';
import { ACCEPTED, ago, followed, OPEN } from '../../support/paces.ts';
import { DAY, HOUR, MINUTE } from '../../support/tracking.ts';

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

/** An order that was due so long ago. */
const due = (order: PacedOrder, ms: number, changes: Partial<FollowedOrder> = {}) =>
  followed(order, DAY, { nextActionAt: ago(ms).toISOString(), ...changes });

/** The overdue ones of some orders, which wait for longer than a minute; they are read in pages of two. */
function overdue(...orders: readonly FollowedOrder[]) {
  let waiting: OverdueLookups | undefined;
  for (let start = 0; start < orders.length; start += 2)
    waiting = withOverdue(waiting, orders.slice(start, start + 2), ago(MINUTE));
  return waiting;
}

describe('orders that wait for their look-up', () => {
  it('are the ones that were due long enough ago, since the first of them was due', () => {
    expect(overdue(due(OPEN, HOUR), due(ACCEPTED, DAY), due(OPEN, MINUTE + 1), due(OPEN, MINUTE))).toEqual({
      orders: 3,
      since: ago(DAY),
    });
  });

  it('are none if each is looked up in time, or has no time, or is looked up at no pace', () => {
    const held = due({ ...OPEN, state: 'held' }, DAY);
    expect(overdue(due(OPEN, MINUTE), due(OPEN, -HOUR), due(OPEN, 0, { nextActionAt: '' }), held)).toBeUndefined();
    expect(overdue()).toBeUndefined();
  });
});

describe('the time after which an order is stuck', () => {
  it('is a day until there is enough to learn from', () => {
    expect(learnStuckAfter([])).toBe(DAY);
    expect(learnStuckAfter(Array.from({ length: 99 }, () => 9 * DAY))).toBe(DAY);
    expect(learnStuckAfter(Array.from({ length: 100 }, () => 9 * DAY))).toBe(9 * DAY);
  });

  it('is a day when nearly every change comes sooner', () => {
    expect(learnStuckAfter([...Array.from({ length: 99 }, () => HOUR), 9 * DAY])).toBe(DAY);
  });

  it('is what 99 of 100 changes took, in whatever order they come', () => {
    const gaps = Array.from({ length: 200 }, (_, index) => (index + 1) * DAY);
    expect(learnStuckAfter(gaps)).toBe(198 * DAY);
    expect(learnStuckAfter(gaps.toReversed())).toBe(198 * DAY);
  });
});
