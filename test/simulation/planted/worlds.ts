import { parseArgs } from 'node:util';
import { prepareGround, simulate } from '../world.ts';

/** Runs worlds of a copy of the program, one after another, and says in one line of JSON which of them broke a promise first. */
const { values } = parseArgs({
  options: { from: { type: 'string' }, to: { type: 'string' }, mode: { type: 'string' } },
});

using ground = await prepareGround();
let caught: { seed: number; violation: string } | undefined;
for (let seed = Number(values.from); seed <= Number(values.to) && caught === undefined; seed += 1) {
  const { violation } = await simulate(seed, ground);
  if (violation !== undefined) caught = { seed, violation };
}
process.stdout.write(`${JSON.stringify(caught ?? null)}\n`);
