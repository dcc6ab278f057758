import { join } from 'node:path';
import Database from 'better-sqlite3';
import { inject, onTestFinished } from 'vitest';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import { loadConfig } from './settings.ts';
import { openStore, type OpenOptions, type Place } from '../../src/store/open.ts';
import type { Store } from '../../src/store/port.ts';
import { newDatabase, temporaryFolder } from './folders.ts';
import { openMerchant } from './merchant-postgres.ts';
import type { Merchant } from './merchant.ts';
import { newPostgresDatabase } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The dialect of the databases that tests make, unless they are about another. */
    dialect: Place['kind'];
  }
}

/** A database of a test's own. Connections to it are closed when the test is finished. */
export interface TestDatabase {
  /** As it stands in the settings. */
  readonly url: string;
  readonly place: Place;
  open(options?: Partial<OpenOptions>, clock?: Clock): Promise<Store>;
  /** Connects as a program of the merchant's: with no settings of its own. */
  connect(): Merchant;
}

/** True if tests make databases of SQLite. */
export function isSqlite(): boolean {
  return inject('dialect') === 'sqlite';
}

/** Options of a test that holds on SQLite alone, because of `_what`. */
export function ofSqlite(_what: string): { readonly skip: boolean } {
  return { skip: !isSqlite() };
}

/** Makes a database of the dialect that the tests run on, with the tables. */
export async function newTestDatabase(folder = temporaryFolder()): Promise<TestDatabase> {
  return isSqlite() ? await sqliteDatabase(join(folder, 'orders.db')) : await postgresDatabase();
}

async function sqliteDatabase(path: string): Promise<TestDatabase> {
  await newDatabase(path);
  // No test here takes the power away.
  return database(`sqlite:${path}`, { synchronous: 'off' }, () => new Database(path));
}

async function postgresDatabase(): Promise<TestDatabase> {
  const made = await newPostgresDatabase();
  return database(made.url, {}, () => openMerchant(made));
}

function database(url: string, defaults: Partial<OpenOptions>, connect: () => Merchant): TestDatabase {
  const env = { ORDER_SYNC_DATABASE_URL: url };
  const { database: place } = loadConfig({ requireExchange: false, cwd: '/', env });
  return {
    url,
    place,
    async open(options, clock = systemClock()) {
      const store = await openStore(place, clock, { expect: 'current', ...defaults, ...options });
      onTestFinished(() => store.close());
      return store;
    },
    connect() {
      const merchant = connect();
      onTestFinished(() => void merchant.close());
      return merchant;
    },
  };
}
