import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { freePort } from '../test/support/postgres-server.ts';
import { runProgram, startDaemon } from './child.ts';
import { middle, type Figure } from './figures.ts';
import { cpuMsOf, peakMemoryMib } from './process.ts';
import { fillWithReportedOrders } from './report-data.ts';
import { settingsFor, type Bench } from './settings.ts';

const PROGRAM = fileURLToPath(new URL('../src/bin.mjs', import.meta.url));
const DAY_MS = 86_400_000;
const WRITE_EVERY_MS = 5;
const ALONE_MS = 10_000;
const DASHBOARD_MS = 100;
const STARTS = 5;
const REST_MS = 3_000;
/** Nothing is asked of the exchange: nothing is due. */
const NOBODY = 'http://127.0.0.1:9';

/** The times of one report, and the waits of the writer beside it. */
interface Measured extends Seen {
  readonly seconds: number;
}

interface Seen {
  readonly writes: number;
  readonly longestWriteMs: number;
  readonly walMib: number;
  readonly peakMib: number;
  readonly cpuMs: number;
}

/** Of a month, which is 30 days of 300, and of everything. */
const reportsUntil = (until: number) => {
  const month = ['--from', timeOf(until - 60 * DAY_MS), '--to', timeOf(until - 30 * DAY_MS)];
  return [
    { name: 'a month, json', args: ['reconciliation', ...month, '--format', 'json'], seconds: 3, mib: 200 },
    { name: 'a month, xlsx', args: ['reconciliation', ...month, '--format', 'xlsx'], seconds: 3, mib: 200 },
    { name: 'a month, html', args: ['reconciliation', ...month, '--format', 'html'], seconds: 3, mib: 200 },
    { name: 'everything, json', args: ['reconciliation', '--format', 'json'], seconds: 60, mib: 300 },
    { name: 'everything, html', args: ['reconciliation', '--format', 'html'], seconds: 60, mib: 300 },
    { name: 'sums', args: ['summary', '--format', 'json'], seconds: 2, mib: 200 },
    { name: 'ages', args: ['ageing', '--format', 'json'], seconds: 4, mib: 300 },
  ];
};

