import { expect, it } from 'vitest';
import { shared } from '../../../../src/extensions/health/ops/readings.ts';
import { testClock } from '../../../support/test-clock.ts';

it.each([
  ['a second', 0, 1_000],
  ['longer if that took long', 20, 4_000],
  ['ten seconds at the most', 500, 10_000],
])('shares what was read for %s', async (_name, tookMs, freshMs) => {
  const clock = testClock();
  let readings = 0;
  const read = shared(clock, async () => {
    clock.advance(tookMs);
    readings += 1;
    return readings;
  });
  expect(await Promise.all([read(), read()])).toEqual([1, 1]);
  clock.advance(freshMs - 1);
  expect(await read()).toBe(1);
  clock.advance(1);
  expect(await read()).toBe(2);
});
