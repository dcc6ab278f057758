import { availableParallelism } from 'node:os';
import type { Dose, Part, PieceResult } from '../../proof/part.ts';
import type { PlantedBug } from './bug.ts';
import { BUGS, SEEDS } from './bugs.ts';
import { besideEachOther, catchBug, cheapestFirst, firstSeeds } from './run.ts';

const BUGS_A_PIECE = 10;
const MOST_WORLDS = 2_000;
/** Where the world that is known to catch a bug is another one by now. */
const MORE_WORLDS = 50;

const CAUGHT = BUGS.filter(({ notCaught }) => notCaught === undefined);

/** Each planted bug in the world that is known to catch it, or in worlds from the first seed on until one does. */
export const plantedBugs: Part = {
  name: 'planted',
  text: 'bugs that a good engineer could make, each planted into a copy of the program: the simulation must catch it',
  reads: ['test/simulation'],
  least: () => ({ 'bugs caught': CAUGHT.length }),
  pieces: (dose) =>
    Array.from({ length: Math.ceil(CAUGHT.length / BUGS_A_PIECE) }, (_, index) => {
      const bugs = CAUGHT.slice(index * BUGS_A_PIECE, (index + 1) * BUGS_A_PIECE);
      return { name: `from-${index * BUGS_A_PIECE + 1}`, run: () => catchBugs(bugs, dose) };
    }),
};

async function catchBugs(bugs: readonly PlantedBug[], dose: Dose): Promise<PieceResult> {
  const problems = await besideEachOther(bugs, availableParallelism(), async (bug) => {
    const again = `(npm run planted -- --name ${bug.name}${dose === 'full' ? ` --seeds ${MOST_WORLDS}` : ''})`;
    const known = SEEDS[bug.name] ?? 1;
    const { caught, other } = await catchBug(
      bug,
      dose === 'small' ? [known, ...cheapestFirst(MOST_WORLDS).slice(0, MORE_WORLDS)] : firstSeeds(MOST_WORLDS),
    );
    if (caught === undefined)
      return [`${bug.name} is not caught${other === undefined ? '' : `, but ${other.violation}`} ${again}`];
    return [];
  });
  const violations = problems.flat();
  return { counts: { 'bugs caught': bugs.length - violations.length }, violations };
}
