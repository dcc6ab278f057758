import fc from 'fast-check';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { decideLookup, isLookedUp } from '../../../src/orders/rules/follow.ts';
import { isFinalRecord, type LookupAnswer, type PacedOrder } from '../../../src/orders/rules/lookup.ts';
import { isAcceptedAndAbsent, RESEND_NOT_BEFORE_MS } from '../../../src/orders/rules/absent.ts';
import { isAllowedMove, type OrderState, PACED_STATES } from '../../../src/orders/rules/states.ts';
import { stepPace } from '../../../bench/following/strategies.ts';
import { after } from '../../../src/base/instant.ts';
import type { OrderEvent, Tracking } from '../../../src/orders/rules/tracking.ts';
import { DAY, newRecord, found, HOUR, MINUTE, SECOND, SETTINGS, trackingWith } from '../../support/tracking.ts';

const NOW = new Date('2026-01-05T12:00:00.000Z');
const NOT_FOUND: LookupAnswer = { kind: 'absent', evidence: 'documented' };
const LIKELY: LookupAnswer = { kind: 'absent', evidence: 'likely' };
const UNANSWERED: LookupAnswer = { kind: 'unanswered', why: 'HTTP 502' };
const EARLIER = '2026-01-05T10:00:00.000Z';
const LATER = '2026-01-05T11:00:00.000Z';
const DONE = { orderStatus: 'COMPLETED', completionDate: EARLIER, serverDate: LATER };

// A time without a zone is UTC: a machine that sets its clock forward in March must read it like any other.
beforeEach(() => {
  vi.stubEnv('TZ', 'America/New_York');
});

function sentOrder(changes: Partial<Tracking>): Tracking {
  return trackingWith({ attempts: 1, ...changes });
}

function decide(tracking: Partial<Tracking>, answer: LookupAnswer, settings = SETTINGS, now = NOW) {
  return decideLookup(sentOrder(tracking), answer, now, 0.5, settings);
}

describe('whether a record is final', () => {
  it.each([
    ['completed before', { completionDate: EARLIER, serverDate: LATER }, true],
    ['completed at this very moment', { completionDate: LATER, serverDate: LATER }, true],
    [
      'completed at the same moment in another zone',
      { completionDate: '2026-01-05T13:00:00+02:00', serverDate: LATER },
      true,
    ],
    ['completed a nanosecond from now', { completionDate: '2026-01-05T11:00:00.000000001Z', serverDate: LATER }, false],
    ['to be completed', { completionDate: LATER, serverDate: EARLIER }, false],
    ['not completed', { completionDate: null, serverDate: LATER }, false],
    ['completed, with no time of the server to compare', { completionDate: EARLIER, serverDate: null }, false],
    ['completed at a time that cannot be read', { completionDate: 'yesterday', serverDate: LATER }, false],
    ['completed at a number', { completionDate: '1', serverDate: LATER }, false],
    ['completed on a day that does not exist', { completionDate: '2026-13-05T11:00:00Z', serverDate: LATER }, false],
    ['completed, by a server whose time cannot be read', { completionDate: EARLIER, serverDate: '<timestamp>' }, false],
    [
      'completed, with times without a zone',
      { completionDate: '2026-01-05 10:00', serverDate: '2026-01-05 11:00' },
      true,
    ],
  ])('%s', (_name, changes, isFinal) => {
    expect(isFinalRecord(newRecord({ orderStatus: 'ANY', ...changes }), SETTINGS)).toBe(isFinal);
  });

  it('is not by its dates while its status is an open one', () => {
    expect(isFinalRecord(newRecord({ ...DONE, orderStatus: 'REQUEST' }), SETTINGS)).toBe(false);
    expect(isFinalRecord(newRecord({ ...DONE, orderStatus: 'REQUEST' }), { ...SETTINGS, openStatuses: [] })).toBe(true);
    expect(isFinalRecord(newRecord({ ...DONE, orderStatus: 'request' }), SETTINGS)).toBe(true);
  });

  it('is by a final status, whatever its dates say', () => {
    const settings = { ...SETTINGS, finalStatuses: ['PAID'] };
    expect(isFinalRecord(newRecord({ orderStatus: 'PAID' }), settings)).toBe(true);
    expect(isFinalRecord(newRecord({ orderStatus: 'PAID ' }), settings)).toBe(false);
    expect(
      isFinalRecord(newRecord({ orderStatus: 'PAID', completionDate: LATER, serverDate: EARLIER }), settings),
    ).toBe(true);
  });
});

