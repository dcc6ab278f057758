import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import type { Figure } from './figures.ts';
import { cpuMsOf, peakMemoryMib } from './process.ts';
import { buildReportDatabase } from './report-data.ts';
import type { Bench } from './settings.ts';

const PROGRAM = fileURLToPath(new URL('../src/bin.mjs', import.meta.url));
const MONTH = ['--from', '2025-06-01', '--to', '2025-07-01'];
/** Where the data ends, so that look-ups are fresh. */
const AS_OF = ['--as-of', '2026-01-16T00:00:00Z'];
const WRITE_EVERY_MS = 5;
const ALONE_MS = 10_000;

/** What one report took, and what the writer beside it saw. */
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

const REPORTS = [
  { name: 'a month, json', args: ['reconciliation', ...AS_OF, ...MONTH, '--format', 'json'], seconds: 5, mib: 200 },
  { name: 'a month, xlsx', args: ['reconciliation', ...AS_OF, ...MONTH, '--format', 'xlsx'], seconds: 5, mib: 200 },
  { name: 'a month, html', args: ['reconciliation', ...AS_OF, ...MONTH, '--format', 'html'], seconds: 5, mib: 200 },
  { name: 'everything, json', args: ['reconciliation', ...AS_OF, '--format', 'json'], seconds: 60, mib: 300 },
  { name: 'everything, html', args: ['reconciliation', ...AS_OF, '--format', 'html'], seconds: 60, mib: 300 },
  { name: 'sums', args: ['summary'], seconds: 3, mib: 200 },
  { name: 'ages', args: ['ageing'], seconds: 5, mib: 300 },
] as const;

/** Measures reports of a month and of everything as real processes, each with a writer beside it. */
export async function measureReports({ folder, sizes, say }: Bench): Promise<Figure[]> {
  const path = join(folder, 'reports.db');
  await buildReportDatabase(path, sizes.reported, say);
  say('reports: the writer with nothing beside it');
  const alone = await measureWriter(path);
  const figures: Figure[] = [
    { name: 'no report, longest write', value: alone.longestWriteMs, unit: 'ms' },
    { name: 'no report, write-ahead log', value: alone.walMib, unit: 'MiB' },
  ];
  for (const { name, args, seconds, mib } of REPORTS) {
    say(`reports: ${name}`);
    const seen = await measure(folder, path, args);
    figures.push(
      { name: `report of ${name}`, value: seen.seconds, unit: 's', target: { below: seconds } },
      { name: `report of ${name}, CPU`, value: seen.cpuMs / 1_000, unit: 's' },
      { name: `report of ${name}, memory`, value: seen.peakMib, unit: 'MiB', target: { below: mib } },
      {
        name: `report of ${name}, longest write beside it`,
        value: seen.longestWriteMs,
        unit: 'ms',
        // No report makes the disk faster than it is with nothing beside.
        target: { below: Math.max(250, alone.longestWriteMs) },
      },
      { name: `report of ${name}, write-ahead log`, value: seen.walMib, unit: 'MiB' },
    );
  }
  return figures;
}

/** What the writer sees with nothing beside it: the disk and the other programs of the machine. */
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
