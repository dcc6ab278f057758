import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { queries } from '../../../src/store/statement.ts';
import { allRows, rowsAtOnce } from '../../../src/store/pages.ts';
import { openSnapshot } from '../../../src/store/sqlite/store.ts';
import { filledDatabase } from '../../support/filled-database.ts';
import { temporaryFolder } from '../../support/folders.ts';

let folder = '';
let path = '';
let shop: Database.Database;
beforeEach(async () => {
  folder = temporaryFolder();
  path = join(folder, 'orders.db');
  await filledDatabase(path, [{ id: 'a' }, { id: 'b' }]);
  // Waits for no other, and leaves its writes in the write-ahead log.
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
  it('stays at its moment while others write, also in the middle of being read, and blocks no other', async () => {
    await using snapshot = await openSnapshot(path);
    add('c');
    const seen: string[] = [];
    for await (const page of snapshot.pages<{ external_order_id: string }>(ids)) {
      seen.push(...page.map(({ external_order_id }) => external_order_id));
      for (const id of seen) add(`d-${id}`);
    }
    expect(seen).toEqual(['a', 'b']);
    await using later = await openSnapshot(path);
    expect(await allRows(later, ids)).toHaveLength(5);
  });

  it('cannot write', async () => {
    await using snapshot = await openSnapshot(path);
    const change = queries.updateTable('merchant_orders').set({ state: 'final' });
    await expect(allRows(snapshot, change.returning('state'))).rejects.toThrow(/readonly/);
  });

  it('copies what others wrote meanwhile into the database when it is closed', async () => {
    const isInDatabase = () => readFileSync(path).includes('written-meanwhile');
    const snapshot = await openSnapshot(path);
    add('written-meanwhile');
    expect(isInDatabase()).toBe(false);
    await snapshot[Symbol.asyncDispose]();
    expect(isInDatabase()).toBe(true);
  });

  it('is read and closed on a full disk, if nothing can be copied', async () => {
    const pragma = vi.spyOn(Database.prototype, 'pragma').mockImplementation(() => {
      throw new Database.SqliteError('database or disk is full', 'SQLITE_FULL');
    });
    expect(await rowsAtOnce({ snapshot: async () => await openSnapshot(path) }, ids)).toHaveLength(2);
    expect(pragma).toHaveBeenCalled();
    pragma.mockRestore();
  });

  it('is closed although it was not read to its end', async () => {
    const read = async () => {
      await using snapshot = await openSnapshot(path);
      for await (const [row] of snapshot.pages(ids)) return row;
      return undefined;
    };
    expect(await read()).toEqual({ external_order_id: 'a' });
    expect(shop.pragma('wal_checkpoint(truncate)')).toEqual([{ busy: 0, log: 0, checkpointed: 0 }]);
  });
});
