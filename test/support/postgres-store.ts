import { onTestFinished } from 'vitest';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import type { PostgresDatabase } from '../../src/extensions/postgres/place/settings.ts';
import { loadConfig } from './settings.ts';
import { grantNext } from '../../src/store/tables/accounts.ts';
import type { Store } from '../../src/store/port.ts';
import { openStore, type PostgresOptions } from '../../src/extensions/postgres/store.ts';
import { temporaryFolder } from './folders.ts';
import { newPostgresDatabase, type PostgresTestDatabase } from './postgres.ts';

/** The place of a database of PostgreSQL, as the settings name it. */
export function placeOf(url: string, settings: Readonly<Record<string, string>> = {}): PostgresDatabase {
  const env = { ORDER_SYNC_DATABASE_URL: url, ...settings };
  const { database } = loadConfig({ requireExchange: false, cwd: temporaryFolder(), env });
  if (database.kind !== 'postgres') throw new Error(`${database.address} is no database of PostgreSQL`);
  return database as PostgresDatabase;
}

/** An open store of a test's own, that is closed when the test is finished. */
export async function openPostgresStore(
  options: Partial<PostgresOptions> = {},
  clock: Clock = systemClock(),
): Promise<{ database: PostgresTestDatabase; place: PostgresDatabase; store: Store }> {
  const database = await newPostgresDatabase();
  const place = placeOf(database.url);
  const store = await openStore(place, clock, { expect: 'current', ...options });
  onTestFinished(() => store.close());
  return { database, place, store };
}

/** The store as the next owner of an account writes it. */
export async function ownedStore(store: Store, account: string): Promise<Store> {
  const generations = await store.forAccount(account).writer.write((tx) => grantNext(tx, [account]));
  return store.forAccount(account, { generation: generations.get(account) ?? 0 });
}
