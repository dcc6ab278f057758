import { parseArgs } from 'node:util';
import { runSoak } from './soak.ts';

const USAGE = `usage: npm run soak -- [--minutes N] [--seed N]
  --minutes N  for so long (5)
  --seed N     the seed of the faults (1)
One process works steadily while faults come and go. Exit 1 if it took more and more of the machine, or broke another promise.
`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean' },
  },
});
const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
if (values.help === true || !(minutes > 0) || !Number.isInteger(seed)) {
  process.stdout.write(USAGE);
  if (values.help !== true) process.exitCode = 64;
} else {
  const result = await runSoak(minutes, seed, (text) => void process.stderr.write(`${text}\n`));
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  if (result.violations.length > 0) process.exitCode = 1;
}
