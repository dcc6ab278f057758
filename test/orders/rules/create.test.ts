import { describe, expect, it } from 'vitest';
import { whyNeverLeft } from '../../../src/extensions/reports/story/next.ts';
import { LEAST_GAP_MS, type PacedOrder } from '../../../src/orders/rules/lookup.ts';
import {
  becomesUnknown,
  decideClaim,
  decideCreated,
  decideCorrected,
  isNotTaken,
  type CreateOutcome,
} from '../../../src/orders/rules/create.ts';
import { ORDER_STATES } from '../../../src/orders/rules/states.ts';
import type { Decision } from '../../../src/orders/rules/tracking.ts';
import type { UncheckedOrder } from '../../../src/orders/rules/record.ts';
import { after } from '../../../src/base/instant.ts';
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
    const before = { attempts: 2, nextActionAt: NOW, documentedAbsences: 2, absentAt: NOW };
    const claim = decideClaim(trackingWith(before), ROW, NOW);
    expect(claim).toMatchObject({
      kind: 'send',
      order: ROW,
      decision: {
        tracking: {
          state: 'sending',
          attempts: 3,
          sentAt: NOW,
          nextActionAt: null,
          // Whatever proved that the request before this one was not taken proves nothing of this one.
          documentedAbsences: 0,
          absentAt: null,
        },
        events: [{ field: 'state', oldValue: 'pending', newValue: 'sending', source: 'create' }],
      },
    });
  });

  it('sends nothing of a row that is not valid', () => {
    expect(decideClaim(trackingWith({ nextActionAt: NOW }), { ...ROW, asset: '0' }, NOW)).toMatchObject({
      kind: 'invalid',
      decision: {
        tracking: { state: 'invalid', attempts: 0, nextActionAt: null, stateReason: 'asset must be positive, is "0"' },
        events: [{ source: 'create' }],
      },
    });
  });

  it.each(ORDER_STATES.filter((state) => state !== 'pending'))('passes over a row that is %s by now', (state) => {
    expect(decideClaim(trackingWith({ state }), ROW, NOW)).toEqual({ kind: 'skip' });
  });

  it('checks a row again that was corrected, and no other', () => {
    const later = after(NOW, HOUR);
    expect(decideCorrected(trackingWith({ state: 'invalid', nextActionAt: NOW }), later)).toMatchObject({
      tracking: { state: 'pending', nextActionAt: later },
      events: [{ source: 'import', reason: expect.stringMatching(/./) as string }],
    });
    expect(decideCorrected(trackingWith({ state: 'invalid' }), NOW)).toBeUndefined();
    expect(decideCorrected(trackingWith({ state: 'rejected', nextActionAt: NOW }), NOW)).toBeUndefined();
  });
});

describe('a row that was inserted with null for its account', () => {
  const claimed = (stateReason: string | null, row: UncheckedOrder, isOnlyAccount?: boolean) =>
    decideClaim(trackingWith({ stateReason }), row, NOW, isOnlyAccount);
  const why = (row: UncheckedOrder) => {
    const claim = claimed('account is null', row, false);
    return claim.kind === 'invalid' ? claim.decision.tracking.stateReason : claim.kind;
  };

  it('is of the only account, and is sent', () => {
    expect([undefined, true].map((isOnly) => claimed('account is null', ROW, isOnly).kind)).toEqual(['send', 'send']);
  });

  it('is invalid if several accounts are configured, beside all that is wrong with it', () => {
    expect(why(ROW)).toMatch(/^account is null, .* orders retry if it is default$/);
    expect(why({ ...ROW, asset: '0' })).toBe(`${why(ROW)}; asset must be positive, is "0"`);
    expect([null, 'account'].map((reason) => claimed(reason, ROW, false).kind)).toEqual(['send', 'send']);
  });

  it('shows whose it is only once its account is corrected', () => {
    const corrected = (account: string, stateReason: string | null) =>
      decideCorrected(trackingWith({ account, state: 'invalid', stateReason, nextActionAt: NOW }), NOW)?.tracking;
    const reasons = [why(ROW), why({ ...ROW, asset: '0' }), 'asset must be positive, is "0"', null];
    const isAccountUnclear = (account: string) =>
      reasons.map((reason) => corrected(account, reason)?.stateReason === 'account is null');
    expect(isAccountUnclear('default')).toEqual([true, true, false, false]);
    expect(isAccountUnclear('other')).toEqual([false, false, false, false]);
  });
});

