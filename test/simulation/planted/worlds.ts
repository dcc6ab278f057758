import { parseArgs } from 'node:util';
import { prepareGround } from '../ground.ts';
import { modeOf } from '../modes/modes.ts';
import type { BrokenWorld, Came } from './run.ts';

/**
 * Runs worlds of a copy of the program, one after another, until one breaks a promise (`--breaks`, a regular expression), and
 * says in one line of JSON which did. A world that broke another promise before is named too.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '' },
    breaks: { type: 'string', default: '' },
    mode: { type: 'string', default: 'random' },
  },
});

const mode = modeOf(values.mode);
using ground = await prepareGround();
let [caught, other]: (BrokenWorld | undefined)[] = [];
for (const seed of values.seeds.split(',').map(Number)) {
  if (caught !== undefined) break;
  const { violation } = await mode.run(seed, ground);
  if (violation === undefined) continue;
  if (new RegExp(values.breaks).test(violation)) caught = { seed, violation };
  else other ??= { seed, violation };
}
process.stdout.write(`${JSON.stringify({ caught, other } satisfies Came)}\n`);
