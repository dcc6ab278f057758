import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { newDatabase } from './new-database.ts';

/** Where the commands of a test run: a folder with a new database. */
export interface CommandPlace {
  readonly folder: string;
  readonly path: string;
  /** Has a command run there, on that database. */
  readonly options: { readonly cwd: string; readonly environment: Readonly<Record<string, string>> };
}

/** Gives each test of the file a place of its own, which is gone after it. */
export function commandPlace(): CommandPlace {
  let folder = '';
  const path = () => join(folder, 'orders.db');
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'order-sync-'));
    await newDatabase(path());
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  return {
    get folder() {
      return folder;
    },
    get path() {
      return path();
    },
    get options() {
      return { cwd: folder, environment: { ORDER_SYNC_DATABASE_URL: `sqlite:${path()}` } };
    },
  };
}
