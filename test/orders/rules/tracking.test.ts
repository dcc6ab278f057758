import { describe, expect, it } from 'vitest';
import { after } from '../../../src/base/instant.ts';
import { assumeSent, freeOfDoubt } from '../../../src/orders/rules/create.ts';
import { ORDER_STATES, type OrderState } from '../../../src/orders/rules/states.ts';
import { finding, isNeverSent, move } from '../../../src/orders/rules/tracking.ts';
import { SECOND, SETTINGS, trackingWith } from '../../support/tracking.ts';

const NOW = new Date('2026-01-05T12:00:00.000Z');

describe('a move', () => {
  it('changes the state and its reason, with one event that says who, why and from where', () => {
    const from = trackingWith({ state: 'held', attempts: 1, stateReason: 'before' });
    const how = { source: 'operator', reason: 'asked', actor: 'ann', exchangeTime: '2026-01-05T11:00:00Z' } as const;
    expect(move(from, 'accepted', how, { preOrderId: 'p1' })).toEqual({
      tracking: { ...from, state: 'accepted', stateReason: 'asked', preOrderId: 'p1' },
      events: [{ field: 'state', oldValue: 'held', newValue: 'accepted', ...how }],
    });
  });

  it('that nobody gives a reason for leaves none, nor a person', () => {
    const from = trackingWith({ state: 'held', attempts: 1, stateReason: 'before' });
    const { tracking, events } = move(from, 'open', { source: 'lookup' });
    expect(tracking.stateReason).toBeNull();
    expect(events).toStrictEqual([
      { field: 'state', oldValue: 'held', newValue: 'open', exchangeTime: null, source: 'lookup', reason: null },
    ]);
  });

  it('that the table does not have is refused, by the name of the order', () => {
    expect(() => move(trackingWith({ state: 'final' }), 'pending', { source: 'lookup' })).toThrow(
      /"a".*final.*pending/,
    );
  });

  it.each(['open', 'final'] as const)('of a row that was never sent does not make it %s', (to) => {
    const row = trackingWith();
    expect(() => move(row, to, { source: 'lookup' })).toThrow(/"a" was never sent/);
    expect(move(row, to, { source: 'import' }, { adoptedAt: NOW }).tracking.state).toBe(to);
    expect(move({ ...row, attempts: 1 }, to, { source: 'lookup' }).tracking.state).toBe(to);
    expect(move(row, 'disputed', { source: 'lookup' }).tracking.state).toBe('disputed');
    expect(move({ ...row, state: 'cancelled' }, to, { source: 'lookup' }).tracking.state).toBe(to);
  });

  it('leaves an order in the doubt of a fail-over while its outcome is unknown', () => {
    const moved = (from: 'unknown' | 'sending', to: 'unknown' | 'held' | 'open') =>
      move(trackingWith({ state: from, attempts: 1, failOver: 7 }), to, { source: 'lookup' }).tracking.failOver;
    expect([moved('sending', 'unknown'), moved('unknown', 'held'), moved('unknown', 'open')]).toEqual([7, 7, null]);
  });

  it('is for an order that was sent, or taken over', () => {
    const rows = [{}, { attempts: 1 }, { adoptedAt: NOW }].map((changes) => trackingWith(changes));
    expect(rows.map(isNeverSent)).toEqual([true, false, false]);
  });

  it('may bring a finding', () => {
    expect(finding('UNEXPECTED_ORDER', 'lookup', 'why', null)).toEqual({
      field: 'finding',
      oldValue: null,
      newValue: 'UNEXPECTED_ORDER',
      exchangeTime: null,
      source: 'lookup',
      reason: 'why',
    });
  });
});

describe('an order that may have been sent from a newer state of the database', () => {
  const request = {
    attempts: 2,
    resends: 1,
    sentAt: NOW,
    verifications: 0,
    documentedAbsences: 0,
    absentAt: null,
    changedAt: NOW,
    nextActionAt: after(NOW, 5 * SECOND),
  };
  const before = { attempts: 1, verifications: 4, documentedAbsences: 2, absentAt: NOW };
  const how = { source: 'operator', reason: 'restored', actor: 'ann' } as const;

  it.each(['pending', 'sending', 'rejected', 'invalid'] as const)('counts as sent now and unknown: %s', (state) => {
    const { tracking, events } = assumeSent(trackingWith({ ...before, state }), how, NOW, SETTINGS);
    expect(tracking).toEqual(trackingWith({ state: 'unknown', stateReason: 'restored', ...request }));
    expect(events).toMatchObject([{ oldValue: state, newValue: 'unknown', ...how }]);
  });

  it.each(['unknown', 'held'] as const)('counts as sent once more where it is %s', (state) => {
    const row = trackingWith({ ...before, state });
    expect(assumeSent(row, how, NOW, SETTINGS)).toEqual({ tracking: { ...row, ...request }, events: [] });
    expect(assumeSent(row, how, NOW, { verifyAfter: [] }).tracking.nextActionAt).toEqual(NOW);
  });
});

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
    return freeOfDoubt(trackingWith(order), isSent, HOW, NOW);
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
