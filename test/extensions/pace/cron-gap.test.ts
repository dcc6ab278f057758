import { describe, expect, it } from 'vitest';
import { shortestCronGapMs } from '../../../src/extensions/pace/cron-gap.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../support/tracking.ts';

describe('the shortest time between two ticks', () => {
  it.each([
    ['* * * * * *', SECOND],
    ['*/5 * * * * *', 5 * SECOND],
    ['0,50 * * * * *', 10 * SECOND],
    ['*/7 * * * *', 4 * MINUTE],
    ['0 9-17 * * *', HOUR],
    ['0 */6 * * *', 6 * HOUR],
    ['30 12 * * 1-5', DAY],
  ])('of %s is %d ms', (expression, ms) => {
    expect(shortestCronGapMs(expression)).toBe(ms);
  });
});
