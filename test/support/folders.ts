import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { openStore } from '../../src/store/sqlite/store.ts';

/** Makes a folder that is gone when the test is finished. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'order-sync-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The folder in which the commands of a test run, with a new database. */
export interface CommandFolder {
  readonly folder: string;
  readonly path: string;
  /** Has a command run there, on that database. */
  readonly options: { readonly cwd: string; readonly environment: Readonly<Record<string, string>> };
}

/** Makes a folder of its own for each test of the file. */
export function commandFolder(): CommandFolder {
  const at = { folder: '', path: '', options: { cwd: '', environment: {} } };
  beforeEach(async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'orders.db');
    const environment = { ORDER_SYNC_DATABASE_URL: `sqlite:${path}` };
    Object.assign(at, { folder, path, options: { cwd: folder, environment } });
    await newDatabase(path);
  });
  return at;
}

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
