import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { PAGE } from '../../proof/reliability.ts';
import type { PlantedBug } from './bug.ts';
import { BUGS, SEEDS } from './bugs.ts';
import { pageWith } from './page.ts';
import { besideEachOther, catchBug, plantHere } from './run.ts';

const SEEDS_FILE = fileURLToPath(new URL('seeds.json', import.meta.url));
const USAGE = `npm run planted                       each planted bug in the world that is known to catch it
npm run planted -- --seeds 2000       each in the worlds from seed 1 on, until one catches it
npm run planted -- --name NAME        only this one; may be given several times
npm run planted -- --find             writes down which seed catches each first
  --workers N   so many at a time; as many as there are cores unless given
Exit 1 where a bug was not caught by the promise that it breaks, or no longer applies.
`;
const { values } = parseArgs({
  options: {
    name: { type: 'string', multiple: true, default: [] },
    seeds: { type: 'string' },
    find: { type: 'boolean', default: false },
    workers: { type: 'string', default: String(availableParallelism()) },
    help: { type: 'boolean' },
  },
});
const unknown = values.name.filter((name) => BUGS.every((bug) => bug.name !== name));
if (values.help === true) process.stdout.write(USAGE);
else if (unknown.length > 0) {
  process.stderr.write(
    `no planted bug is called ${unknown.join(', ')}; there are:\n${BUGS.map(({ name }) => name).join('\n')}\n`,
  );
  process.exitCode = 64;
} else await main();

async function main(): Promise<void> {
  const chosen = BUGS.filter(({ name }) => values.name.length === 0 || values.name.includes(name));
  const found = await besideEachOther(chosen, Number(values.workers), tried);
  if (found.includes(false)) process.exitCode = 1;
  if (!values.find) return;
  const seeds = Object.fromEntries(
    BUGS.flatMap(({ name }) => (SEEDS[name] === undefined ? [] : [[name, SEEDS[name]]])),
  );
  writeFileSync(SEEDS_FILE, `${JSON.stringify(seeds, null, 2)}\n`);
  writeFileSync(PAGE, pageWith(readFileSync(PAGE, 'utf8'), BUGS));
}

/** Tells whether the bug is caught as it should be. */
async function tried(bug: PlantedBug): Promise<boolean> {
  const { name, breaks } = bug;
  const say = (text: string) => process.stdout.write(`${name}: ${text}\n`);
  const { problems } = plantHere(bug);
  if (problems.length > 0) {
    say(`no longer applies: ${problems.join('; ')}`);
    return false;
  }
  const known = SEEDS[name];
  const isToFind = values.find || values.seeds !== undefined || known === undefined;
  const most = Number(values.seeds ?? 2_000);
  const caught = await catchBug(bug, isToFind ? { from: 1, to: most } : { from: known, to: known });
  if (values.find) SEEDS[name] = caught?.seed;
  if (caught === undefined) {
    say(`NOT caught ${isToFind ? `in ${most} worlds` : `by seed ${known}`}`);
    return bug.notCaught !== undefined;
  }
  const isAsSaid = breaks.test(caught.violation);
  say(
    `caught by seed ${caught.seed}: ${caught.violation.trim().slice(0, 300)}${isAsSaid ? '' : `\n  but the table says ${breaks.source}`}`,
  );
  return isAsSaid;
}
