import { describe, expect, it } from 'vitest';
import { decideDoubt } from '../../../../src/extensions/operate/rules/judgement.ts';
import { ORDER_STATES, type OrderState } from '../../../../src/orders/rules/states.ts';
import { trackingWith } from '../../../support/tracking.ts';

const NOW = new Date('2026-01-05T12:00:00.000Z');

describe('a decision on all orders that a fail-over left in doubt', () => {
  const HOW = { source: 'operator', actor: 'anna', reason: 'asked the exchange' } as const;
  const decided = (state: OrderState, isSent: boolean) => {
    const order = {
      state,
      attempts: 1,
      resends: 2,
      verifications: 3,
      failOver: 7,
      changedAt: null,
      nextActionAt: null,
    };
    return decideDoubt(trackingWith(order), isSent, HOW, NOW);
  };
  const SENT = { state: 'accepted', failOver: null, resends: 2, changedAt: NOW, nextActionAt: NOW };
  const NOT_SENT = { state: 'pending', failOver: null, resends: 3, verifications: 0, nextActionAt: NOW };

  it.each([
    [true, SENT],
    [false, NOT_SENT],
  ])('moves one that is unknown over held, and one that is held at once: sent is %s', (isSent, moved) => {
    expect(decided('held', isSent).map(({ tracking }) => tracking)).toMatchObject([moved]);
    expect(decided('unknown', isSent).map(({ tracking }) => tracking)).toMatchObject([{ state: 'held' }, moved]);
    expect(decided('unknown', isSent).flatMap(({ events }) => events)).toMatchObject([
      { oldValue: 'unknown', newValue: 'held', ...HOW },
      { oldValue: 'held', newValue: moved.state, ...HOW },
    ]);
  });

  it('decides nothing on an order whose outcome is known', () => {
    const known = ORDER_STATES.filter((state) => state !== 'unknown' && state !== 'held');
    expect(known.flatMap((state) => [...decided(state, true), ...decided(state, false)])).toEqual([]);
  });
});
