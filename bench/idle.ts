import { setTimeout as delay } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { startDaemon, startEngine, startSandboxChild } from './child.ts';
import type { Figure } from './figures.ts';
import { insertOrders } from './orders.ts';
import { cpuMsOf, peakMemoryMib } from './process.ts';
import { settingsFor, type Bench } from './settings.ts';

const TARGET_PERCENT = 0.5;
const REST_MS = 3_000;

/** CPU of the daemon while it follows orders none of which is due. */
export async function measureIdle({ folder, path, sizes, say }: Bench): Promise<Figure[]> {
  await using sandbox = await startSandboxChild(folder);
  const { url } = sandbox.ready;
  await followOrders(folder, url, path, sizes.followed);
  await using daemon = await startDaemon(folder, settingsFor(url, path));
  say(`idle: ${sizes.followed} orders followed, none due, for ${sizes.idleMs / 1_000} s`);
  await delay(REST_MS);
  const cpuBefore = cpuMsOf(daemon.pid);
  const start = performance.now();
  await delay(sizes.idleMs);
  const percent = (100 * (cpuMsOf(daemon.pid) - cpuBefore)) / (performance.now() - start);
  return [
    { name: 'idle daemon, CPU', unit: '% of a core', value: percent, target: { atMost: TARGET_PERCENT } },
    { name: 'idle daemon, memory', unit: 'MiB', value: peakMemoryMib(daemon.pid) ?? Number.NaN },
  ];
}

/** Orders that the exchange has taken, to be looked up in an hour. */
async function followOrders(folder: string, url: string, path: string, count: number): Promise<void> {
  {
    await using engine = await startEngine(folder, url, path);
    insertOrders(path, 'followed', count);
    await engine.ask({ kind: 'create', batch: 'followed', count, aheadMs: 0 });
  }
  const database = new Database(path);
  database
    .prepare('update merchant_orders set revision = revision + 1, next_action_at = ?')
    .run(new Date(Date.now() + 3_600_000).toISOString());
  database.close();
}
