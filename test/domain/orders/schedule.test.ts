import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createBackoffMs,
  longestFreshMs,
  HELD_LOOKUP_MS,
  LONGEST_WAIT_MS,
  plannedGapMs,
  spreadMs,
  unansweredLookupMs,
  withJitter,
} from '../../../src/domain/orders/schedule.ts';
import { DAY, HOUR, MINUTE, SECOND, SETTINGS } from '../../support/tracking.ts';

const chance = () => fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('jitter', () => {
  it('draws from the upper half of the time', () => {
    expect(withJitter(1_000, 0)).toBe(500);
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 10 * DAY }), chance(), (ms, random) => {
        const drawn = withJitter(ms, random);
        expect(drawn).toBeGreaterThanOrEqual(Math.floor(ms / 2));
        expect(drawn).toBeLessThanOrEqual(ms);
      }),
    );
  });

  it('of a first look-up is a quarter to either side', () => {
    expect([spreadMs(1_000, 0), spreadMs(1_000, 0.5), spreadMs(1_000, 0.999_999)]).toEqual([750, 1_000, 1_250]);
  });

  it('gives retries of different chance different times', () => {
    const drawn = new Set([0.1, 0.3, 0.5, 0.7, 0.9].map((random) => createBackoffMs(5, random)));
    expect(drawn.size).toBe(5);
  });
});

it('no schedule waits for longer than eight days', () => expect(LONGEST_WAIT_MS).toBe(8 * DAY));

describe('the backoff of creates', () => {
  it.each([
    [0, 1],
    [1, 2],
    [2, 4],
    [3, 8],
    [8, 256],
    [9, 300],
    [10_000, 300],
  ])('after %d attempts is at most %d s', (attempts, seconds) => {
    expect(createBackoffMs(attempts, 0.999_999_9)).toBe(seconds * SECOND);
  });

  it('stays between 1 s and 5 min whatever the attempt and the chance', () => {
    fc.assert(
      fc.property(fc.nat(), chance(), (attempts, random) => {
        const ms = createBackoffMs(attempts, random);
        expect(ms).toBeGreaterThanOrEqual(SECOND);
        expect(ms).toBeLessThanOrEqual(5 * MINUTE);
      }),
    );
  });
});

describe('other waits', () => {
  it('looks again 15 s to 30 s after no answer', () => {
    expect([unansweredLookupMs(0, 0), unansweredLookupMs(0, 0.999_999_9)]).toEqual([15 * SECOND, 30 * SECOND]);
    expect([-DAY, 2 * MINUTE, 10 * MINUTE, HOUR, DAY].map((ms) => unansweredLookupMs(ms, 0))).toEqual(
      [15, 15, 75, 450, 450].map((seconds) => seconds * SECOND),
    );
  });

  it('is never longer than a look-up counts as fresh, with a tenth to spare', () => {
    expect([1_000, DAY, 9 * DAY].map(longestFreshMs)).toEqual([5_000, 0.9 * DAY, 8.1 * DAY]);
  });

  it('looks a held order up once a day', () => {
    expect(HELD_LOOKUP_MS).toBe(DAY);
  });

  it('spaces verifications so that without an outage they come at the moments of the setting', () => {
    const { verifyAfter } = SETTINGS;
    const gaps = verifyAfter.map((_, done) => plannedGapMs(done, verifyAfter) ?? 0);
    let at = 0;
    expect(gaps.map((gap) => (at += gap))).toEqual(verifyAfter);
    expect(plannedGapMs(verifyAfter.length, verifyAfter)).toBeUndefined();
  });

  it('re-checks a final order after 1 h, 1 d and 7 d, and then never', () => {
    const { recheckFinalAfter } = SETTINGS;
    expect([0, 1, 2, 3].map((done) => plannedGapMs(done, recheckFinalAfter))).toEqual([
      HOUR,
      DAY - HOUR,
      6 * DAY,
      undefined,
    ]);
    expect(plannedGapMs(0, [])).toBeUndefined();
  });
});
