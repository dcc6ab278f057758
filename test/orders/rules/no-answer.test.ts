import { describe, expect, it } from 'vitest';
import { after } from '../../../src/base/instant.ts';
import { isAcceptedAndAbsent } from '../../../src/orders/rules/absent.ts';
import { decideLookup } from '../../../src/orders/rules/follow.ts';
import { LEAST_GAP_MS, type LookupAnswer } from '../../../src/orders/rules/lookup.ts';
import type { Tracking } from '../../../src/orders/rules/tracking.ts';
import { DAY, found, HOUR, MINUTE, SECOND, SETTINGS, trackingWith } from '../../support/tracking.ts';

const NOW = new Date('2026-01-05T12:00:00.000Z');
const NOT_FOUND: LookupAnswer = { kind: 'absent', evidence: 'documented' };
const OF_OTHER: LookupAnswer = { kind: 'unanswered', why: 'another order', answeredFor: 'b' };

function decide(tracking: Partial<Tracking>, answer: LookupAnswer) {
  return decideLookup(trackingWith({ attempts: 1, ...tracking }), answer, NOW, 0.5, SETTINGS);
}

describe('an answer about another order', () => {
  const waitMs = (tracking: Partial<Tracking>) =>
    (decide(tracking, OF_OTHER).tracking.nextActionAt?.getTime() ?? 0) - NOW.getTime();

  it.each<[Tracking['state'], number, number]>([
    // The pace goes by the time since the last evidence.
    ['open', 2 * MINUTE, 80 * SECOND],
    ['accepted', 2 * HOUR, HOUR],
    ['unknown', SECOND, LEAST_GAP_MS],
    ['unknown', 10 * MINUTE, 5 * MINUTE],
    ['unknown', DAY, HOUR],
    ['held', DAY, 12 * HOUR],
    ['held', 9 * DAY, DAY],
    ['final', 3 * HOUR, 1.5 * HOUR],
  ])('about one that is %s, and silent for %d ms, has it looked up in %d ms', (state, silentMs, ms) => {
    const lastLookupAt = after(NOW, -silentMs);
    expect(waitMs({ state, lastLookupAt, sentAt: after(NOW, -30 * DAY) })).toBe(ms);
  });

  it('before its time leaves the look-up that is planned', () => {
    expect(waitMs({ state: 'unknown', sentAt: NOW, nextActionAt: after(NOW, 3 * HOUR) })).toBe(3 * HOUR);
    expect(waitMs({ state: 'unknown', sentAt: after(NOW, -HOUR), nextActionAt: NOW })).toBe(HOUR / 2);
  });
});

it.each([0, HOUR])('no answer in an outage, %d ms after the last one, has an order looked up in 10 s', (silentMs) => {
  const open = { state: 'open', lastLookupAt: after(NOW, -silentMs), sentAt: after(NOW, -DAY) } as const;
  const outage: LookupAnswer = { kind: 'unanswered', why: 'HTTP 502', isOutage: true };
  expect(decide(open, outage).tracking.nextActionAt).toEqual(after(NOW, 10 * SECOND));
});

describe('a documented absence', () => {
  it('takes a request for sent now that a fast clock dated ahead', () => {
    const sentAt = (ms: number) => decide({ state: 'unknown', sentAt: after(NOW, ms) }, NOT_FOUND).tracking.sentAt;
    expect([sentAt(HOUR), sentAt(-HOUR)]).toEqual([NOW, after(NOW, -HOUR)]);
    expect(decide({ state: 'accepted' }, NOT_FOUND).tracking.sentAt).toBeNull();
  });

  it('that is the last one holds the order, to be looked up in a day', () => {
    const { tracking, events } = decide({ state: 'unknown', verifications: 9, sentAt: NOW }, NOT_FOUND);
    expect(tracking).toMatchObject({ state: 'held', verifications: 10, nextActionAt: after(NOW, DAY) });
    expect(events).toMatchObject([{ newValue: 'held', source: 'lookup', reason: tracking.stateReason }]);
  });

  it('proves nothing of an account by an order whose time of sending is not known', () => {
    expect(isAcceptedAndAbsent(trackingWith({ state: 'accepted' }), NOW)).toBe(false);
  });
});

it('a change that a fast clock dated ahead counts as made now, whatever is answered', () => {
  const open = { state: 'open', stateReason: 'r', orderId: 'o1', changedAt: after(NOW, HOUR) } as const;
  expect(decide(open, NOT_FOUND).tracking).toMatchObject({ ...open, changedAt: NOW });
  expect(decide({ ...open, changedAt: NOW }, NOT_FOUND).tracking.changedAt).toEqual(NOW);
});

it('an older record of an unknown order spends no verification, and leaves the next one as it is planned', () => {
  const nextActionAt = after(NOW, 4 * HOUR);
  const unknown = {
    state: 'unknown',
    verifications: 3,
    modificationDate: '2026-01-05T11:00:00Z',
    nextActionAt,
  } as const;
  expect(decide(unknown, found({ modificationDate: '2026-01-05T10:00:00Z' })).tracking).toMatchObject({
    state: 'unknown',
    verifications: 3,
    nextActionAt,
  });
});
