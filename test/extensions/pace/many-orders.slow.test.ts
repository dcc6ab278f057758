import type { Pace } from '../../../src/orders/rules/lookup.ts';
import { describe, expect, it } from 'vitest';
import { ACCEPTED, learnerWith, LIMITS, OPEN, spread, stays } from '../../support/paces.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../support/tracking.ts';

describe('a great many orders', () => {
  const ended = [...stays(OPEN, 30 * SECOND), ...stays(ACCEPTED, 3 * MINUTE)];
  const few = [OPEN, 20 * SECOND, 5] as const;
  const gaps = (pace: Pace, order = OPEN) => [0, 25 * SECOND, 2 * MINUTE, HOUR].map((age) => pace.gapMs(order, age));
  const alone = gaps(learnerWith(ended, [few]).pace(LIMITS));

  it.each([
    ['20,000 that were just accepted', 20_000, MINUTE],
    ['500,000 that were accepted long ago', 500_000, 20 * DAY],
    ['500,000 that were just accepted', 500_000, MINUTE],
  ])('that are accepted hardly delay open ones: %s', (_, count, ageMs) => {
    const pace = learnerWith(ended, [few, [ACCEPTED, ageMs, count]]).pace(LIMITS);
    for (const [index, gap] of gaps(pace).entries()) expect(gap).toBeLessThan(2 * alone[index]!);
  });

  it('that are open and never change delay neither a new one of them much, nor accepted ones', () => {
    const never = [{ ...OPEN, orderStatus: 'NEVER' }, 20 * DAY, 500_000] as const;
    const pace = learnerWith(ended, [few, never]).pace(LIMITS);
    for (const [index, gap] of gaps(pace).entries()) expect(gap).toBeLessThan(2 * alone[index]!);
    expect(gaps(pace, ACCEPTED)).toEqual(gaps(learnerWith(ended).pace(LIMITS), ACCEPTED));
  });

  it('take what those of the other kind leave', () => {
    const accepted = [ACCEPTED, MINUTE, 1_000] as const;
    const { demand } = learnerWith([...spread(OPEN), ...spread(ACCEPTED)], [few, accepted]).pace(LIMITS);
    expect(demand).toBeLessThanOrEqual(LIMITS.budget);
    expect(demand).toBeGreaterThan(0.9 * LIMITS.budget);
  });
});
