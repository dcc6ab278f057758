import type { Part } from '../proof/part.ts';
import { ENTRIES } from './entries/index.ts';
import { tryInputs } from './run.ts';

const SEEDS = { small: 1, full: 2 } as const;

/** Inputs that know the shape of what an entry takes, and break it. */
export const hostileInput: Part = {
  name: 'hostile',
  text: 'hostile input at every entry: no crash, no hang, no row that is lost, and no order that another stands in the way of',
  reads: ['test/hostile/proof.ts'],
  least: (dose) => ({ inputs: inputsOf(dose) * ENTRIES.length }),
  pieces: (dose) =>
    ENTRIES.map((entry) => ({
      name: entry.name,
      async run() {
        const runs = inputsOf(dose);
        const violation = await tryInputs(entry, { runs, seed: SEEDS[dose] });
        return { counts: { inputs: runs }, violations: violation === undefined ? [] : [violation] };
      },
    })),
};

function inputsOf(dose: keyof typeof SEEDS): number {
  return Math.ceil((dose === 'small' ? 10_000 : 50_000) / ENTRIES.length);
}
