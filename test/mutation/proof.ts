import type { Part, PieceResult } from '../proof/part.ts';
import { GROUPS, type Group } from './groups.ts';
import { judge, quoted } from './judged.ts';
import { tryMutants } from './mutants.ts';

/** The part of all mutants that tests must kill; the others are judged one by one. */
const LEAST_KILLED = 0.97;

/** Whether the tests would notice: the code is changed in one place after another, each time so that it is wrong. */
export const mutation: Part = {
  name: 'mutation',
  text: 'mutants of the decisions, the gate and the guards of the store: the tests kill 97 % of each group, and each that is left was judged',
  reads: ['test/mutation', 'test/domain', 'test/exchange', 'test/store'],
  least: (dose) => (dose === 'small' ? {} : { mutants: 1_895 }),
  pieces: (dose) => (dose === 'small' ? [] : GROUPS.map((group) => ({ name: group.name, run: () => tryGroup(group) }))),
};

async function tryGroup(group: Group): Promise<PieceResult> {
  const { mutants, killed, survivors } = await tryMutants(group);
  const { judged, left } = judge(survivors);
  const command = `npm run mutate -- ${group.name}`;
  const violations = left.map((one) => `${one.file}:${one.line} survives: ${quoted(one)} (${command})`);
  if (killed < LEAST_KILLED * mutants) violations.push(`only ${killed} of ${mutants} are killed (${command})`);
  return { counts: { mutants, killed, judged }, violations };
}
