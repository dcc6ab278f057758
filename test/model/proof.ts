import type { Part, PieceResult } from '../proof/part.ts';
import { explore, exploreWithSpin, SETUPS } from './explore.ts';
import { MISTAKES, type Setup } from './steps.ts';

/** The model of ownership, explored by Spin and by its steps in TypeScript, and the simulation held against it. */
export const model: Part = {
  name: 'model',
  text: 'a model of who may send: every state of it, by Spin and by the same steps in TypeScript, mistakes planted in it, and traces of the simulation replayed through it',
  reads: ['test/model/proof.ts', 'test/model/ownership.pml'],
  least: () => ({ states: 900_000, mistakes: Object.keys(MISTAKES).length }),
  pieces: () => [
    ...Object.entries(SETUPS).map(([name, setup]) => ({ name, run: async () => exploreBoth(name, setup) })),
    { name: 'mistakes', run: async () => findMistakes() },
  ],
};

function exploreBoth(name: string, setup: Setup): PieceResult {
  const [ours, spins] = [explore(setup), exploreWithSpin(setup)];
  const violations = [
    ...(ours.isBroken ? [`the ${name} model: the steps in TypeScript break a promise`] : []),
    ...(spins?.isBroken === true ? [`the ${name} model: Spin finds a broken promise`] : []),
    ...(spins === undefined || spins.states === ours.states
      ? []
      : [`the ${name} model: Spin finds ${spins.states} states, the steps in TypeScript ${ours.states}`]),
  ];
  return {
    counts: { states: ours.states, spinStates: spins?.states ?? 0, leftOut: Number(spins === undefined) },
    violations,
  };
}

/** Each mistake must be found, with Spin and without. */
function findMistakes(): PieceResult {
  const names = Object.keys(MISTAKES) as (keyof typeof MISTAKES)[];
  const missed = names.filter((mistake) => {
    const setup = { ...SETUPS[mistake === 'NO_PROOF' ? 'synchronous' : 'asynchronous'], mistake };
    return !explore(setup).isBroken || exploreWithSpin(setup)?.isBroken === false;
  });
  return { counts: { mistakes: names.length - missed.length }, violations: missed.map((one) => `${one} is not found`) };
}
