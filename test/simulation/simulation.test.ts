import { expect, it } from 'vitest';
import { prepareGround, simulate } from './world.ts';
import { keepsEveryPromise } from './worlds.ts';

it('the simulation leads from the same seed to the same trace', async () => {
  using ground = await prepareGround();
  const first = await simulate(7, ground);
  const second = await simulate(7, ground);
  expect(first.trace.length).toBeGreaterThan(100);
  expect(second.trace).toEqual(first.trace);
  expect((await simulate(8, ground)).trace).not.toEqual(first.trace);
});

keepsEveryPromise(1, 150);
