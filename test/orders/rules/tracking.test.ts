import { describe, expect, it } from 'vitest';
import { after } from '../../../src/base/instant.ts';
import { assumeSent } from '../../../src/orders/rules/create.ts';
import { decideLookup } from '../../../src/orders/rules/follow.ts';
import { finding, isNeverSent, lateMsOf, move, type Tracking } from '../../../src/orders/rules/tracking.ts';
import { found, HOUR, MINUTE, SECOND, SETTINGS, trackingWith } from '../../support/tracking.ts';

const NOW = new Date('2026-01-05T12:00:00.000Z');

describe('a move', () => {
  it('changes the state and its reason, with one event that says who, why and from which state', () => {
    const from = trackingWith({ state: 'held', attempts: 1, stateReason: 'before' });
    const how = { source: 'operator', reason: 'asked', actor: 'ann', exchangeTime: '2026-01-05T11:00:00Z' } as const;
    expect(move(from, 'accepted', how, { preOrderId: 'p1' })).toEqual({
      tracking: { ...from, state: 'accepted', stateReason: 'asked', preOrderId: 'p1' },
      events: [{ field: 'state', oldValue: 'held', newValue: 'accepted', ...how }],
    });
  });

  it('without a reason leaves none, nor a person', () => {
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

  it.each(['unknown', 'held'] as const)('counts as sent once more if it is %s', (state) => {
    const row = trackingWith({ ...before, state });
    expect(assumeSent(row, how, NOW, SETTINGS)).toEqual({ tracking: { ...row, ...request }, events: [] });
    expect(assumeSent(row, how, NOW, { verifyAfter: [] }).tracking.nextActionAt).toEqual(NOW);
  });
});

describe('how late a look-up sees a change', () => {
  const ago = (ms: number) => after(NOW, -ms);
  const known = {
    state: 'open',
    attempts: 1,
    orderStatus: 'REQUEST',
    cryptoStatus: 'NEW',
    fiatStatus: 'NEW',
    changedAt: ago(HOUR),
    lastLookupAt: ago(5 * MINUTE),
  } as const;

  /** The delay if a look-up finds such an order, which the exchange changed at this distance. */
  function late(before: Partial<Tracking>, changedMs: number | null, fiatStatus = 'PAID') {
    const tracking = trackingWith({ ...known, ...before });
    const modificationDate = changedMs === null ? null : ago(changedMs).toISOString();
    return lateMsOf(tracking, decideLookup(tracking, found({ fiatStatus, modificationDate }), NOW, 0.5, SETTINGS));
  }

  it.each<[string, Partial<Tracking>, number, number | undefined]>([
    ['since the exchange changed it', {}, 2 * MINUTE, 2 * MINUTE],
    ['since the last look-up, if the clock of the exchange is behind', {}, 5 * MINUTE + 30 * SECOND, 5 * MINUTE],
    ['since then, if it is behind by a minute', {}, 6 * MINUTE, 5 * MINUTE],
    ['not at all, if it is ahead', {}, -30 * SECOND, 0],
    ['not at all, if it is ahead by a minute', {}, -MINUTE, 0],
    ['not known, if it is ahead by more', {}, -61 * SECOND, undefined],
    ['since the last change, if no look-up came after it', { changedAt: ago(MINUTE) }, 90 * SECOND, MINUTE],
    ['since then, if no look-up was made before', { changedAt: null, lastLookupAt: null }, 2 * HOUR, 2 * HOUR],
    ['not known, if the date is that of an earlier change', {}, 20 * MINUTE, undefined],
    ['not known of an order that is looked up at no pace', { state: 'held' }, 2 * MINUTE, undefined],
  ])('is %s', (_name, before, changedMs, ms) => {
    expect(late(before, changedMs)).toBe(ms);
  });

  it('is known of no change without a date, and of no look-up without a change', () => {
    expect(late({}, null)).toBeUndefined();
    expect(late({ changedAt: null, lastLookupAt: null }, null)).toBeUndefined();
    expect(late({}, 2 * MINUTE, 'NEW')).toBeUndefined();
  });

  it('is not known of a change that is no move and no status, nor of one without a time', () => {
    const tracking = trackingWith({ ...known, changedAt: NOW });
    const event = { oldValue: '1', newValue: '2', exchangeTime: ago(MINUTE).toISOString(), source: 'lookup' } as const;
    const decision = { tracking, events: [{ ...event, field: 'record.ratio', reason: null }] } as const;
    expect(lateMsOf(trackingWith(known), decision)).toBeUndefined();
    const moved = { tracking, events: [{ ...event, field: 'state', reason: null }] } as const;
    expect(lateMsOf(trackingWith(known), moved)).toBe(MINUTE);
    const undated = { tracking: trackingWith(), events: [{ ...event, field: 'state', reason: null }] } as const;
    expect(lateMsOf(trackingWith(known), undated)).toBeUndefined();
  });
});
