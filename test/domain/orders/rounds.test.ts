import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LOOKUP_SOURCES, LOOKUPS_A_ROUND, nextRound, type DueLookup } from '../../../src/domain/orders/rounds.ts';
import { FOLLOWED_STATES, RECHECKED_STATES } from '../../../src/domain/orders/states.ts';

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
  });
});

describe('a round of look-ups', () => {
  it('has of each group some, more of the urgent ones, where all have many', () => {
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

  it('is filled up by one group where the others have nothing', () => {
    expect(nextRound(due('final', 100))).toEqual(due('final', LOOKUPS_A_ROUND));
    expect(nextRound([...due('final', 100), ...due('open', 1)]).map(({ source }) => source)[0]).toBe('open');
  });

  it('has all that are due where they are few, and nothing where nothing is', () => {
    expect(nextRound(due('held', 3))).toEqual(due('held', 3));
    expect(nextRound([])).toEqual([]);
  });

  it('begins with the oldest of a group, of whatever source it is, and by the id where two are as old', () => {
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

  it('has in every other place the newest of those that were never looked up, and each of them once', () => {
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
