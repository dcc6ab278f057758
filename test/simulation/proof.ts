import type { Part, PieceResult } from '../proof/part.ts';
import { prepareGround, simulate } from './world.ts';

const SEEDS_A_PIECE = 500;

/** Worlds from one seed after another. */
export const randomWorlds: Part = {
  name: 'random',
  text: 'worlds in which one seed decides what happens: orders, settings, faults, deaths of the process',
  reads: ['test/simulation'],
  least: (dose) => (dose === 'small' ? { seeds: 1_000 } : { seeds: 10_000, deaths: 50_000 }),
  pieces(dose) {
    const seeds = dose === 'small' ? 1_000 : 10_000;
    return Array.from({ length: seeds / SEEDS_A_PIECE }, (_, index) => {
      const from = index * SEEDS_A_PIECE + 1;
      return { name: `from-${from}`, run: () => runWorlds(from, SEEDS_A_PIECE) };
    });
  },
};

async function runWorlds(from: number, count: number): Promise<PieceResult> {
  using ground = await prepareGround();
  const counts = { seeds: 0, steps: 0, requests: 0, deaths: 0 };
  const violations: string[] = [];
  for (let seed = from; seed < from + count; seed += 1) {
    const { steps, requests, deaths, violation } = await simulate(seed, ground);
    counts.seeds += 1;
    counts.steps += steps;
    counts.requests += requests;
    counts.deaths += deaths;
    if (violation !== undefined) violations.push(`${violation} (npm run simulate -- --seed ${seed})`);
  }
  return { counts, violations };
}
