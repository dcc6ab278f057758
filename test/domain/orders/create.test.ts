import { describe, expect, it } from 'vitest';
import {
  becomesUnknown,
  decideClaim,
  decideCreated,
  decideCorrected,
  type CreateOutcome,
} from '../../../src/domain/orders/create.ts';
import { ORDER_STATES } from '../../../src/domain/orders/states.ts';
import type { Decision } from '../../../src/domain/orders/tracking.ts';
import type { UncheckedOrder } from '../../../src/domain/record.ts';
import { after } from '../../../src/domain/instant.ts';
import { LEAST_GAP_MS } from '../../../src/domain/orders/pace/pace.ts';
import { DAY, HOUR, SECOND, SETTINGS, trackingWith } from '../../support/tracking.ts';

const NOW = new Date('2026-01-05T12:00:00.000Z');
const ROW: UncheckedOrder = {
  externalOrderId: 'a',
  asset: '1.5',
  assetPosition: 'INPUT',
  fromCurrency: 'BTC',
  toCurrency: 'EUR',
  orderType: 'DEPOSIT',
  limit: null,
  paymentToken: null,
  providerType: null,
  cryptoAddress: null,
  bonus: null,
};

function created(outcome: CreateOutcome, attempts = 1) {
  const sending = trackingWith({ state: 'sending', attempts, sentAt: NOW });
  return only(decideCreated(sending, outcome, NOW, 0.5, SETTINGS));
}

/** The one decision that there is. */
function only(decisions: readonly Decision[]): Decision {
  expect(decisions).toHaveLength(1);
  return decisions[0]!;
}

describe('claiming a row', () => {
  it('records the attempt and the time before anything is sent', () => {
    const claim = decideClaim(trackingWith({ attempts: 2, nextActionAt: NOW }), ROW, NOW);
    expect(claim).toMatchObject({
      kind: 'send',
      order: ROW,
      decision: {
        tracking: { state: 'sending', attempts: 3, sentAt: NOW, nextActionAt: null },
        events: [{ field: 'state', oldValue: 'pending', newValue: 'sending' }],
      },
    });
  });

  it('sends nothing of a row that is not valid', () => {
    expect(decideClaim(trackingWith(), { ...ROW, asset: '0' }, NOW)).toMatchObject({
      kind: 'invalid',
      decision: {
        tracking: { state: 'invalid', attempts: 0, nextActionAt: null, stateReason: 'asset must be positive, is "0"' },
      },
    });
  });

  it.each(ORDER_STATES.filter((state) => state !== 'pending'))('passes over a row that is %s by now', (state) => {
    expect(decideClaim(trackingWith({ state }), ROW, NOW)).toEqual({ kind: 'skip' });
  });

  it('checks a row again that was corrected, and no other', () => {
    expect(decideCorrected(trackingWith({ state: 'invalid', nextActionAt: NOW }), NOW)?.tracking.state).toBe('pending');
    expect(decideCorrected(trackingWith({ state: 'invalid' }), NOW)).toBeUndefined();
    expect(decideCorrected(trackingWith({ state: 'rejected', nextActionAt: NOW }), NOW)).toBeUndefined();
  });
});