describe('a look-up that finds the order', () => {
  const states: OrderState[] = ['unknown', 'held', 'accepted', 'open', 'final', 'cancelled', 'abandoned'];

  it.each(states)('moves an order that is %s by what the record says', (state) => {
    expect(decide({ state }, found()).tracking.state).toBe('open');
    expect(decide({ state }, found(DONE)).tracking.state).toBe('final');
  });

  it.each([
    ['final', 'TERMINAL_REOPENED'],
    ['cancelled', 'UNEXPECTED_ORDER'],
    ['abandoned', 'UNEXPECTED_ORDER'],
    ['accepted', undefined],
    ['unknown', undefined],
    ['held', undefined],
  ] as const)('of one that is %s brings the finding %s', (state, finding) => {
    const { events } = decide({ state }, found());
    expect(events.find(({ field }) => field === 'finding')?.newValue).toBe(finding);
  });

  it('records each status that changed, verbatim, and none that did not', () => {
    const known = { state: 'open', orderStatus: 'REQUEST', cryptoStatus: 'NEW', fiatStatus: 'NEW' } as const;
    const { events, tracking } = decide(known, found({ cryptoStatus: ' Ünseen\n', fiatStatus: null }));
    expect(events).toMatchObject([
      { field: 'cryptoTransaction.status', oldValue: 'NEW', newValue: ' Ünseen\n' },
      { field: 'fiatTransaction.status', oldValue: 'NEW', newValue: null },
    ]);
    expect(tracking).toMatchObject({ cryptoStatus: ' Ünseen\n', fiatStatus: null, changedAt: NOW });
    expect(
      decideLookup(tracking, found({ cryptoStatus: ' Ünseen\n', fiatStatus: null }), NOW, 0, SETTINGS).events,
    ).toEqual([]);
  });

  it('spaces the next one by the last change', () => {
    const same = { state: 'open', orderStatus: 'REQUEST', cryptoStatus: 'NEW', fiatStatus: 'NEW' } as const;
    const quiet = decide({ ...same, changedAt: after(NOW, -2 * MINUTE) }, found());
    expect(quiet.tracking.nextActionAt).toEqual(after(NOW, 80 * SECOND));
    const changed = decide({ ...same, changedAt: after(NOW, -2 * MINUTE) }, found({ fiatStatus: 'PAID' }));
    expect(changed.tracking.nextActionAt).toEqual(after(NOW, 5 * SECOND));
  });

  it('keeps an order that waits to be sent again from being sent', () => {
    const waiting = trackingWith({ state: 'pending', attempts: 1, resends: 1, sentAt: NOW, nextActionAt: NOW });
    expect(isLookedUp(waiting, found())).toBe(true);
    const { tracking, events } = decide(waiting, found());
    expect(tracking).toMatchObject({ state: 'open', nextActionAt: after(NOW, 5 * SECOND) });
    expect(events[3]).toMatchObject({ field: 'state', oldValue: 'pending', newValue: 'open', source: 'lookup' });
  });

  it.each(['pending', 'cancelled'] as const)('disputes an order for a row that was never sent and is %s', (state) => {
    expect(isLookedUp(trackingWith({ state }), found())).toBe(true);
    for (const record of [found(), found(DONE)]) {
      const { tracking, events } = decide({ state, attempts: 0 }, record);
      expect(tracking.state).toBe('disputed');
      expect(events.filter(({ field }) => field === 'finding').map(({ newValue }) => newValue)).toEqual([
        'UNEXPECTED_ORDER',
      ]);
      expect(decide(tracking, record).tracking.state).toBe('disputed');
    }
  });

  it('decides nothing without an order about a row that waits to be sent', () => {
    const waiting = trackingWith({ state: 'pending', attempts: 1, resends: 1 });
    for (const answer of [NOT_FOUND, UNANSWERED]) expect(isLookedUp(waiting, answer)).toBe(false);
    for (const state of ['sending', 'invalid'] as const) {
      expect(isLookedUp(trackingWith({ state, attempts: 1 }), found())).toBe(false);
    }
  });

  it('keeps what it knew of the order if the record says nothing', () => {
    const known = { state: 'open', exchangeType: 'SELL', modificationDate: EARLIER } as const;
    const { tracking } = decide(known, found({ exchangeType: null, modificationDate: null }));
    expect(tracking).toMatchObject(known);
  });
});

