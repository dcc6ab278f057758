import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createBackoffMs,
  HELD_LOOKUP_MS,
  isNeverLookedUp,
  LONGEST_WAIT_MS,
  longestLookupGapMs,
  LOOKUP_SOURCES,
  LOOKUPS_A_ROUND,
  nextRound,
  plannedGapMs,
  spreadMs,
  unansweredLookupMs,
  withJitter,
  type DueLookup,
} from '../../../src/orders/rules/schedule.ts';
import { DAY, HOUR, MINUTE, SECOND, SETTINGS } from '../../support/tracking.ts';
import { FOLLOWED_STATES, RECHECKED_STATES } from '../../../src/orders/rules/states.ts';

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

  it('draws different times for retries of different chance', () => {
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
    expect([1_000, DAY, 9 * DAY].map(longestLookupGapMs)).toEqual([5_000, 0.9 * DAY, 8.1 * DAY]);
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

/** `count` orders of a source, the oldest first. */
function due(source: DueLookup['source'], count: number): DueLookup[] {
  return Array.from({ length: count }, (_, index) => ({
    source,
    externalOrderId: `${source}-${String(index).padStart(4, '0')}`,
    nextActionAt: `2026-01-05T12:00:00.${String(index).padStart(3, '0')}Z`,
  }));
}

const countOf = (round: readonly DueLookup[], ...sources: readonly DueLookup['source'][]) =>
  round.filter(({ source }) => sources.includes(source)).length;

describe('the sources of look-ups', () => {
  it('are the states that are looked up, and the accepted orders that never were', () => {
    expect([...LOOKUP_SOURCES].toSorted()).toEqual(
      [...FOLLOWED_STATES, ...RECHECKED_STATES, 'new', 'newest'].toSorted(),
    );
    expect(LOOKUP_SOURCES.filter(isNeverLookedUp)).toEqual(['new', 'newest']);
  });
});

describe('a round of look-ups', () => {
  it('has of each group some, more of the urgent ones, if all have many', () => {
    const round = nextRound(LOOKUP_SOURCES.flatMap((source) => due(source, 100)));
    const shares = [
      countOf(round, 'unknown'),
      countOf(round, 'new', 'newest'),
      countOf(round, 'open', 'disputed'),
      countOf(round, 'accepted'),
      countOf(round, 'held', 'final', 'rejected', 'cancelled', 'abandoned'),
    ];
    expect(shares).toEqual([16, 8, 5, 2, 1]);
  });

  it('is filled up by one group if the others have nothing', () => {
    expect(nextRound(due('final', 100))).toEqual(due('final', LOOKUPS_A_ROUND));
    expect(nextRound([...due('final', 100), ...due('open', 1)]).map(({ source }) => source)[0]).toBe('open');
  });

  it('has all that are due if they are few, and nothing if nothing is', () => {
    expect(nextRound(due('held', 3))).toEqual(due('held', 3));
    expect(nextRound([])).toEqual([]);
  });

  it('begins with the oldest of a group, of whatever source it is, and by the id if two are as old', () => {
    const order = (source: DueLookup['source'], externalOrderId: string, second: number): DueLookup => ({
      source,
      externalOrderId,
      nextActionAt: `2026-01-05T12:00:0${second}.000Z`,
    });
    const sorted = [order('disputed', 'd', 1), order('open', 'a', 2), order('disputed', 'b', 2), order('open', 'c', 3)];
    const [first, second, third, fourth] = sorted as [DueLookup, DueLookup, DueLookup, DueLookup];
    expect(nextRound([fourth, second, third, first])).toEqual(sorted);
    expect(nextRound([third, first, fourth, second])).toEqual(sorted);
  });

  it('has in every other place the newest of the orders that were never looked up, and each of them once', () => {
    const waiting = due('new', 100);
    const newest = waiting.toReversed().map((one) => ({ ...one, source: 'newest' as const }));
    const round = nextRound([...waiting.slice(0, LOOKUPS_A_ROUND), ...newest.slice(0, LOOKUPS_A_ROUND)]);
    expect(round).toEqual(waiting.slice(0, 16).flatMap((one, index) => [one, newest[index]]));
    expect(nextRound([...waiting.slice(0, 5), ...newest.slice(-5)]).map((one) => one.externalOrderId)).toEqual(
      [0, 4, 1, 3, 2].map((index) => waiting[index]?.externalOrderId),
    );
  });

  it('takes each order once, the oldest of each group first, and lets none wait while there is room', () => {
    const some = fc.tuple(...LOOKUP_SOURCES.map((source) => fc.nat(60).map((count) => due(source, count))));
    fc.assert(
      fc.property(some, (sources) => {
        const all = sources.flat();
        const round = nextRound(all);
        expect(round).toHaveLength(Math.min(all.length, LOOKUPS_A_ROUND));
        expect(new Set(round).size).toBe(round.length);
        for (const source of LOOKUP_SOURCES) {
          const taken = round.filter((one) => one.source === source);
          const waiting = all.filter((one) => one.source === source);
          const inOrder = source === 'newest' ? waiting.toReversed() : waiting;
          expect(taken).toEqual(inOrder.slice(0, taken.length));
        }
        for (const first of sources.flatMap((one) => one.slice(0, 1))) {
          if (['unknown', 'new', 'accepted'].includes(first.source)) expect(round).toContain(first);
        }
      }),
    );
  });
});
