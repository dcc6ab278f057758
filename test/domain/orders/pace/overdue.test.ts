import { describe, expect, it } from 'vitest';
import { OverdueOrders } from '../../../../src/domain/orders/pace/overdue.ts';
import { MOST_STATUSES, OTHERS, type FollowedOrder } from '../../../../src/domain/orders/pace/pace.ts';
import { statusKey, type PacedOrder } from '../../../../src/domain/orders/pace/status.ts';
import { ACCEPTED, ago, followed, NOW, OPEN } from '../../../support/paces.ts';
import { DAY, HOUR, MINUTE } from '../../../support/tracking.ts';

/** An order that was due so long ago. */
const due = (order: PacedOrder, ms: number, changes: Partial<FollowedOrder> = {}) =>
  followed(order, DAY, { nextActionAt: ago(ms).toISOString(), ...changes });

/** Those of some orders that wait for longer than a minute; they are read in pages of two. */
function overdue(...orders: readonly FollowedOrder[]) {
  const waiting = new OverdueOrders(MINUTE);
  for (let start = 0; start < orders.length; start += 2) waiting.addAll(orders.slice(start, start + 2), NOW);
  return waiting.all;
}

describe('orders that wait for their look-up', () => {
  it('are those that were due long enough ago, by what they are, since the first of them was due', () => {
    expect(overdue(due(OPEN, HOUR), due(ACCEPTED, DAY), due(OPEN, MINUTE + 1), due(OPEN, MINUTE))).toMatchObject({
      orders: 3,
      since: ago(DAY),
      byStatus: new Map([
        [statusKey(OPEN), 2],
        [statusKey(ACCEPTED), 1],
      ]),
    });
  });

  it('are none where each is looked up in time, or has no time, or is looked up at no pace', () => {
    const held = due({ ...OPEN, state: 'held' }, DAY);
    expect(overdue(due(OPEN, MINUTE), due(OPEN, -HOUR), due(OPEN, 0, { nextActionAt: '' }), held)).toBeUndefined();
    expect(overdue()).toBeUndefined();
  });

  it.each<[string, Date | null, boolean]>([
    ['a minute ago', ago(MINUTE), false],
    ['longer ago than that', ago(MINUTE + 1), true],
    ['never', null, true],
    ['at a time that cannot be read', new Date(Number.NaN), true],
  ])('wait for others, or for an exchange that is silent, where the last look-up of any was %s', (_, at, isSilent) => {
    const others = [due(OPEN, -HOUR, { lastLookupAt: at }), due(OPEN, HOUR, { lastLookupAt: ago(HOUR) })];
    for (const orders of [others, others.toReversed()]) expect(overdue(...orders)?.isSilent).toBe(isSilent);
  });

  it('are counted together where they have more statuses than there is room for', () => {
    const status = (index: number): PacedOrder => ({ ...OPEN, orderStatus: `S${index}` });
    const many = Array.from({ length: MOST_STATUSES + 5 }, (_, index) => due(status(index), HOUR));
    const byStatus = overdue(...many, due(status(0), HOUR), due(status(MOST_STATUSES - 1), HOUR))?.byStatus;
    const counts = [0, 1, MOST_STATUSES - 1, MOST_STATUSES].map((index) => byStatus?.get(statusKey(status(index))));
    expect(counts).toEqual([2, 1, 2, undefined]);
    expect(byStatus?.get(OTHERS)).toBe(5);
  });
});