describe('a record older than the one we have', () => {
  const known = {
    state: 'open',
    orderStatus: 'B',
    cryptoStatus: 'NEW',
    fiatStatus: 'NEW',
    modificationDate: LATER,
    changedAt: NOW,
  } as const;

  it('changes nothing, keeps no record, and is found once', () => {
    const first = decide(known, found({ orderStatus: 'A', modificationDate: EARLIER }));
    expect(first).toMatchObject({
      tracking: { ...known, staleDate: EARLIER },
      events: [],
      keepsRecord: false,
      disagreement: { expected: `B, modified ${LATER}`, actual: `A, modified ${EARLIER}` },
    });
    const again = decideLookup(
      first.tracking,
      found({ orderStatus: 'A', modificationDate: EARLIER }),
      NOW,
      0.5,
      SETTINGS,
    );
    expect(again.disagreement).toBeUndefined();
    expect(again.keepsRecord).toBe(false);
  });

  it.each([
    ['by a microsecond', '2026-01-05T11:00:00.000002Z', '2026-01-05T11:00:00.000001Z'],
    ['in another zone', '2026-01-05T11:00:00Z', '2026-01-05T12:59:59+02:00'],
    ['without a zone, which is UTC', '2026-01-05T11:00:00', '2026-01-05T10:59:59Z'],
    ['in the hour that a clock set forward leaves out', '2026-03-08T03:15:00', '2026-03-08T02:30:00'],
  ])('is recognized by its time: %s', (_name, modificationDate, older) => {
    const then = new Date('2026-04-01T00:00:00.000Z');
    const stale = decide({ ...known, modificationDate }, found({ modificationDate: older }), SETTINGS, then);
    expect(stale.tracking.orderStatus).toBe('B');
    const newer = decide({ ...known, modificationDate: older }, found({ modificationDate }), SETTINGS, then);
    expect(newer.tracking).toMatchObject({ orderStatus: 'REQUEST', modificationDate });
  });

  it('is recognized also after a record whose time could not be read', () => {
    const { tracking } = decide(known, found({ orderStatus: 'C', modificationDate: 'garbage' }));
    expect(tracking).toMatchObject({ orderStatus: 'C', modificationDate: LATER });
    expect(decideLookup(tracking, found({ modificationDate: EARLIER }), NOW, 0.5, SETTINGS).tracking.orderStatus).toBe(
      'C',
    );
  });

  it('does not make a final order open again, and spends a re-check', () => {
    const final = { ...known, state: 'final', rechecks: 1 } as const;
    const { tracking } = decide(final, found({ orderStatus: 'A', modificationDate: EARLIER }));
    expect(tracking).toMatchObject({ state: 'final', rechecks: 2, nextActionAt: after(NOW, 6 * DAY) });
  });

  it('is not one of the same moment', () => {
    expect(decide(known, found({ orderStatus: 'C', modificationDate: LATER })).tracking.orderStatus).toBe('C');
  });
});

