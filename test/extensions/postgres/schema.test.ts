import Database from 'better-sqlite3';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newDatabase, temporaryFolder } from '../../support/folders.ts';
import { openMerchant } from '../../support/merchant-postgres.ts';
import { newPostgresDatabase } from '../../support/postgres.ts';

const isOurs = (name: string) => !/^(sqlite|kysely)_/.test(name);

/** Each column of each table and view with whether it may be null. */
async function sqliteColumns(): Promise<string[]> {
  const path = join(temporaryFolder(), 'orders.db');
  await newDatabase(path);
  using sqlite = Object.assign(new Database(path), { [Symbol.dispose]: () => sqlite.close() });
  const tables = sqlite
    .prepare(`select name from sqlite_master where type in ('table', 'view')`)
    .pluck()
    .all() as string[];
  return tables.filter(isOurs).flatMap((table) => {
    const columns = sqlite.pragma(`table_info(${table})`) as { name: string; type: string }[];
    return columns.map(({ name, type }) => `${table}.${name} ${type.toLowerCase()}`);
  });
}

const OF_WORKERS = ['workers', 'ended_workers', 'account_wakes', 'database_identity'];

it('has the same tables and columns in PostgreSQL, and the tables that workers need', async () => {
  const merchant = openMerchant(await newPostgresDatabase());
  const found = merchant
    .prepare(`select table_name, column_name, data_type from information_schema.columns
      where table_schema = 'public' order by table_name, ordinal_position`)
    .raw()
    .all() as [string, string, string][];
  const columns = found
    .filter(([table]) => isOurs(table) && !OF_WORKERS.includes(table))
    .map(([table, column, type]) => `${table}.${column} ${type === 'bigint' ? 'integer' : type}`);
  expect(columns.toSorted()).toEqual((await sqliteColumns()).toSorted());
});

it('has keys of accounts that begin with the account, and compares text by its bytes', async () => {
  const merchant = openMerchant(await newPostgresDatabase());
  const keys = merchant.prepare(`select indexrelid::regclass::text, pg_get_indexdef(indexrelid, 1, true) from pg_index
    join pg_attribute on attrelid = indrelid and attname = 'account' where indisunique`);
  const found = keys.raw().all() as [string, string][];
  expect(found.length).toBeGreaterThan(10);
  expect(found.filter(([, column]) => column !== 'account')).toEqual([]);
  const collations = merchant.prepare(`select distinct collation_name from information_schema.columns
    where table_schema = 'public' and data_type = 'text'`);
  expect(collations.pluck().all()).toEqual(['C']);
});
