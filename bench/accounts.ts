import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runProgram, startDaemon } from './child.ts';
import type { Figure } from './figures.ts';
import { cpuMsOf, peakMemoryMib } from './process.ts';
import { KEY, settingsFor, type Bench } from './settings.ts';

/** Nobody listens there: idle accounts ask for nothing. */
const NOWHERE = 'http://127.0.0.1:9';
/** All accounts are looked at once after a start. */
const LOOKED_AT_A_SECOND = 100;
const REST_MS = 3_000;
const MOST_PERCENT_MORE = 1;
const MOST_MIB = 300;

/** What accounts cost in which nothing is due: one alone, and many in one process. */
export async function measureAccounts(bench: Bench): Promise<Figure[]> {
  const one = await measureIdle(bench, 1);
  const many = await measureIdle(bench, bench.sizes.accounts);
  const name = `${bench.sizes.accounts} idle accounts`;
  return [
    { name: '1 idle account, CPU', unit: '% of a core', value: one.percent },
    {
      name: `${name}, CPU above one`,
      unit: '% of a core',
      value: many.percent - one.percent,
      target: { below: MOST_PERCENT_MORE },
    },
    { name: `${name}, memory`, unit: 'MiB', value: many.peakMib, target: { below: MOST_MIB } },
    { name: `${name}, start`, unit: 's', value: many.startS },
  ];
}

async function measureIdle({ folder, sizes, say }: Bench, count: number) {
  const place = join(folder, String(count));
  mkdirSync(place);
  const names = Array.from({ length: count }, (_, number) => `shop-${number}`);
  const file = join(place, 'accounts.yaml');
  const lines = names.map((name) => `  ${name}: {exchange: {apiKey: ${KEY}-${name}}}\n`);
  writeFileSync(file, `accounts:\n${lines.join('')}`, { mode: 0o600 });
  const environment = { ...settingsFor(NOWHERE, join(place, 'orders.db')), ORDER_SYNC_CONFIG: file };
  await runProgram(place, ['db', 'migrate'], environment);
  const begin = performance.now();
  await using daemon = await startDaemon(place, environment);
  const startS = (performance.now() - begin) / 1_000;
  say(`accounts: ${count} idle for ${sizes.idleMs / 1_000} s`);
  await delay(REST_MS + Math.min(sizes.idleMs, (count / LOOKED_AT_A_SECOND) * 1_000));
  const cpuBefore = cpuMsOf(daemon.pid);
  const start = performance.now();
  await delay(sizes.idleMs);
  const percent = (100 * (cpuMsOf(daemon.pid) - cpuBefore)) / (performance.now() - start);
  return { percent, peakMib: peakMemoryMib(daemon.pid) ?? Number.NaN, startS };
}