describe('the outcome rule', () => {
  const preOrder = { id: 'p1', exchangeType: 'SELL', body: '{}' };

  it('accepted: the id is kept, the order is looked up in 5 s', () => {
    const { tracking, events } = created({ kind: 'accepted', preOrder, differences: [] });
    expect(tracking).toMatchObject({ state: 'accepted', preOrderId: 'p1', exchangeType: 'SELL', stateReason: null });
    expect(tracking.nextActionAt).toEqual(after(NOW, 5 * SECOND));
    expect(events.map(({ field }) => field)).toEqual(['state']);
  });

  it('accepted: orders of one import are not looked up together, none too soon and none too late', () => {
    const dueAfter = (gapMs: number) =>
      [0, 0.5, 0.999].map((random) => {
        const settings = { ...SETTINGS, pace: { gapMs: () => gapMs }, freshFor: DAY };
        const outcome = { kind: 'accepted', preOrder, differences: [] } as const;
        const sending = trackingWith({ state: 'sending', attempts: 1, sentAt: NOW });
        const { tracking } = only(decideCreated(sending, outcome, NOW, random, settings));
        return (tracking.nextActionAt?.getTime() ?? 0) - NOW.getTime();
      });
    expect(dueAfter(HOUR)).toEqual([0.75 * HOUR, HOUR, 1.2495 * HOUR]);
    expect(dueAfter(0.9 * DAY)).toEqual([58_320_000, 0.9 * DAY, 0.9 * DAY]);
    expect(dueAfter(5 * SECOND)).toEqual([LEAST_GAP_MS, 5 * SECOND, 6_248]);
    expect(dueAfter(1)).toEqual([LEAST_GAP_MS, LEAST_GAP_MS, LEAST_GAP_MS]);
  });

  it('accepted with another echo: a finding beside it', () => {
    const differences = [
      { expected: 'asset 1', actual: 'asset 2' },
      { expected: 'limit 3', actual: 'no limit' },
    ] as const;
    const { tracking, events } = created({ kind: 'accepted', preOrder, differences });
    expect(tracking.state).toBe('accepted');
    expect(events[1]).toMatchObject({
      field: 'finding',
      newValue: 'PREORDER_ECHO_MISMATCH',
      reason: 'sent asset 1, echoed asset 2; sent limit 3, echoed no limit',
    });
  });

  it('rejected: looked up in an hour, in case the exchange took it after all', () => {
    expect(created({ kind: 'rejected', reason: 'HTTP 400' }).tracking).toMatchObject({
      state: 'rejected',
      stateReason: 'HTTP 400',
      rechecks: 0,
      nextActionAt: after(NOW, HOUR),
    });
  });

  it('rejected when it was sent a second time: the exchange may have taken the first, so it is looked up', () => {
    const again = trackingWith({ state: 'sending', resends: 1, verifications: 4 });
    const { tracking } = only(decideCreated(again, { kind: 'rejected', reason: 'HTTP 409' }, NOW, 0.5, SETTINGS));
    expect(tracking).toMatchObject({
      state: 'unknown',
      stateReason: 'HTTP 409; but an earlier create may have been taken',
      verifications: 0,
      nextActionAt: after(NOW, 5 * SECOND),
    });
  });

  it('not sent and key refused: back to pending, later with each attempt', () => {
    const waits = [1, 2, 3, 4].map((attempts) => {
      const { tracking } = created({ kind: 'not-sent', why: 'refused' }, attempts);
      expect(tracking).toMatchObject({ state: 'pending', stateReason: 'not sent: refused' });
      return (tracking.nextActionAt?.getTime() ?? 0) - NOW.getTime();
    });
    expect(waits).toEqual([1_500, 3_000, 6_000, 12_000]);
    expect(created({ kind: 'key-refused' }).tracking).toMatchObject({
      state: 'pending',
      nextActionAt: after(NOW, 1_500),
    });
  });

  it('rate limited: back to pending for exactly as long as the exchange says', () => {
    const { tracking } = created({ kind: 'rate-limited', retryAfterMs: 77_000 }, 9);
    expect(tracking).toMatchObject({ state: 'pending', nextActionAt: after(NOW, 77_000) });
    expect(created({ kind: 'rate-limited', retryAfterMs: -5 }).tracking.nextActionAt).toEqual(NOW);
  });

  it('unknown: verified from 5 s on, with nothing spent yet', () => {
    const { tracking } = created({ kind: 'unknown', why: 'reset' });
    expect(tracking).toMatchObject({ state: 'unknown', stateReason: 'reset', verifications: 0 });
    expect(tracking.nextActionAt).toEqual(after(NOW, 5 * SECOND));
  });

  it('changes nothing of an order that is not sending any more, unless the exchange has taken it', () => {
    const outcomes: CreateOutcome[] = [
      { kind: 'rejected', reason: '' },
      { kind: 'not-sent', why: '' },
      { kind: 'rate-limited', retryAfterMs: 0 },
      { kind: 'key-refused' },
      { kind: 'unknown', why: '' },
    ];
    for (const state of ORDER_STATES.filter((one) => one !== 'sending')) {
      for (const outcome of outcomes) {
        expect(decideCreated(trackingWith({ state }), outcome, NOW, 0.5, SETTINGS)).toEqual([]);
      }
    }
  });

  it.each([
    ['held', ['accepted']],
    ['unknown', ['held', 'accepted']],
    ['pending', ['sending', 'accepted']],
    ['accepted', ['accepted']],
    ['open', ['open']],
    ['rejected', ['rejected']],
    ['abandoned', ['abandoned']],
  ] as const)(
    'accepted, but the order is %s by now: it goes by the moves of the table and has the id',
    (state, way) => {
      const late = { kind: 'accepted', preOrder, differences: [] } as const;
      const decisions = decideCreated(trackingWith({ state, attempts: 1 }), late, NOW, 0.5, SETTINGS);
      expect(decisions.map(({ tracking }) => tracking.state)).toEqual(way);
      expect(decisions.at(-1)?.tracking.preOrderId).toBe('p1');
    },
  );

  it('accepted late leaves the id that is known', () => {
    const late = { kind: 'accepted', preOrder, differences: [] } as const;
    expect(decideCreated(trackingWith({ state: 'open', preOrderId: 'p0' }), late, NOW, 0.5, SETTINGS)).toEqual([]);
  });

  it('takes a second outcome of a resent order as it takes the first, with every verification ahead again', () => {
    const again = trackingWith({ state: 'sending', verifications: 7, resends: 1 });
    expect(becomesUnknown(again, 'reset', NOW, SETTINGS).tracking).toMatchObject({ verifications: 0, resends: 1 });
  });
});
