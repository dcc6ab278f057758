import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { queries } from '../../../src/store/statement.ts';
import { openSnapshot } from '../../../src/store/sqlite/snapshot.ts';
import { filledDatabase } from '../../support/filled-database.ts';
import { temporaryFolder } from '../../support/folders.ts';

let folder = '';
let path = '';
let shop: Database.Database;
beforeEach(async () => {
  folder = temporaryFolder();
  path = join(folder, 'orders.db');
  await filledDatabase(path, [{ id: 'a' }, { id: 'b' }]);
  // Waits for nobody, and leaves what it writes in the write-ahead log.
  shop = new Database(path, { timeout: 0 });
  shop.pragma('wal_autocheckpoint = 0');
});
afterEach(() => {
  shop.close();
});

const ids = queries.selectFrom('merchant_orders').select('external_order_id').orderBy('external_order_id');
const add = (id: string) =>
  shop.prepare(`insert into merchant_orders (external_order_id, asset) values (?, '1')`).run(id);

describe('a snapshot', () => {
  it('stays at its moment while others write, also in the middle of being read, and holds nobody up', () => {
    using snapshot = openSnapshot(path);
    add('c');
    const seen: string[] = [];
    for (const { external_order_id } of snapshot.rows<{ external_order_id: string }>(ids)) {
      seen.push(external_order_id);
      add(`d-${external_order_id}`);
    }
    expect(seen).toEqual(['a', 'b']);
    using later = openSnapshot(path);
    expect([...later.rows(ids)]).toHaveLength(5);
  });

  it('cannot write', () => {
    using snapshot = openSnapshot(path);
    const change = queries.updateTable('merchant_orders').set({ state: 'final' });
    expect(() => [...snapshot.rows(change.returning('state'))]).toThrow(/readonly/);
  });

  it('copies what others wrote meanwhile into the database when it is closed', () => {
    const isInDatabase = () => readFileSync(path).includes('written-meanwhile');
    const snapshot = openSnapshot(path);
    add('written-meanwhile');
    expect(isInDatabase()).toBe(false);
    snapshot[Symbol.dispose]();
    expect(isInDatabase()).toBe(true);
  });

  it('is closed although it was not read to its end', () => {
    const read = () => {
      using snapshot = openSnapshot(path);
      for (const row of snapshot.rows(ids)) return row;
      return undefined;
    };
    expect(read()).toEqual({ external_order_id: 'a' });
    expect(shop.pragma('wal_checkpoint(truncate)')).toEqual([{ busy: 0, log: 0, checkpointed: 0 }]);
  });
});
