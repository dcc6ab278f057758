import { describe, expect, it } from 'vitest';
import { MOVES as GUARDED_MOVES } from '../../../migrations/rules.ts';
import {
  ALLOWED_NEXT,
  ATTENTION_STATES,
  isAllowedMove,
  isPaced,
  ORDER_STATES,
  type OrderState,
  WAITING_STATES,
} from '../../../src/orders/rules/states.ts';
import { move } from '../../../src/orders/rules/tracking.ts';
import { trackingWith } from '../../support/tracking.ts';

/** The table of the design once more, so that a slip in the program's own does not go by unseen. */
const MOVES: Readonly<Record<OrderState, string>> = {
  pending: 'sending invalid cancelled open final disputed unknown',
  sending: 'accepted rejected pending unknown',
  unknown: 'open final disputed held',
  held: 'open final disputed accepted pending abandoned',
  accepted: 'open final disputed abandoned',
  open: 'final disputed',
  final: 'open disputed',
  disputed: 'open final abandoned',
  rejected: 'pending open final disputed unknown',
  invalid: 'pending unknown',
  cancelled: 'open final disputed',
  abandoned: 'open final disputed',
};
const PAIRS = ORDER_STATES.flatMap((from) => ORDER_STATES.map((to) => [from, to] as const));

describe('the table of moves', () => {
  it('is the one that the database holds to', () => {
    expect(GUARDED_MOVES).toEqual(ALLOWED_NEXT);
  });

  it('has the states of the design', () => {
    expect([...ORDER_STATES].toSorted()).toEqual(Object.keys(MOVES).toSorted());
  });

  it.each(PAIRS)('%s to %s is as the design says, and a move outside it throws', (from, to) => {
    const isAllowed = MOVES[from].split(' ').includes(to);
    expect(isAllowedMove(from, to)).toBe(isAllowed);
    const moving = () => move(trackingWith({ state: from, attempts: 1 }), to, { source: 'operator' });
    if (isAllowed) {
      expect(moving().tracking.state).toBe(to);
    } else {
      expect(moving).toThrow(`order "a" may not go from ${from} to ${to}`);
    }
  });

  it.each(['open', 'final'] as const)('does not lead from a row that was never sent to %s', (to) => {
    expect(() => move(trackingWith(), to, { source: 'lookup' })).toThrow(
      `order "a" was never sent and may not be ${to}`,
    );
  });

  it('never leads from an order that may have been sent back to sending, but through a person or a documented resend', () => {
    const toPending = PAIRS.filter(([from, to]) => to === 'pending' && isAllowedMove(from, to)).map(([from]) => from);
    expect(toPending.toSorted()).toEqual(['held', 'invalid', 'rejected', 'sending']);
    const toSending = PAIRS.filter(([from, to]) => to === 'sending' && isAllowedMove(from, to)).map(([from]) => from);
    expect(toSending).toEqual(['pending']);
  });
});

describe('a move', () => {
  it('brings the event that says so, with the reason in the row too', () => {
    const how = { source: 'operator', reason: 'a mistake', exchangeTime: 'then' } as const;
    const { tracking, events } = move(trackingWith(), 'cancelled', how, { attempts: 3 });
    expect(tracking).toMatchObject({ state: 'cancelled', stateReason: 'a mistake', attempts: 3 });
    expect(events).toEqual([
      {
        field: 'state',
        oldValue: 'pending',
        newValue: 'cancelled',
        exchangeTime: 'then',
        source: 'operator',
        reason: 'a mistake',
      },
    ]);
  });

  it('without a reason takes away the last one', () => {
    expect(move(trackingWith({ stateReason: 'old' }), 'sending', { source: 'create' }).tracking.stateReason).toBeNull();
  });
});

it.each([
  ['have not ended', WAITING_STATES, 'accepted disputed held open pending sending unknown'],
  ['are looked up at a pace', ORDER_STATES.filter(isPaced), 'accepted disputed open'],
  ['need the attention of a person', ATTENTION_STATES, 'disputed held'],
])('orders that %s are in the states of the design', (_name, states, expected) => {
  expect(states.toSorted().join(' ')).toBe(expected);
});
