import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { runProgram } from './child.ts';
import { middle, type Figure } from './figures.ts';
import { fillWithFinalOrders } from './large-database.ts';
import { secondsOfChildren } from './process.ts';
import { settingsFor, type Bench } from './settings.ts';

const BIN = fileURLToPath(new URL('../src/bin.mjs', import.meta.url));
const TARGET_SECONDS = 0.3;
const ROUNDS = 5;
/** A round: the clock of the shell counts in hundredths of a second. */
const RUNS = 3;
/** A daemon that could be asked does not run, and the exchange is not asked. */
const NOBODY = 'http://127.0.0.1:9';
const READING = [
  'status',
  'orders list',
  'orders show shop-000000001',
  'orders explain shop-000000001',
  'report summary',
  'report ageing',
  'report changes',
  'report reconciliation',
  'events',
  'findings list',
  'webhooks list',
  'db status',
];
/** Runs a command several times, and prints the CPU time of all its processes. A code below 3 says that a person should look. */
const SCRIPT = `i=0; while [ $i -lt $RUNS ]; do i=$((i + 1)); "$@" >/dev/null || [ $? -lt 3 ] || exit; done; times`;

/** CPU of commands that read a small database, the launcher included. */
export async function measureCommands({ folder, path, sizes, say }: Bench): Promise<Figure[]> {
  fillWithFinalOrders(path, sizes.followed, say);
  const settings = settingsFor(NOBODY, path);
  await runProgram(folder, ['db', 'accept-restore', '--yes', '--assume-not-sent', '--reason', 'made here'], settings);
  return ['--help', ...READING].map((line) => {
    say(`commands: ${line}`);
    const seconds = cpuSeconds(folder, line.split(' '), settings, Math.min(ROUNDS, sizes.rounds));
    const figure = { name: `order-sync ${line}, CPU`, unit: 's', ...middle(seconds) };
    return line === '--help' ? figure : { ...figure, target: { atMost: TARGET_SECONDS } };
  });
}

function cpuSeconds(
  folder: string,
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
  rounds: number,
): number[] {
  const run = (runs: number) => {
    const env = { PATH: process.env['PATH'], RUNS: String(runs), ...settings };
    const printed = execFileSync('sh', ['-c', SCRIPT, 'sh', process.execPath, BIN, ...args], {
      cwd: folder,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return secondsOfChildren(printed);
  };
  // The first run fills the cache of compiled code.
  run(1);
  return Array.from({ length: rounds }, () => run(RUNS) / RUNS);
}
