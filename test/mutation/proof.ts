import type { Part, PieceResult } from '../proof/part.ts';
import { GROUPS, type Group } from './groups.ts';
import { judge, quoted, scoreOf } from './judged.ts';
import { tryMutants } from './mutants.ts';

/** The part of the mutants that tests must kill, of the ones that a test can notice; the others are judged one by one. */
const LEAST_KILLED = 0.97;

/** Tells whether the tests would notice: the code is changed in one place after another, each time so that it is wrong. */
export const mutation: Part = {
  name: 'mutation',
  text: 'mutants of the decisions, the gate and the guards of the store: the tests kill 97 % of each group, and each that is left was judged',
  reads: ['test/mutation/{proof,vitest.config}.ts', ...GROUPS.flatMap(({ tests }) => tests)],
  least: (dose) => (dose === 'small' ? {} : { mutants: 1_895 }),
  pieces: (dose) => (dose === 'small' ? [] : GROUPS.map((group) => ({ name: group.name, run: () => tryGroup(group) }))),
};

async function tryGroup(group: Group): Promise<PieceResult> {
  const { mutants, killed, survivors } = await tryMutants(group);
  const { equivalent, accepted, left } = judge(survivors);
  const command = `npm run mutate -- ${group.name}`;
  const violations = left.map((one) => `${one.file}:${one.line} survives: ${quoted(one)} (${command})`);
  const counts = { mutants, killed, equivalent: equivalent.length, accepted: accepted.length };
  const score = scoreOf(counts);
  if (score < LEAST_KILLED) violations.push(`only ${(100 * score).toFixed(1)} % are killed (${command})`);
  return { counts, violations };
}