describe('an order that must stay fresh', () => {
  it.each(['open', 'accepted', 'held'] as const)('is looked up before it is not: %s', (state) => {
    const known = trackingWith({ state, changedAt: after(NOW, -100 * DAY) });
    const pace = stepPace({ leastMs: 5 * SECOND, mostMs: 0.9 * DAY });
    const fresh = { ...SETTINGS, freshFor: DAY, pace };
    const { tracking } = decideLookup(known, { kind: 'absent', evidence: 'documented' }, NOW, 0.5, fresh);
    expect(tracking.nextActionAt).toEqual(after(NOW, 0.9 * DAY));
  });
});

describe('the pace of look-ups', () => {
  const answers: LookupAnswer[] = [
    NOT_FOUND,
    { kind: 'absent', evidence: 'likely' },
    { kind: 'unanswered', why: 'reset' },
    { kind: 'unanswered', why: 'answered for another order', answeredFor: 'b' },
  ];

  it.each(['unknown', 'held', 'final', 'rejected', 'cancelled', 'abandoned'] as const)(
    'is not asked about an order with times of its own: %s',
    (state) => {
      const gapMs = () => expect.fail('the pace was asked');
      const known = trackingWith({ state, attempts: 1, sentAt: after(NOW, -HOUR), nextActionAt: NOW });
      for (const answer of answers) {
        const { tracking } = decideLookup(known, answer, NOW, 0.5, { ...SETTINGS, pace: { gapMs } });
        expect((tracking.nextActionAt?.getTime() ?? Infinity) - NOW.getTime()).toBeGreaterThanOrEqual(5 * SECOND);
      }
    },
  );

  it.each(PACED_STATES)('is asked how soon an order is looked up: %s', (state) => {
    const pace = { gapMs: ({ orderStatus }: PacedOrder, since: number) => (orderStatus === 'A' ? since : 1) };
    const known = trackingWith({ state, orderStatus: 'A', changedAt: after(NOW, -42_000), nextActionAt: NOW });
    const { tracking } = decideLookup(known, { kind: 'absent', evidence: 'likely' }, NOW, 0.5, { ...SETTINGS, pace });
    expect(tracking.nextActionAt).toEqual(after(NOW, 42_000));
  });
});

describe('a record whose time is more than a day ahead', () => {
  const AHEAD = '9999-12-31T00:00:00Z';
  const known = { state: 'open', orderStatus: 'B', modificationDate: EARLIER, changedAt: NOW } as const;

  it('is kept and its changes are recorded; its time makes no later record older', () => {
    const ahead = decide(known, found({ orderStatus: 'C', modificationDate: AHEAD }));
    expect(ahead).toMatchObject({ keepsRecord: true, tracking: { orderStatus: 'C', modificationDate: EARLIER } });
    const again = decide(ahead.tracking, found({ orderStatus: 'C', modificationDate: AHEAD }));
    expect(again.events).toEqual([]);
    const later = decide(again.tracking, found({ orderStatus: 'D', modificationDate: LATER }));
    expect(later.tracking).toMatchObject({ orderStatus: 'D', modificationDate: LATER });
    const stale = decide(later.tracking, found({ orderStatus: 'B', modificationDate: EARLIER }));
    expect(stale.tracking.orderStatus).toBe('D');
  });

  it('does not hold the order up if it was taken for the newest before', () => {
    const { tracking } = decide({ ...known, modificationDate: AHEAD }, found({ ...DONE, modificationDate: LATER }));
    expect(tracking).toMatchObject({ state: 'final', orderStatus: 'COMPLETED', modificationDate: LATER });
  });

  it('is like any other if the clock of the exchange says that it is not ahead: this one was set back', () => {
    const facts = { orderStatus: 'C', modificationDate: '2026-03-01T12:00:00Z', serverDate: '2026-03-01T12:00:01Z' };
    const { tracking } = decide(known, found(facts));
    expect(tracking.modificationDate).toBe(facts.modificationDate);
    const stale = decide(tracking, found({ ...facts, orderStatus: 'A', modificationDate: '2026-03-01T11:00:00Z' }));
    expect(stale.tracking.orderStatus).toBe('C');
  });

  it('is like any other up to a day: clocks differ', () => {
    const tomorrow = after(NOW, DAY).toISOString();
    const { tracking } = decide(known, found({ orderStatus: 'C', modificationDate: tomorrow }));
    expect(tracking.modificationDate).toBe(tomorrow);
  });
});

