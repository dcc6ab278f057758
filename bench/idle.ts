import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { makeDatabase } from './accounts/server.ts';
import { startDaemon, startEngine, startSandboxChild } from './child.ts';
import type { Figure } from './figures.ts';
import { insertOrders } from './orders.ts';
import { cpuMsOf, memoryMib } from './process.ts';
import { settingsFor, type Bench } from './settings.ts';
import { findPostgres, startPostgres } from '../test/support/postgres-server.ts';

const TARGET_PERCENT = 0.5;
/** In MB, as the system counts it. */
const TARGET_MB = { SQLite: 90, PostgreSQL: 110 } as const;
const BYTES_PER_MIB = 1_024 ** 2;
const REST_MS = 3_000;

/** CPU and memory of the daemon while it follows orders none of which is due; on PostgreSQL the memory alone, without orders. */
export async function measureIdle(bench: Bench): Promise<Figure[]> {
  const { folder, path, sizes, say } = bench;
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
    ...memoryOf(daemon.pid, 'SQLite'),
    ...(await measureOnPostgres(bench, url)),
  ];
}

async function measureOnPostgres(bench: Bench, url: string): Promise<Figure[]> {
  const bin = findPostgres();
  if (bin === undefined) {
    bench.say('idle: there is no PostgreSQL server here (no initdb was found), so only SQLite is measured');
    return [];
  }
  await using server = await startPostgres(bin, {}, tmpdir());
  const database = await makeDatabase({ ...bench, server, bin }, 'idle');
  await using daemon = await startDaemon(bench.folder, settingsFor(url, database));
  await delay(REST_MS);
  return memoryOf(daemon.pid, 'PostgreSQL');
}

function memoryOf(pid: number, kind: keyof typeof TARGET_MB): Figure[] {
  const mb = (part: 'VmRSS' | 'RssAnon') => ((memoryMib(pid, part) ?? Number.NaN) * BYTES_PER_MIB) / 1e6;
  const name = `idle daemon on ${kind}, memory`;
  return [
    { name, unit: 'MB', value: mb('VmRSS'), target: { atMost: TARGET_MB[kind] } },
    { name: `${name} without that of Node's own files`, unit: 'MB', value: mb('RssAnon') },
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
