import { describe, expect, it } from 'vitest';
import { OverdueOrders } from '../../../../src/domain/orders/pace/overdue.ts';
import type { FollowedOrder } from '../../../../src/domain/orders/pace/pace.ts';
import type { PacedOrder } from '../../../../src/domain/orders/pace/status.ts';
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
  it('are those that were due long enough ago, since the first of them was due', () => {
    expect(overdue(due(OPEN, HOUR), due(ACCEPTED, DAY), due(OPEN, MINUTE + 1), due(OPEN, MINUTE))).toEqual({
      orders: 3,
      since: ago(DAY),
    });
  });

  it('are none where each is looked up in time, or has no time, or is looked up at no pace', () => {
    const held = due({ ...OPEN, state: 'held' }, DAY);
    expect(overdue(due(OPEN, MINUTE), due(OPEN, -HOUR), due(OPEN, 0, { nextActionAt: '' }), held)).toBeUndefined();
    expect(overdue()).toBeUndefined();
  });
});
