import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { systemClock } from '../../../src/base/clock.ts';
import { openStore } from '../../../src/store/sqlite/store.ts';
import { newDatabase } from '../../support/folders.ts';
import { storeContract } from '../contract.ts';

storeContract('SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'order-sync-'));
  const path = join(folder, 'orders.db');
  await newDatabase(path);
  // No test here takes the power away.
  const store = await openStore(path, systemClock(), { expect: 'current', synchronous: 'off' });
  const merchant = new Database(path, { timeout: 0 });
  return {
    store,
    run: (sql) => void merchant.exec(sql),
    async [Symbol.asyncDispose]() {
      merchant.close();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
});
