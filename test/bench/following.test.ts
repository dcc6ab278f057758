import { describe, expect, it } from 'vitest';
import { compare } from '../../bench/following/compare.ts';
import { tableOf } from '../../bench/following/table.ts';
import { worldsOf } from '../../bench/following/worlds.ts';
import { DAY, HOUR, SECOND, STEPS } from '../support/tracking.ts';

const SETTINGS = { steps: STEPS, worthMs: 2 * SECOND, share: 0.5, longestMs: 0.9 * DAY };
const worlds = worldsOf({ ordersADay: 3_000, warmUpMs: 2 * HOUR, measuredMs: 2 * HOUR }, SETTINGS.longestMs);

describe('the simulation of following', () => {
  const one = compare(worlds.logNormal(), 1, SETTINGS);

  it('gives equal figures for equal seeds', () => {
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

  it('shows each world in a line', () => {
    expect(tableOf([one]).split('\n')).toHaveLength(3);
  });
});
