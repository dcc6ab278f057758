import { parseArgs } from 'node:util';
import { createLogUpdate } from 'log-update';
import { commit } from '../proof/kept.ts';
import { commandFor } from './modes/mode.ts';
import { MODES, modeOf } from './modes/modes.ts';
import { runSeeds, seedsFrom, type Worlds } from './run/pool.ts';
import { describeShrunk, shrink } from './run/shrink.ts';
import { prepareGround, replayedIn } from './ground.ts';

const USAGE = `npm run simulate -- --seeds 1000 [--from 1] [--workers N] [--mode NAME]
                                              runs so many worlds; exit 1 at the first broken promise
npm run simulate -- --seed 17 [--mode NAME]   prints what happened in one
Modes: ${[...MODES.keys()].join(', ')}
`;
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '300' },
    from: { type: 'string', default: '1' },
    workers: { type: 'string' },
    mode: { type: 'string', default: 'random' },
    seed: { type: 'string' },
    place: { type: 'string' },
    help: { type: 'boolean' },
  },
});

if (values.help === true) process.stdout.write(USAGE);
else if (values.seed !== undefined) await showWorld(Number(values.seed));
else {
  const workers = values.workers === undefined ? undefined : Number(values.workers);
  await runWorlds({ mode: values.mode, seeds: seedsFrom(Number(values.from), Number(values.seeds)), workers });
}

async function showWorld(seed: number): Promise<void> {
  using ground = await prepareGround();
  const place = values.place === undefined ? undefined : Number(values.place);
  const { trace, violation, counts } = await modeOf(values.mode).run(seed, replayedIn(values.mode, ground), place);
  process.stdout.write(`${trace.join('\n')}\n`);
  process.stdout.write(`seed ${seed}: ${list(counts)}: ${violation ?? 'every promise was kept'}\n`);
  process.exitCode = violation === undefined ? 0 : 1;
}

async function runWorlds(worlds: Worlds): Promise<void> {
  const progress = process.stderr.isTTY ? createLogUpdate(process.stderr) : undefined;
  const begun = performance.now();
  let done = 0;
  const { counts, broken } = await runSeeds(worlds, ({ violation }) => {
    done += 1;
    progress?.(`${done} of ${worlds.seeds.length} seeds, ${perSecond(done, begun)} a second`);
    return violation === undefined;
  });
  progress?.clear();
  const [first] = broken;
  const facts = `${list(counts)}, ${perSecond(counts['seeds'] ?? 0, begun)} seeds a second`;
  if (first === undefined) {
    process.stdout.write(`${facts}: every promise was kept\n`);
    return;
  }
  process.exitCode = 1;
  process.stdout.write(`${facts}\nseed ${first.seed} on ${commit().slice(0, 8)}: ${first.violation}\n`);
  process.stdout.write(`see it with: ${commandFor(worlds.mode, first)}\n`);
  if (worlds.mode === 'random') process.stdout.write(describeShrunk(await shrink(first.seed, first.violation ?? '')));
}

function perSecond(done: number, begun: number): string {
  return (done / ((performance.now() - begun) / 1_000)).toFixed(1);
}

function list(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}
