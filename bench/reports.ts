import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { buildReportDatabase, REPORT_ORDERS } from './report-data.ts';

const PROGRAM = fileURLToPath(new URL('../src/bin.mjs', import.meta.url));
const MONTH = ['--from', '2025-06-01', '--to', '2025-07-01'];
/** Where the data ends, so that look-ups are fresh. */
const AS_OF = ['--as-of', '2026-01-16T00:00:00Z'];
const WRITE_EVERY_MS = 5;
const ALONE_MS = 10_000;

/** What one report took, and what the writer beside it saw. */
interface Measured {
  readonly seconds: number;
  readonly peakMiB: number;
  readonly writes: number;
  readonly longestWriteMs: number;
  readonly walMiB: number;
}

/** Measures reports of a month and of everything in real processes, with a writer beside them. Returns a table. */
export async function measureReports(folder: string, say: (text: string) => void): Promise<string> {
  const path = join(folder, 'reports.db');
  await buildReportDatabase(path, say);
  const lines = [
    `${REPORT_ORDERS} orders, a durable write every ${WRITE_EVERY_MS} ms beside each report`,
    'report            seconds  peak MiB  writes  longest write ms  WAL MiB',
  ];
  const alone = await measureWriter(path);
  lines.push(line('nothing', { seconds: ALONE_MS / 1_000, ...alone }));
  for (const [name, args] of [
    ['month, json', [...MONTH, '--format', 'json']],
    ['month, xlsx', [...MONTH, '--format', 'xlsx']],
    ['month, html', [...MONTH, '--format', 'html']],
    ['everything, json', ['--format', 'json']],
    ['everything, html', ['--format', 'html']],
  ] as const) {
    say(name);
    lines.push(line(name, await measure(folder, path, args)));
  }
  return lines.join('\n');
}

function line(name: string, { seconds, peakMiB, writes, longestWriteMs, walMiB }: Measured): string {
  const figures = [
    seconds.toFixed(1),
    peakMiB.toFixed(0),
    String(writes),
    longestWriteMs.toFixed(0),
    walMiB.toFixed(1),
  ];
  return `${name.padEnd(18)}${figures.map((text, index) => text.padStart([7, 10, 8, 18, 9][index] ?? 8)).join('')}`;
}

/** What the writer sees with nothing beside it: the disk and the other programs of the machine. */
async function measureWriter(path: string) {
  const writer = startWriter(path, 0);
  await delay(ALONE_MS);
  return await writer.stop();
}

async function measure(folder: string, path: string, args: readonly string[]): Promise<Measured> {
  const begin = performance.now();
  const child = spawn(
    process.execPath,
    [PROGRAM, 'report', 'reconciliation', ...AS_OF, ...args, '--out', 'report.out'],
    {
      cwd: folder,
      env: { ORDER_SYNC_CONFIG: '/dev/null', ORDER_SYNC_DATABASE_URL: `sqlite:${path}` },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  const ended = once(child, 'exit') as Promise<[number | null]>;
  const writer = startWriter(path, child.pid ?? 0);
  const [code] = await ended;
  const seconds = (performance.now() - begin) / 1_000;
  const seen = await writer.stop();
  // The data has findings: 1 is what a report of it ends with.
  if (code !== 1) throw new Error(`the report ended with ${code}`);
  return { seconds, ...seen };
}

/** Commits as the daemon does, and watches the report's memory and the write-ahead log meanwhile. */
function startWriter(path: string, pid: number) {
  const sqlite = new Database(path);
  sqlite.pragma('synchronous = full');
  sqlite.pragma('journal_size_limit = 67108864');
  // A value that is there already would not be written at all.
  const touch = sqlite.prepare('update order_records set merchant_id = ? where rowid = ?');
  let isOver = false;
  const seen = { writes: 0, longestWriteMs: 0, walMiB: 0, peakMiB: 0 };
  const run = async () => {
    while (!isOver) {
      const begin = performance.now();
      sqlite.transaction(() => {
        for (let row = 0; row < 10; row += 1)
          touch.run(`m${seen.writes}`, 1 + (((seen.writes * 10 + row) * 7_919) % 900_000));
      })();
      seen.longestWriteMs = Math.max(seen.longestWriteMs, performance.now() - begin);
      seen.writes += 1;
      seen.walMiB = Math.max(seen.walMiB, statSync(`${path}-wal`).size / 2 ** 20);
      seen.peakMiB = Math.max(seen.peakMiB, peakMemoryMiB(pid));
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

/** The most memory that the program has had so far: it is the child of its launcher. */
function peakMemoryMiB(launcher: number): number {
  try {
    const program = readFileSync(`/proc/${launcher}/task/${launcher}/children`, 'utf8').trim().split(' ')[0] ?? '';
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${program}/status`, 'utf8'))?.[1] ?? 0) / 1_024;
  } catch {
    // Not begun yet, or over.
    return 0;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = mkdtempSync(join(tmpdir(), 'order-sync-bench-'));
  try {
    console.log(await measureReports(folder, (text) => process.stderr.write(`${text}\n`)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