describe('a documented 404', () => {
  it.each(['accepted', 'open', 'held'] as const)('leaves an order that is %s as it is', (state) => {
    const decision = decide({ state, orderStatus: 'X', changedAt: NOW }, NOT_FOUND);
    expect(decision).toMatchObject({ tracking: { state, orderStatus: 'X', lastLookupAt: NOW }, events: [] });
  });

  it.each(['final', 'cancelled', 'abandoned'] as const)('spends a re-check of one that is %s', (state) => {
    const next = [0, 1, 2, 3].map((rechecks) => decide({ state, rechecks }, NOT_FOUND).tracking.nextActionAt);
    expect(next).toEqual([after(NOW, DAY - HOUR), after(NOW, 6 * DAY), null, null]);
  });

  it('looks a rejected order up again a day after it was rejected, and then never', () => {
    const next = [0, 1, 2].map((rechecks) => decide({ state: 'rejected', rechecks }, NOT_FOUND).tracking.nextActionAt);
    expect(next).toEqual([after(NOW, DAY - HOUR), null, null]);
  });

  it('spends one verification of an unknown outcome, and the last one holds the order', () => {
    const { verifyAfter } = SETTINGS;
    let tracking = trackingWith({ state: 'unknown', nextActionAt: NOW, sentAt: NOW });
    const moments = [];
    for (let look = 0; look < verifyAfter.length && tracking.nextActionAt !== null; look += 1) {
      const decision = decideLookup(tracking, NOT_FOUND, tracking.nextActionAt, 0.5, SETTINGS);
      tracking = decision.tracking;
      moments.push(tracking.state);
    }
    expect(moments).toEqual([...verifyAfter.slice(1).map(() => 'unknown'), 'held']);
    expect(tracking.stateReason).toMatch(/10 look-ups found no order/);
  });

  it('before its time spends none, and is not counted: three in a minute are not three proofs', () => {
    const unknown = { state: 'unknown', verifications: 9, nextActionAt: after(NOW, 1) } as const;
    expect(decide(unknown, NOT_FOUND).tracking).toMatchObject({
      state: 'unknown',
      verifications: 9,
      nextActionAt: after(NOW, 1),
      documentedAbsences: 0,
      absentAt: NOW,
    });
  });
});

describe('an accepted pre-order that no customer takes up', () => {
  const patient = { ...SETTINGS, giveUpAfter: 3 * DAY };
  const waiting = { state: 'accepted', sentAt: after(NOW, -9 * DAY), changedAt: after(NOW, -3 * DAY) } as const;

  it.each(['documented', 'likely'] as const)(
    'is given up after follow.giveUpAfter when none is found: %s',
    (evidence) => {
      const { tracking, events } = decide(waiting, { kind: 'absent', evidence }, patient);
      expect(tracking).toMatchObject({
        state: 'abandoned',
        changedAt: NOW,
        rechecks: 0,
        nextActionAt: after(NOW, HOUR),
      });
      expect(events).toMatchObject([{ field: 'state', oldValue: 'accepted', newValue: 'abandoned', source: 'lookup' }]);
      expect(tracking.stateReason).toMatch(/follow\.giveUpAfter/);
    },
  );

  it.each<[string, Partial<Tracking>, LookupAnswer, typeof SETTINGS]>([
    ['a millisecond earlier', { changedAt: after(NOW, 1 - 3 * DAY) }, NOT_FOUND, patient],
    ['without an answer', {}, UNANSWERED, patient],
    ['if no time is set', {}, NOT_FOUND, SETTINGS],
    ['once its order was found', { state: 'open' }, NOT_FOUND, patient],
    ['if it is not known since when', { changedAt: null, sentAt: null }, NOT_FOUND, patient],
  ])('is not given up %s', (_name, changes, answer, settings) => {
    const before = { ...waiting, ...changes };
    expect(decide(before, answer, settings).tracking.state).toBe(before.state);
  });
});

