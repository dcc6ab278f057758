import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Sample } from './trend.ts';

/** No answer within so long is a violation, on a busy machine too. */
const ANSWERS_WITHIN_MS = 60_000;

/** The facts of one look. */
export interface Looked {
  readonly pid: number;
  /** The address of its ops endpoint. */
  readonly opsUrl: string;
  /** Its SQLite file. */
  readonly path: string;
}

/** Looks at a process as the system and its /metrics show it. Rejects if it does not answer. */
export async function look({ pid, opsUrl, path }: Looked): Promise<Sample> {
  const answer = await fetch(`${opsUrl}/metrics`, { signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) });
  const metrics = await answer.text();
  const links = descriptorsOf(pid);
  return {
    rssBytes: gauge(metrics, 'process_resident_memory_bytes'),
    descriptors: links.length,
    sockets: links.filter((link) => link.startsWith('socket:')).length,
    walBytes: statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    eventLoopDelayMs: gauge(metrics, 'order_sync_event_loop_delay_seconds{percentile="100"}') * 1_000,
  };
}

function descriptorsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((name) => {
    try {
      return [readlinkSync(join(folder, name))];
    } catch {
      // It was closed meanwhile.
      return [];
    }
  });
}

function gauge(metrics: string, name: string): number {
  const line = metrics.split('\n').find((one) => one.startsWith(`${name} `));
  if (line === undefined) throw new Error(`/metrics has no ${name}`);
  return Number(line.slice(name.length + 1));
}
