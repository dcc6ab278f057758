import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareGround, simulate, type Ground } from './world.ts';

const SEEDS_A_TEST = 10;

/** Has each of `count` worlds, from the seed `first` on, lived through. */
export function keepsEveryPromise(first: number, count: number): void {
  let ground: Ground;
  beforeAll(async () => {
    ground = await prepareGround();
  });
  afterAll(() => ground[Symbol.dispose]());

  describe('the simulation', () => {
    it.each(Array.from({ length: count / SEEDS_A_TEST }, (_, index) => first + index * SEEDS_A_TEST))(
      `keeps every promise in ${SEEDS_A_TEST} worlds from seed %i on`,
      async (from) => {
        for (let seed = from; seed < from + SEEDS_A_TEST; seed += 1) {
          const { violation } = await simulate(seed, ground);
          expect(violation, `see it with: npm run simulate -- --seed ${seed}`).toBeUndefined();
        }
      },
    );
  });
}
