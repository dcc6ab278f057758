import { parseArgs } from 'node:util';
import { ENTRIES } from './entries/index.ts';
import { tryInputs } from './run.ts';

const NAMES = ENTRIES.map(({ name }) => name);
const USAGE = `usage: npm run hostile [-- [--entry NAME] [--runs N] [--seed N] [--path PATH]]
  --entry NAME  ${NAMES.join(', ')}; all of them unless given
  --runs N      inputs of each entry; 200 unless given
  --seed N      which; 1 unless given
  --path PATH   one input alone, as a failure names it
Exit 1 if a promise was broken.
`;
const { values } = parseArgs({
  options: {
    entry: { type: 'string' },
    runs: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    path: { type: 'string' },
    help: { type: 'boolean' },
  },
});
const chosen = ENTRIES.filter(({ name }) => values.entry === undefined || name === values.entry);
if (values.help === true) process.stdout.write(USAGE);
else if (chosen.length === 0) {
  process.stderr.write(`no entry is called ${values.entry}\n${USAGE}`);
  process.exitCode = 64;
} else for (const entry of chosen) await run(entry);

async function run(entry: (typeof ENTRIES)[number]): Promise<void> {
  const begun = performance.now();
  const { seed, runs, path } = values;
  const violation = await tryInputs(entry, { seed: Number(seed), runs: Number(runs), path });
  const took = `${Math.round(performance.now() - begun)} ms`;
  process.stdout.write(
    `${entry.name}: ${violation === undefined ? `${runs} inputs, ${took}` : `BROKEN ${violation}`}\n`,
  );
  if (violation !== undefined) process.exitCode = 1;
}
