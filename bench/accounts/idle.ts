import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startDaemon } from '../child.ts';
import type { Figure } from '../figures.ts';
import { cpuMsOf, peakMemoryMib } from '../process.ts';
import { KEY, settingsFor, type Bench } from '../settings.ts';

/** Nothing listens there: idle accounts ask for nothing. */
const NOWHERE = 'http://127.0.0.1:9';
/** All accounts are looked at once after a start. */
const LOOKED_AT_A_SECOND = 100;
const REST_MS = 3_000;
const MOST_PERCENT_MORE = 1;
const MOST_MB = 300;
const MB_OF_MIB = 2 ** 20 / 1e6;

/** The cost of accounts in which nothing is due: one alone, and many in one process on a migrated database. */
export async function measureIdleAccounts(bench: Bench, dialect: string, database: string): Promise<Figure[]> {
  const one = await measureIdle(bench, database, 1);
  const many = await measureIdle(bench, database, bench.sizes.accounts);
  const name = `${dialect}: ${bench.sizes.accounts} idle accounts`;
  return [
    { name: `${dialect}: 1 idle account, CPU`, unit: '% of a core', value: one.percent },
    {
      name: `${name}, CPU above one`,
      unit: '% of a core',
      value: many.percent - one.percent,
      target: { atMost: MOST_PERCENT_MORE },
    },
    { name: `${name}, memory`, unit: 'MB', value: many.peakMb, target: { atMost: MOST_MB } },
    { name: `${name}, start`, unit: 's', value: many.startS },
  ];
}

async function measureIdle({ folder, sizes, say }: Bench, database: string, count: number) {
  const place = join(folder, `idle-${count}`);
  mkdirSync(place, { recursive: true });
  const names = Array.from({ length: count }, (_, number) => `shop-${number}`);
  const file = join(place, 'accounts.yaml');
  const lines = names.map((name) => `  ${name}: {exchange: {apiKey: ${KEY}-${name}}}\n`);
  writeFileSync(file, `accounts:\n${lines.join('')}`, { mode: 0o600 });
  const begin = performance.now();
  await using daemon = await startDaemon(place, { ...settingsFor(NOWHERE, database), ORDER_SYNC_CONFIG: file });
  const startS = (performance.now() - begin) / 1_000;
  say(`accounts: ${count} idle for ${sizes.idleMs / 1_000} s`);
  await delay(REST_MS + (count / LOOKED_AT_A_SECOND) * 1_000);
  const cpuBefore = cpuMsOf(daemon.pid);
  const start = performance.now();
  await delay(sizes.idleMs);
  const percent = (100 * (cpuMsOf(daemon.pid) - cpuBefore)) / (performance.now() - start);
  return { percent, peakMb: (peakMemoryMib(daemon.pid) ?? Number.NaN) * MB_OF_MIB, startS };
}
