import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { BUGS } from './bugs.ts';
import { plantHere, ROOT } from './plant.ts';
import type { BrokenWorld, Came } from './run.ts';

/**
 * Plants a bug into the files of the program as this process loads them, runs worlds of it, one after another, until one breaks the
 * bug's promise, and says in one line of JSON which did. A world that broke another promise before is named too.
 */
const { values } = parseArgs({
  options: { bug: { type: 'string', default: '' }, seeds: { type: 'string', default: '' } },
});

const bug = BUGS.find(({ name }) => name === values.bug);
if (bug === undefined) throw new Error(`no planted bug is called ${values.bug}`);
const changed = new Map([...plantHere(bug).files].map(([file, text]) => [pathToFileURL(`${ROOT}${file}`).href, text]));
registerHooks({
  load(url, context, next) {
    const source = changed.get(url);
    return { ...next(url, context), ...(source !== undefined && { source }) };
  },
});

// The parts of the program are loaded from here on.
const { prepareGround } = await import('../ground.ts');
const { modeOf } = await import('../modes/modes.ts');
const mode = modeOf(bug.mode ?? 'random');
using prepared = await prepareGround();
const { mostSteps } = bug;
const ground = mostSteps === undefined ? prepared : { ...prepared, mostSteps };
let [caught, other]: (BrokenWorld | undefined)[] = [];
for (const seed of values.seeds.split(',').map(Number)) {
  if (caught !== undefined) break;
  const { violation } = await mode.run(seed, ground);
  if (violation === undefined) continue;
  if (bug.breaks.test(violation)) caught = { seed, violation };
  else other ??= { seed, violation };
}
process.stdout.write(`${JSON.stringify({ caught, other } satisfies Came)}\n`);
