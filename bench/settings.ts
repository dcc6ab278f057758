import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freeAddress } from '../src/extensions/sandbox/demo/stage.ts';

/** The key that the sandbox takes. */
export const KEY = 'bench-key';

/** Requests in flight at the same time, in the engine, the daemon and the bare loop. */
export const CONCURRENCY = 32;

/**
 * Settings of what is measured, with the path of a SQLite file or the URL of a database of PostgreSQL. The rate limit does
 * not bind, and nothing listens that is not needed.
 */
export function settingsFor(url: string, database: string): Record<string, string> {
  return {
    ORDER_SYNC_CONFIG: '/dev/null',
    ORDER_SYNC_EXCHANGE_BASE_URL: url,
    ORDER_SYNC_EXCHANGE_API_KEY: KEY,
    ORDER_SYNC_EXCHANGE_CONCURRENCY: String(CONCURRENCY),
    ORDER_SYNC_EXCHANGE_RATE_REQUESTS: '1000000',
    ORDER_SYNC_OPS_LISTEN: 'off',
    ORDER_SYNC_DATABASE_URL: database.startsWith('postgres:') ? database : `sqlite:${database}`,
  };
}

/** Settings with which a daemon serves its API as well, and how the client of a shop reaches it. */
export async function apiFor(folder: string) {
  const [listen, token, secretFile] = [await freeAddress(), randomBytes(32).toString('hex'), join(folder, 'token')];
  writeFileSync(secretFile, token, { mode: 0o600 });
  // The rate of the token does not bind.
  const tokens = [{ name: 'shop', scopes: ['read', 'orders', 'decide'], secretFile, rate: 1_000_000 }];
  const settings = { ORDER_SYNC_API_LISTEN: listen, ORDER_SYNC_API_TOKENS: JSON.stringify(tokens) };
  return { settings, access: { url: `http://${listen}`, token } };
}

/** How much is measured. */
export interface Sizes {
  /** Rounds of the throughput part, and orders a round. */
  readonly rounds: number;
  readonly orders: number;
  /** Rows that are imported, and then wait to be sent. */
  readonly backlog: number;
  /** Rows inserted one at a time. */
  readonly rows: number;
  /** Orders that the idle daemon follows, and how long it is watched. */
  readonly followed: number;
  readonly idleMs: number;
  /** Idle accounts of one process. */
  readonly accounts: number;
  /** Workers that are killed, one after another. */
  readonly kills: number;
  /** Accounts that workers share when one joins and one leaves. */
  readonly sharedAccounts: number;
  /** Orders of the database that reports are made of. */
  readonly reported: number;
  /** Orders of the databases that are started on. */
  readonly large: number;
  /** Accounts with orders of years on one server, the number of orders that is also searched for what is due, the workers that share them, and how many are killed. */
  readonly many: ManySizes;
  /** Events of the feed that is read. */
  readonly events: number;
}

export interface ManySizes {
  readonly accounts: number;
  readonly workers: number;
  readonly orders: number;
  readonly kills: number;
  /** After this time since a start all accounts were looked at once, and the ones that had work are let go. */
  readonly settleMs: number;
}

export const FULL: Sizes = {
  // A round differs from the next by a fifth, the medians of ten by a twentieth.
  rounds: 30,
  orders: 800,
  backlog: 100_000,
  rows: 60,
  followed: 1_000,
  idleMs: 30_000,
  accounts: 10_000,
  kills: 10,
  sharedAccounts: 30,
  reported: 1_000_000,
  large: 5_000_000,
  many: { accounts: 2_000, workers: 10, orders: 500_000, kills: 3, settleMs: 70_000 },
  events: 1_000_000,
};

/** Shows in seconds that everything runs; its figures mean nothing. */
export const SMALL: Sizes = {
  rounds: 2,
  orders: 60,
  backlog: 500,
  rows: 3,
  followed: 20,
  idleMs: 1_000,
  accounts: 50,
  kills: 1,
  sharedAccounts: 6,
  reported: 5_000,
  large: 5_000,
  many: { accounts: 20, workers: 2, orders: 5_000, kills: 1, settleMs: 1_000 },
  events: 5_000,
};

/** The tools of each part. */
export interface Bench {
  /** A temporary folder of the part's own. */
  readonly folder: string;
  /** A new database in it. */
  readonly path: string;
  readonly sizes: Sizes;
  /** Tells whether the run must write a table of the manual. */
  readonly write: boolean;
  /** The folder in which the server of many accounts keeps its data; in memory, if there is room, unless it is named. */
  readonly folderOfMany?: string | undefined;
  /** Tells a person how far it is. */
  readonly say: (text: string) => void;
}
