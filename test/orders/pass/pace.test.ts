import { expect, it } from 'vitest';
import { EVERY_TICK, type PaceDeps } from '../../../src/orders/pass/pace.ts';
import { DAY } from '../../support/tracking.ts';

const NEVER = new AbortController().signal;
const ORDER = { state: 'open', orderStatus: 'REQUEST', cryptoStatus: 'NEW', fiatStatus: 'NEW' } as const;

it('at every tick an order is due again before the next one, and not within the same', () => {
  expect([EVERY_TICK.gapMs(ORDER, 0), EVERY_TICK.gapMs(ORDER, DAY)]).toEqual([1, 1]);
  expect(EVERY_TICK.isEveryTick).toBe(true);
});

it('at every tick nothing is learned, no order is overdue, and an order is stuck after a day', async () => {
  const deps = {} as PaceDeps;
  await EVERY_TICK.learnFirst(deps, NEVER);
  await EVERY_TICK.learn(deps, NEVER);
  const lesson = await EVERY_TICK.beginLesson(deps, NEVER);
  lesson.see([], new Date(0));
  expect([lesson.stuckAfter, lesson.end(), EVERY_TICK.overdueAfterMs]).toEqual([DAY, undefined, Infinity]);
});

it('at every tick the setting that says so explains when an order is looked up', async () => {
  const explained = await EVERY_TICK.explain({} as PaceDeps, ORDER, DAY, NEVER);
  expect(explained).toEqual({ kind: 'every-tick', text: expect.stringContaining('follow.pace') as string });
});