describe('the outcome rule', () => {
  const preOrder = { id: 'p1', exchangeType: 'SELL', body: '{}' };

  it('accepted: the id is kept, the order is looked up in 5 s', () => {
    const { tracking, events } = created({ kind: 'accepted', preOrder, differences: [] });
    expect(tracking).toMatchObject({ state: 'accepted', preOrderId: 'p1', exchangeType: 'SELL', stateReason: null });
    expect(tracking).toMatchObject({ nextActionAt: after(NOW, 5 * SECOND), changedAt: NOW });
    expect(events).toMatchObject([{ field: 'state', source: 'create' }]);
  });

  it('accepted: orders of one import are not looked up together, none too soon and none too late', () => {
    const dueAfter = (gapMs: number) =>
      [0, 0.5, 0.999].map((random) => {
        const settings = {
          ...SETTINGS,
          pace: { gapMs: ({ state }: PacedOrder) => (state === 'accepted' ? gapMs : Number.NaN) },
          freshFor: DAY,
        };
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
      { class: 'PREORDER_ECHO_MISMATCH', expected: 'asset 1', actual: 'asset 2' },
      { class: 'PREORDER_TOKEN_MISMATCH', expected: 'a token', actual: 'another' },
      { class: 'PREORDER_ECHO_MISMATCH', expected: 'limit 3', actual: 'no limit' },
    ] as const;
    const { tracking, events } = created({ kind: 'accepted', preOrder, differences });
    expect(tracking.state).toBe('accepted');
    expect(events[1]).toMatchObject({
      field: 'finding',
      source: 'create',
      newValue: 'PREORDER_ECHO_MISMATCH',
      reason: 'sent asset 1, echoed asset 2; sent limit 3, echoed no limit',
    });
    expect(events[2]).toMatchObject({ newValue: 'PREORDER_TOKEN_MISMATCH', reason: 'sent a token, echoed another' });
  });

  it('rejected: looked up in an hour, in case the exchange took it after all', () => {
    const again = trackingWith({ state: 'sending', rechecks: 2 });
    const { tracking, events } = only(
      decideCreated(again, { kind: 'rejected', reason: 'HTTP 400' }, NOW, 0.5, SETTINGS),
    );
    expect(tracking).toMatchObject({
      state: 'rejected',
      stateReason: 'HTTP 400',
      rechecks: 0,
      changedAt: NOW,
      nextActionAt: after(NOW, HOUR),
    });
    expect(events).toMatchObject([{ source: 'create' }]);
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

  it.each<[CreateOutcome, string]>([
    [{ kind: 'not-sent', why: 'refused' }, 'refused'],
    [{ kind: 'rate-limited', retryAfterMs: 0 }, '429'],
    [{ kind: 'key-refused' }, '401'],
    [{ kind: 'forbidden', reason: 'HTTP 403' }, 'HTTP 403'],
  ])('%o: the reason of the order that waits again says why', (outcome, why) => {
    const { tracking, events } = created(outcome);
    expect(tracking.stateReason).toContain(why);
    expect(tracking.forbiddenIn).toBe(outcome.kind === 'forbidden' ? 1 : 0);
    expect(events).toMatchObject([{ newValue: 'pending', source: 'create', reason: tracking.stateReason }]);
  });

  it('forbidden: back to pending, later with each attempt, with the hold in which that was', () => {
    const sending = trackingWith({ state: 'sending', attempts: 2, forbiddenIn: 3 });
    const outcome = { kind: 'forbidden', reason: 'HTTP 403' } as const;
    expect(only(decideCreated(sending, outcome, NOW, 0.5, SETTINGS, 4)).tracking).toMatchObject({
      state: 'pending',
      forbiddenIn: 4,
      nextActionAt: after(NOW, 3_000),
    });
  });

  it('rate limited: back to pending for exactly as long as the exchange says', () => {
    const { tracking } = created({ kind: 'rate-limited', retryAfterMs: 77_000 }, 9);
    expect(tracking).toMatchObject({ state: 'pending', nextActionAt: after(NOW, 77_000) });
    expect(created({ kind: 'rate-limited', retryAfterMs: -5 }).tracking.nextActionAt).toEqual(NOW);
  });

  it('unknown: verified from 5 s on, with nothing spent yet', () => {
    const { tracking } = created({ kind: 'unknown', why: 'reset' });
    expect(tracking).toMatchObject({ state: 'unknown', stateReason: 'reset', verifications: 0, changedAt: NOW });
    expect(tracking.nextActionAt).toEqual(after(NOW, 5 * SECOND));
    const never = becomesUnknown(trackingWith({ state: 'sending' }), 'reset', NOW, { verifyAfter: [] });
    expect(never).toMatchObject({ tracking: { nextActionAt: NOW }, events: [{ source: 'create' }] });
  });

  it('changes nothing of an order that is not sending any more, unless the exchange has taken it', () => {
    const outcomes: CreateOutcome[] = [
      { kind: 'rejected', reason: '' },
      { kind: 'not-sent', why: '' },
      { kind: 'rate-limited', retryAfterMs: 0 },
      { kind: 'key-refused' },
      { kind: 'forbidden', reason: '' },
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
      const events = decisions.flatMap((one) => one.events);
      expect(events).toHaveLength(way[0] === state ? 0 : way.length);
      expect(events.every(({ source }) => source === 'create')).toBe(true);
      // Only the move that stands for the request tells that its answer came late.
      expect(events.map(({ reason }) => reason !== null)).toEqual(events.map((_, index) => index < way.length - 1));
    },
  );

  it('accepted late counts the request of an order that waits to be sent as made', () => {
    const late = { kind: 'accepted', preOrder, differences: [] } as const;
    const waiting = trackingWith({ state: 'pending', attempts: 1, nextActionAt: NOW });
    const [sending] = decideCreated(waiting, late, NOW, 0.5, SETTINGS);
    expect(sending?.tracking).toMatchObject({ state: 'sending', attempts: 2, nextActionAt: null });
    expect(sending?.events[0]?.reason).toMatch(/./);
  });

  it('accepted late leaves the id that is known', () => {
    const late = { kind: 'accepted', preOrder, differences: [] } as const;
    expect(decideCreated(trackingWith({ state: 'open', preOrderId: 'p0' }), late, NOW, 0.5, SETTINGS)).toEqual([]);
  });

  it('takes a second outcome of a resent order as it takes the first, with every verification ahead again', () => {
    const again = trackingWith({ state: 'sending', verifications: 7, resends: 1 });
    expect(becomesUnknown(again, 'reset', NOW, SETTINGS).tracking).toMatchObject({ verifications: 0, resends: 1 });
  });
});

describe('whether a create was not taken, for sure', () => {
  const preOrder = { id: 'p1', exchangeType: null, body: '{}' };

  it.each<[CreateOutcome, number, boolean]>([
    [{ kind: 'accepted', preOrder, differences: [] }, 0, false],
    [{ kind: 'unknown', why: '' }, 0, false],
    [{ kind: 'rejected', reason: '' }, 0, true],
    [{ kind: 'rejected', reason: '' }, 1, false],
    [{ kind: 'not-sent', why: '' }, 1, true],
    [{ kind: 'rate-limited', retryAfterMs: 0 }, 0, true],
    [{ kind: 'key-refused' }, 0, true],
    [{ kind: 'forbidden', reason: '' }, 0, true],
  ])('%o, sent again %d times: %s', (outcome, resends, isProved) => {
    expect(isNotTaken(outcome, { resends })).toBe(isProved);
  });

  it('is read from the reason of an order whose request never left', () => {
    const { tracking } = created({ kind: 'not-sent', why: 'connection refused' });
    expect(whyNeverLeft(tracking.stateReason)).toBe('connection refused');
    expect(whyNeverLeft(created({ kind: 'key-refused' }).tracking.stateReason)).toBeUndefined();
    expect(whyNeverLeft(null)).toBeUndefined();
  });
});
