import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { openStore } from '../../src/store/sqlite/store.ts';

let migrated: Promise<Buffer> | undefined;

/** Makes a database at `path`, as `db migrate` does: the migrations run once in a worker, what they make is copied. */
export async function newDatabase(path: string): Promise<void> {
  migrated ??= migratedFile();
  const bytes = await migrated;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, bytes, { mode: 0o600, flag: 'wx' });
}

async function migratedFile(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'order-sync-'));
  try {
    const path = join(folder, 'migrated.db');
    await (await openStore(path, systemClock(), { expect: 'migrate' })).close();
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
