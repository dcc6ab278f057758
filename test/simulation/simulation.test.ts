import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareGround, simulate, type Ground } from './world.ts';

const SEEDS_A_TEST = 10;
const TESTS = 30;

let ground: Ground;
beforeAll(async () => {
  ground = await prepareGround();
});
afterAll(() => ground[Symbol.dispose]());

describe('the simulation', () => {
  it('leads from the same seed to the same trace', async () => {
    const first = await simulate(7, ground);
    const second = await simulate(7, ground);
    expect(first.trace.length).toBeGreaterThan(100);
    expect(second.trace).toEqual(first.trace);
    expect((await simulate(8, ground)).trace).not.toEqual(first.trace);
  });

  it.each(Array.from({ length: TESTS }, (_, index) => 1 + index * SEEDS_A_TEST))(
    `keeps every promise in ${SEEDS_A_TEST} worlds from seed %i on`,
    async (from) => {
      for (let seed = from; seed < from + SEEDS_A_TEST; seed += 1) {
        const { violation } = await simulate(seed, ground);
        expect(violation, `see it with: npm run simulate -- --seed ${seed}`).toBeUndefined();
      }
    },
  );
});
