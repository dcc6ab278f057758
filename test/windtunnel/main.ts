import { parseArgs } from 'node:util';
import { DIALECTS, PLANS, type Dialect } from './doses.ts';
import { runOn } from './run.ts';

const USAGE = `usage: npm run windtunnel -- [--small] [--seed N] [--dialect ${DIALECTS.join('|')}]
  --small    less of everything, with 25 kills all the same
  --seed N   what happens when, and with what (1)
  --dialect  on that database alone
Real processes and real connections: two runs of a seed have the same plan, and never the same moments. Exit 1 where a promise was
broken.
`;

const { values } = parseArgs({
  options: {
    small: { type: 'boolean' },
    seed: { type: 'string', default: '1' },
    dialect: { type: 'string' },
    help: { type: 'boolean' },
  },
});
const chosen = DIALECTS.filter((dialect) => values.dialect === undefined || values.dialect === dialect);
if (values.help === true || chosen.length === 0) {
  process.stdout.write(USAGE);
  if (chosen.length === 0) process.exitCode = 64;
} else {
  for (const dialect of chosen) await run(dialect);
}

async function run(dialect: Dialect): Promise<void> {
  const dose = PLANS[values.small === true ? 'small' : 'full'][dialect];
  const say = (text: string) => void process.stderr.write(`${text}\n`);
  const { takeOverMs, ...rest } = await runOn(dialect, { ...dose, seed: Number(values.seed) }, say);
  const middle = Math.round(takeOverMs[Math.floor(takeOverMs.length / 2)] ?? 0);
  const worst = Math.round(takeOverMs.at(-1) ?? 0);
  const takeOver = { accounts: takeOverMs.length, medianMs: middle, worstMs: worst };
  process.stdout.write(`${JSON.stringify({ dialect, ...rest, takeOver }, null, 2)}\n`);
  if (rest.violations.length > 0) process.exitCode = 1;
}