describe('likely absence', () => {
  it.each(['accepted', 'held', 'abandoned'] as const)('is fresh if no order was ever found: %s', (state) => {
    expect(decide({ state }, LIKELY).tracking).toMatchObject({ state, lastLookupAt: NOW });
  });

  it.each(['open', 'disputed', 'final'] as const)('is no answer about an order that was found: %s', (state) => {
    const known = { state, orderId: 'o1', changedAt: after(NOW, -MINUTE), lastLookupAt: after(NOW, -MINUTE) } as const;
    const [likely, documented] = [LIKELY, NOT_FOUND].map((answer) => decide(known, answer));
    expect(likely).toMatchObject({ tracking: { state, lastLookupAt: known.lastLookupAt }, events: [] });
    expect(documented?.tracking.lastLookupAt).toEqual(NOW);
    // An exchange that forgets old orders is not asked about each of them all the time.
    expect(likely?.tracking.nextActionAt).toEqual(documented?.tracking.nextActionAt);
    expect(likely?.tracking.rechecks).toBe(documented?.tracking.rechecks);
  });

  it.each(['unknown', 'accepted', 'held'] as const)('is not counted as documented: %s', (state) => {
    const before = { state, documentedAbsences: 2, absentAt: after(NOW, -MINUTE), nextActionAt: NOW } as const;
    expect(decide(before, LIKELY).tracking).toMatchObject({ documentedAbsences: 2, absentAt: before.absentAt });
    expect(decide(before, NOT_FOUND).tracking).toMatchObject({ documentedAbsences: 3, absentAt: NOW });
  });

  it('spends the verifications of an unknown outcome, so that a person is asked in the end', () => {
    let tracking = trackingWith({ state: 'unknown', nextActionAt: NOW, sentAt: NOW });
    for (let look = 0; look < SETTINGS.verifyAfter.length && tracking.nextActionAt !== null; look += 1) {
      tracking = decideLookup(tracking, LIKELY, tracking.nextActionAt, 0.5, SETTINGS).tracking;
    }
    expect(tracking).toMatchObject({ state: 'held', documentedAbsences: 0, absentAt: null });
  });
});

describe('an accepted order that is absent long after its create', () => {
  const sentAt = after(NOW, -RESEND_NOT_BEFORE_MS);
  const accepted = { state: 'accepted', sentAt, changedAt: sentAt, lastLookupAt: after(NOW, -1) } as const;

  it.each<[string, Partial<Tracking>, boolean]>([
    ['at the first look-up after 10 minutes', {}, true],
    ['never looked up before', { lastLookupAt: null }, true],
    ['once only', { lastLookupAt: NOW }, false],
    ['not before', { sentAt: after(sentAt, 1) }, false],
    ['not in another state', { state: 'held' }, false],
  ])('shows that absence proves nothing: %s', (_name, changes, shows) => {
    expect(isAcceptedAndAbsent(trackingWith({ ...accepted, ...changes }), NOW)).toBe(shows);
  });

  it('shows it also if a person said that it exists, after look-ups that had found none', () => {
    const held = trackingWith({ ...accepted, changedAt: after(NOW, 1), lastLookupAt: NOW });
    expect([0, 1].map((ms) => isAcceptedAndAbsent(held, after(NOW, ms)))).toEqual([false, true]);
  });
});

