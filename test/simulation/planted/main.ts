import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { PlantedBug } from './bug.ts';
import { BUGS, SEEDS } from './bugs.ts';
import { pageOf, PLANTED_PAGE } from './page.ts';
import { besideEachOther, catchBug, cheapestFirst, firstSeeds } from './run.ts';
import { plantHere } from './plant.ts';

const SEEDS_FILE = fileURLToPath(new URL('seeds.json', import.meta.url));
const USAGE = `npm run planted                       each planted bug in the world that is known to catch it
npm run planted -- --seeds 2000       each in the worlds from seed 1 on, until one catches it
npm run planted -- --name NAME        only this one; may be given several times
npm run planted -- --find             writes down a seed that catches each: the known one while it does, or else one of a small world
  --workers N   N at a time; as many as there are cores unless given
Exit 1 if a bug was not caught by the promise that it breaks, or no longer applies.
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
  if (values.find) writeFileSync(PLANTED_PAGE, pageOf(BUGS));
}

/** Tells whether the bug is caught as it should be. */
async function tried(bug: PlantedBug): Promise<boolean> {
  const { name, breaks, notCaught } = bug;
  const say = (text: string) => process.stdout.write(`${name}: ${text.trim().slice(0, 300)}\n`);
  const { problems } = plantHere(bug);
  if (problems.length > 0) say(`no longer applies: ${problems.join('; ')}`);
  if (problems.length > 0 || (notCaught !== undefined && values.name.length === 0)) return problems.length === 0;
  const known = SEEDS[name];
  const isKnownEnough = values.find || values.seeds === undefined;
  const atKnown = isKnownEnough && known !== undefined ? await catchBug(bug, [known]) : undefined;
  const isSearched =
    atKnown?.caught === undefined && (values.find || values.seeds !== undefined || known === undefined);
  const most = Number(values.seeds ?? 10_000);
  const { caught, other } = isSearched
    ? await catchBug(bug, values.find ? cheapestFirst(10_000).slice(0, most) : firstSeeds(most))
    : (atKnown ?? {});
  if (values.find) noteSeed(name, caught?.seed);
  if (caught !== undefined) say(`caught by seed ${caught.seed}: ${caught.violation}`);
  else {
    say(`NOT caught ${isSearched ? `in ${most} worlds` : `by seed ${known}`} by ${breaks.source}`);
    if (other !== undefined) say(`but by seed ${other.seed}: ${other.violation}`);
  }
  return caught !== undefined;
}

/** At once: a search that is broken off is not lost. */
function noteSeed(name: string, seed: number | undefined): void {
  SEEDS[name] = seed;
  const seeds = Object.fromEntries(
    BUGS.flatMap((bug) => (SEEDS[bug.name] === undefined ? [] : [[bug.name, SEEDS[bug.name]]])),
  );
  writeFileSync(SEEDS_FILE, `${JSON.stringify(seeds, null, 2)}\n`);
}
