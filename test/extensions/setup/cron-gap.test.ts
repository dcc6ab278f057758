import { describe, expect, it } from 'vitest';
import { longestCronGapMs } from '../../../src/extensions/setup/cron-gap.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../support/tracking.ts';

describe('the longest time between two ticks', () => {
  it.each([
    ['* * * * * *', SECOND],
    ['*/5 * * * * *', 5 * SECOND],
    ['*/7 * * * *', 7 * MINUTE],
    ['0 9-17 * * *', 16 * HOUR],
    ['30 12 * * 1-5', 3 * DAY],
    ['0 0 1 * *', 31 * DAY],
    ['0 0 1 1 *', 366 * DAY],
    ['0 0 29 2 *', 1461 * DAY],
    ['0 0,6 * * mon', 7 * DAY - 6 * HOUR],
  ])('of %s is %d ms', (expression, ms) => {
    expect(longestCronGapMs(expression)).toBe(ms);
  });
});