describe('no answer', () => {
  it.each(['unknown', 'held', 'accepted', 'open', 'final', 'cancelled', 'abandoned'] as const)(
    'is no evidence about an order that is %s: it is looked up again soon',
    (state) => {
      const before = { state, verifications: 3, rechecks: 1, lastLookupAt: NOW, nextActionAt: NOW } as const;
      const { tracking, events } = decide(before, UNANSWERED);
      expect(tracking).toEqual(sentOrder({ ...before, nextActionAt: after(NOW, 22_500) }));
      expect(events).toEqual([]);
    },
  );

  it('to a look-up before its time does not bring the next one forward', () => {
    const unknown = { state: 'unknown', verifications: 8, nextActionAt: after(NOW, 8 * HOUR) } as const;
    expect(decide(unknown, UNANSWERED).tracking).toEqual(sentOrder(unknown));
  });
});

describe('an order that alone is never answered', () => {
  it('is not asked for twice a minute because the clock was set back', () => {
    const { tracking } = decide({ state: 'open', sentAt: after(NOW, 40 * DAY), nextActionAt: NOW }, UNANSWERED);
    expect(tracking.nextActionAt).toEqual(after(NOW, 11.25 * MINUTE));
  });

  it.each(['unknown', 'accepted', 'open', 'final'] as const)('is asked for less and less, when it is %s', (state) => {
    let tracking = sentOrder({ state, sentAt: NOW, lastLookupAt: NOW, nextActionAt: NOW });
    const times: number[] = [];
    for (let now = NOW; now < after(NOW, DAY); now = tracking.nextActionAt ?? expect.fail()) {
      times.push(now.getTime() - NOW.getTime());
      tracking = decide(tracking, UNANSWERED, SETTINGS, now).tracking;
    }
    const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect([waits[0], waits.at(-1)]).toEqual([22_500, 0.75 * 15 * MINUTE]);
    expect(times.length).toBeLessThan(160);
  });
});

describe('sending again (create.onUnknown: resend)', () => {
  const resend = { ...SETTINGS, onUnknown: 'resend' as const };
  const unknown = {
    state: 'unknown',
    verifications: 2,
    documentedAbsences: 2,
    nextActionAt: NOW,
    sentAt: after(NOW, -RESEND_NOT_BEFORE_MS),
  } as const;

  it('goes by way of held, both moves recorded, when the third 404 comes 10 minutes after the request', () => {
    const { tracking, events } = decide(unknown, NOT_FOUND, resend);
    expect(tracking).toMatchObject({ state: 'pending', resends: 1, verifications: 0, nextActionAt: NOW });
    expect(events.map(({ oldValue, newValue }) => [oldValue, newValue])).toEqual([
      ['unknown', 'held'],
      ['held', 'pending'],
    ]);
  });

  it.each<[string, Partial<Tracking>]>([
    ['a millisecond before the 10 minutes', { sentAt: after(NOW, 1 - RESEND_NOT_BEFORE_MS) }],
    ['at the second 404', { documentedAbsences: 1 }],
    ['a second time', { resends: 1 }],
    ['if its time of sending is not known', { sentAt: null }],
    ['at a look-up before its time', { nextActionAt: after(NOW, 1), documentedAbsences: 9 }],
  ])('does not happen %s', (_name, changes) => {
    expect(decide({ ...unknown, ...changes }, NOT_FOUND, resend).tracking.state).toBe('unknown');
  });

  it('does not happen to an order that is held already, nor without an answer, nor when it is not asked for', () => {
    expect(decide({ ...unknown, state: 'held', verifications: 9 }, NOT_FOUND, resend).tracking.state).toBe('held');
    expect(decide(unknown, UNANSWERED, resend).tracking.state).toBe('unknown');
    expect(decide({ ...unknown, documentedAbsences: 9 }, LIKELY, resend).tracking.state).toBe('unknown');
    expect(decide(unknown, NOT_FOUND).tracking.state).toBe('unknown');
  });
});

