import type { Dose, Part, PieceResult } from '../../proof/part.ts';
import type { PlantedBug } from './bug.ts';
import { BUGS, SEEDS } from './bugs.ts';
import { catchBug, cheapestFirst } from './run.ts';

const BUGS_A_PIECE = 10;
/** The worlds in which a bug must show; the one that is known to catch it is one of them. */
const WORLDS = 10_000;
/** This many more are tried if that one is another world by now. */
const MORE: Readonly<Record<Dose, number>> = { small: 50, full: WORLDS };

const CAUGHT = BUGS.filter(({ notCaught }) => notCaught === undefined);

/** Each planted bug in the world that is known to catch it, or in others until one does. */
export const plantedBugs: Part = {
  name: 'planted',
  text: 'bugs that a good engineer could make, each planted into the program as it is loaded: the simulation must catch it',
  reads: ['test/simulation/planted/proof.ts'],
  least: () => ({ 'bugs caught': CAUGHT.length }),
  pieces: (dose) =>
    Array.from({ length: Math.ceil(CAUGHT.length / BUGS_A_PIECE) }, (_, index) => {
      const bugs = CAUGHT.slice(index * BUGS_A_PIECE, (index + 1) * BUGS_A_PIECE);
      return { name: `from-${index * BUGS_A_PIECE + 1}`, run: () => catchBugs(bugs, dose) };
    }),
};

async function catchBugs(bugs: readonly PlantedBug[], dose: Dose): Promise<PieceResult> {
  const violations: string[] = [];
  for (const bug of bugs) {
    const known = await catchBug(bug, [SEEDS[bug.name] ?? 1]);
    if (known.caught !== undefined) continue;
    const { caught, other = known.other } = await catchBug(bug, cheapestFirst(WORLDS).slice(0, MORE[dose]));
    if (caught !== undefined) continue;
    const instead = other === undefined ? '' : `, but ${other.violation}`;
    violations.push(`${bug.name} is not caught${instead} (npm run planted -- --name ${bug.name})`);
  }
  return { counts: { 'bugs caught': bugs.length - violations.length }, violations };
}