/** Measures reports of a month and of everything as real processes, each with a writer beside it, and the dashboard. */
export async function measureReports(bench: Bench): Promise<Figure[]> {
  const { folder, path, say } = bench;
  const until = new Date();
  fillWithReportedOrders(bench, until);
  say('reports: the writer with nothing beside it');
  const alone = await measureWriter(path);
  const figures: Figure[] = [
    { name: 'no report, longest write', value: alone.longestWriteMs, unit: 'ms' },
    { name: 'no report, write-ahead log', value: alone.walMib, unit: 'MiB' },
  ];
  for (const { name, args, seconds, mib } of reportsUntil(until.getTime())) {
    say(`reports: ${name}`);
    const seen = await measure(folder, path, args);
    figures.push(
      { name: `report of ${name}`, value: seen.seconds, unit: 's', target: { atMost: seconds } },
      // It holds also if other work has the processor.
      { name: `report of ${name}, CPU`, value: seen.cpuMs / 1_000, unit: 's', target: { atMost: seconds } },
      { name: `report of ${name}, memory`, value: seen.peakMib, unit: 'MiB', target: { below: mib } },
      {
        name: `report of ${name}, longest write beside it`,
        value: seen.longestWriteMs,
        unit: 'ms',
        // No report makes the disk faster than it is with nothing beside.
        target: { below: Math.max(250, Math.ceil(alone.longestWriteMs)) },
      },
      { name: `report of ${name}, write-ahead log`, value: seen.walMib, unit: 'MiB' },
    );
  }
  return [...figures, ...(await measureDashboard(bench))];
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

/** The first page of a daemon that has just begun: nothing of it was read before. */
async function measureDashboard({ folder, path, say }: Bench): Promise<Figure[]> {
  say('reports: the first page of the dashboard');
  const address = `127.0.0.1:${await freePort()}`;
  // The sweep would record a finding for each of the many orders that wait.
  const settings = {
    ...settingsFor(NOBODY, path),
    ORDER_SYNC_OPS_LISTEN: address,
    ORDER_SYNC_RECONCILE_CRON: '0 0 1 1 *',
  };
  await runProgram(folder, ['db', 'accept-restore', '--yes', '--assume-not-sent', '--reason', 'made here'], settings);
  const [wall, cpu]: [number[], number[]] = [[], []];
  for (let start = 0; start < STARTS; start += 1) {
    await using daemon = await startDaemon(folder, settings);
    // The sweep at the start reads all orders that are followed.
    await delay(REST_MS);
    const [begin, cpuBefore] = [performance.now(), cpuMsOf(daemon.pid)];
    const page = await fetch(`http://${address}/`);
    if (!page.ok || !(await page.text()).includes('</html>')) throw new Error(`the dashboard answered ${page.status}`);
    wall.push(performance.now() - begin);
    cpu.push(cpuMsOf(daemon.pid) - cpuBefore);
  }
  const target = { atMost: DASHBOARD_MS };
  return [
    { name: 'first page of the dashboard', ...middle(wall), unit: 'ms', target },
    { name: 'first page of the dashboard, CPU', ...middle(cpu), unit: 'ms', target },
  ];
}

/** The waits of the writer with nothing beside it: the disk and the other programs of the machine. */
async function measureWriter(path: string): Promise<Seen> {
  const writer = startWriter(path, 0);
  await delay(ALONE_MS);
  return await writer.stop();
}

async function measure(folder: string, path: string, args: readonly string[]): Promise<Measured> {
  const begin = performance.now();
  const child = spawn(process.execPath, [PROGRAM, 'report', ...args, '--out', 'report.out'], {
    cwd: folder,
    env: { ORDER_SYNC_CONFIG: '/dev/null', ORDER_SYNC_DATABASE_URL: `sqlite:${path}` },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  const writer = startWriter(path, child.pid ?? 0);
  const [code] = await ended;
  const seconds = (performance.now() - begin) / 1_000;
  const seen = await writer.stop();
  // The data has findings: 1 is what a report of them ends with.
  if (code !== 0 && code !== 1) throw new Error(`the report ended with ${code}`);
  return { seconds, ...seen };
}

/** Commits look-ups as the daemon does, 200 a second, and watches the report's memory and the write-ahead log. */
function startWriter(path: string, pid: number) {
  const sqlite = new Database(path);
  // As the daemon's connection is set.
  sqlite.pragma('synchronous = full');
  sqlite.pragma('journal_size_limit = 67108864');
  sqlite.pragma('wal_autocheckpoint = 4000');
  // A value that is there already would not be written at all.
  const touchRecord = sqlite.prepare('update order_records set merchant_id = :value where rowid = :row');
  const touchOrder = sqlite.prepare(
    `update merchant_orders set revision = revision + 1, state_reason = :value where account = 'default' and external_order_id = :id`,
  );
  const idOf = sqlite.prepare('select external_order_id from order_records where rowid = ?').pluck();
  const addEvent = sqlite.prepare(`insert into events (account, type, subject, field, new_value, observed_at, source,
    previous_hash, hash) values ('default', 'order', :id, 'order.status', :value, '2026-01-15T00:00:00.000Z', 'lookup', '', '')`);
  const rows = sqlite.prepare('select max(rowid) from order_records').pluck().get() as number;
  let isOver = false;
  const seen = { writes: 0, longestWriteMs: 0, walMib: 0, peakMib: 0, cpuMs: 0 };
  const run = async () => {
    while (!isOver) {
      const begin = performance.now();
      const row = 1 + ((seen.writes * 7_919) % rows);
      sqlite.transaction(() => {
        const change = { value: String(begin), row, id: idOf.get(row) };
        touchRecord.run(change);
        touchOrder.run(change);
        addEvent.run(change);
      })();
      seen.longestWriteMs = Math.max(seen.longestWriteMs, performance.now() - begin);
      seen.writes += 1;
      seen.walMib = Math.max(seen.walMib, statSync(`${path}-wal`).size / 2 ** 20);
      watch(pid, seen);
      await delay(WRITE_EVERY_MS);
    }
    sqlite.close();
  };
  const running = run();
  return {
    async stop() {
      isOver = true;
      await running;
      return seen;
    },
  };
}

/** Notes what the program has used so far; its launcher has become it. */
function watch(pid: number, seen: { peakMib: number; cpuMs: number }): void {
  try {
    seen.peakMib = Math.max(seen.peakMib, peakMemoryMib(pid) ?? 0);
    seen.cpuMs = Math.max(seen.cpuMs, cpuMsOf(pid));
  } catch {
    // It is over.
  }
}