describe('any sequence of answers', () => {
  const statuses = fc.constantFrom('REQUEST', 'NEW', 'PAID', 'DONE');
  const time = fc.integer({ min: 0, max: 9 }).map((hour) => `2026-01-05T0${hour}:00:00.000Z`);
  const dates = fc.oneof({ weight: 4, arbitrary: time }, fc.constantFrom(null, 'unreadable'));
  const record = fc
    .record({
      orderStatus: statuses,
      cryptoStatus: fc.option(statuses),
      fiatStatus: statuses,
      modificationDate: dates,
      completionDate: dates,
      serverDate: dates,
    })
    .map((facts) => found(facts));
  const answer = fc.oneof(record, fc.constantFrom(NOT_FOUND, LIKELY, UNANSWERED));
  const step = fc.record({ answer, waitMs: fc.constantFrom(0, SECOND, MINUTE, HOUR, DAY, 8 * DAY) });
  const start = fc.constantFrom<OrderState>('unknown', 'held', 'accepted', 'open', 'final', 'cancelled', 'abandoned');
  const settings = fc.constantFrom(SETTINGS, { ...SETTINGS, onUnknown: 'resend' as const, finalStatuses: ['DONE'] });

  it('moves an order along the table only, and leaves the row equal to its last events', () => {
    fc.assert(
      fc.property(start, settings, fc.array(step, { maxLength: 30 }), (state, chosen, steps) => {
        let now = NOW;
        let tracking = trackingWith({ state, attempts: 1, sentAt: NOW, changedAt: NOW, nextActionAt: NOW });
        const last = new Map<string, string | null>([['state', state]]);
        let newest = Number.NEGATIVE_INFINITY;
        for (const { answer: one, waitMs } of steps) {
          if (tracking.state === 'pending') break;
          now = after(now, waitMs);
          const before = tracking;
          const decision = decideLookup(before, one, now, 0.5, chosen);
          tracking = decision.tracking;
          replay(decision.events, last);
          expect([last.get('state'), last.get('order.status') ?? null]).toEqual([tracking.state, tracking.orderStatus]);
          expect(last.get('cryptoTransaction.status') ?? null).toBe(tracking.cryptoStatus);
          expect(last.get('fiatTransaction.status') ?? null).toBe(tracking.fiatStatus);
          const received = one.kind === 'found' ? Date.parse(one.record.modificationDate ?? '') : Number.NaN;
          expect(decision.keepsRecord).toBe(one.kind === 'found' && !(received < newest));
          if (one.kind !== 'found' || received < newest) expect(statusesOf(tracking)).toEqual(statusesOf(before));
          else expect(statusesOf(tracking)).toEqual(statusesOf(one.record));
          if (received > newest) newest = received;
          expect(tracking.resends).toBeLessThanOrEqual(1);
          expectNextLook(tracking, now);
        }
      }),
      { numRuns: 300 },
    );
  });

  function statusesOf({
    orderStatus,
    cryptoStatus,
    fiatStatus,
  }: Pick<Tracking, 'orderStatus' | 'cryptoStatus' | 'fiatStatus'>) {
    return { orderStatus, cryptoStatus, fiatStatus };
  }

  /** Each event begins with the end of the last one of its field, and is a change; states move along the table. */
  function replay(events: readonly OrderEvent[], last: Map<string, string | null>): void {
    for (const { field, oldValue, newValue } of events) {
      if (field === 'finding') continue;
      expect(oldValue).toBe(last.get(field) ?? null);
      expect(newValue).not.toBe(oldValue);
      if (field === 'state') expect(isAllowedMove(oldValue as OrderState, newValue as OrderState)).toBe(true);
      last.set(field, newValue);
    }
  }

  /** No order that is still followed is forgotten, and none is looked up in a loop. */
  function expectNextLook({ state, nextActionAt }: Tracking, now: Date): void {
    if (nextActionAt === null) expect(['final', 'cancelled', 'abandoned']).toContain(state);
    else if (state !== 'pending') expect(nextActionAt.getTime()).toBeGreaterThan(now.getTime());
  }
});
