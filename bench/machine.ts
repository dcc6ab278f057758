import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { findPostgres } from '../test/support/postgres-server.ts';

/** The machine and the versions of the figures. */
export function machine() {
  const sqlite = new Database(':memory:');
  const version = (path: string) => {
    const text = readFileSync(new URL(path, import.meta.url), 'utf8');
    return (JSON.parse(text) as { version: string }).version;
  };
  try {
    return {
      machine: {
        cpu: cpus()[0]?.model ?? 'unknown',
        cores: availableParallelism(),
        memoryGiB: Math.round(totalmem() / 2 ** 30),
        loadBefore: Number((loadavg()[0] ?? 0).toFixed(2)),
      },
      versions: {
        'order-sync': version('../package.json'),
        node: process.versions.node,
        sqlite: String(sqlite.prepare('select sqlite_version()').pluck().get()),
        postgresql: postgresVersion(),
        got: version('../node_modules/got/package.json'),
      },
    };
  } finally {
    sqlite.close();
  }
}

function postgresVersion(): string {
  const bin = findPostgres();
  if (bin === undefined) return 'none';
  const said = execFileSync(join(bin, 'postgres'), ['--version'], { encoding: 'utf8' });
  return /\d+(\.\d+)*/.exec(said)?.[0] ?? 'unknown';
}
