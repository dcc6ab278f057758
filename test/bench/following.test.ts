import { describe, expect, it } from 'vitest';
import { compare } from '../../bench/following/compare.ts';
import { roundRobin } from '../../bench/following/round-robin.ts';
import { simulate } from '../../bench/following/simulate.ts';
import { following, stepPace } from '../../bench/following/strategies.ts';
import { missedTableOf, tableOf } from '../../bench/following/table.ts';
import { worldsOf } from '../../bench/following/worlds.ts';
import { DAY, HOUR, SECOND } from '../support/tracking.ts';

const SETTINGS = { worthMs: 2 * SECOND, share: 0.5, longestMs: 0.9 * DAY };
const worlds = worldsOf({ ordersADay: 3_000, warmUpMs: 2 * HOUR, measuredMs: 2 * HOUR }, SETTINGS.longestMs);

describe('the simulation of following', () => {
  const one = compare(worlds.logNormal(), 1, SETTINGS);

  it('makes equal figures of equal seeds', () => {
    expect(compare(worlds.logNormal(), 1, SETTINGS)).toEqual(one);
  });

  it('has the learned pace see changes in less than half of the time of the steps, with no more look-ups than it may', () => {
    const { learned, steps } = one.results;
    expect(learned.mean).toBeLessThan(0.5 * steps.mean);
    expect(learned.lookups).toBeLessThan(1.1);
  });

  it('has every order looked up before it is no longer fresh', () => {
    for (const { longestWait } of Object.values(one.results)) expect(longestWait).toBeLessThan(DAY / SECOND);
  });

  it('measures as many changes of each order as a world says', () => {
    const world = { ...worlds.logNormal(), measuredChanges: 1 };
    const limits = { leastMs: 5 * SECOND, mostMs: DAY };
    const { length } = world.plans.filter(
      ({ leavesAt: [takenUpAt = 0] }) => takenUpAt >= world.measuredFrom && takenUpAt < world.measuredTo,
    );
    expect(roundRobin(world, 10, limits).delays).toHaveLength(length);
    expect(simulate(world, 10, following(stepPace(limits))).delays).toHaveLength(length);
  });

  it('shows each world in a line', () => {
    expect(tableOf([one]).split('\n')).toHaveLength(3);
  });

  it('lists every target that is missed, marked if the oracle misses it too', () => {
    const { learned } = one.results;
    const steps = { ...learned, mean: 1.6 * learned.mean };
    const oracle = { ...learned, mean: 0.9 * learned.mean, late: 0 };
    const inTurn = { ...learned, late: 0.8 * learned.late };
    const worse = { ...one, results: { ...one.results, steps, oracle, roundRobin: inTurn } };
    const cells = missedTableOf([worse]).split('\n').at(-1)?.split('|') ?? [];
    expect(cells.map((cell) => cell.trim())).toEqual(['', one.world, String.raw`1 (0.63\*)`, '', '1 (1.25)', '']);
    expect(missedTableOf([{ ...worse, isUnknown: true }])).not.toContain('0.63');
  });
});
