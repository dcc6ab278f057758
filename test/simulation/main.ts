import { parseArgs } from 'node:util';
import { createLogUpdate } from 'log-update';
import { prepareGround, simulate, type Ground } from './world.ts';

const USAGE = `npm run simulate -- --seeds 1000 [--from 1]   runs so many worlds; exit 1 at the first broken promise
npm run simulate -- --seed 17                 prints what happened in one
`;
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '300' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    help: { type: 'boolean' },
  },
});

using ground = await prepareGround();
if (values.help === true) process.stdout.write(USAGE);
else if (values.seed !== undefined) await showWorld(Number(values.seed), ground);
else await runWorlds(Number(values.from), Number(values.seeds), ground);

async function showWorld(seed: number, on: Ground): Promise<void> {
  const { trace, violation, steps, deaths } = await simulate(seed, on);
  process.stdout.write(`${trace.join('\n')}\n`);
  process.stdout.write(`seed ${seed}: ${steps} steps, ${deaths} deaths: ${violation ?? 'every promise was kept'}\n`);
  process.exitCode = violation === undefined ? 0 : 1;
}

async function runWorlds(from: number, count: number, on: Ground): Promise<void> {
  const progress = process.stderr.isTTY ? createLogUpdate(process.stderr) : undefined;
  let [steps, deaths, requests, decisions] = [0, 0, 0, 0];
  for (let seed = from; seed < from + count; seed += 1) {
    const outcome = await simulate(seed, on);
    steps += outcome.steps;
    deaths += outcome.deaths;
    requests += outcome.requests;
    decisions += outcome.decisions;
    progress?.(`seed ${seed}, ${seed - from + 1} of ${count}`);
    if (outcome.violation === undefined) continue;
    process.stdout.write(`seed ${seed}: ${outcome.violation}\nsee it with: npm run simulate -- --seed ${seed}\n`);
    process.exitCode = 1;
    return;
  }
  progress?.clear();
  const facts = `${count} seeds, ${steps} steps, ${requests} requests, ${decisions} decisions, ${deaths} deaths of the process`;
  process.stdout.write(`${facts}: every promise was kept\n`);
}
