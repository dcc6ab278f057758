import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../src/base/clock.ts';
import { loadConfig } from '../support/settings.ts';
import { openStore } from '../../src/store/sqlite/store.ts';
import type { SqliteConfig } from '../support/test-program.ts';
import { FIRST_ACCOUNT, keyOf } from './plan/names.ts';
import { BEGINNING } from './plan/plan.ts';

const EMPTY = 'empty.db';
/** A folder in memory, on Linux. */
const MEMORY = '/dev/shm';

/** A folder with an empty database of today's version, from which each world begins. */
export interface Ground {
  readonly folder: string;
  readonly config: SqliteConfig;
  /** The moves of orders are held against the model (test/model). */
  readonly isReplayed?: boolean;
  /** The steps in which a world must end; far more than any world takes unless given. */
  readonly mostSteps?: number;
}

/** Prepares the ground; it is gone when it is disposed of. */
export async function prepareGround(): Promise<Ground & Disposable> {
  const folder = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'order-sync-simulation-'));
  const ground = openGround(folder);
  const store = await openStore(emptyDatabaseOf(ground), frozenClock(), { expect: 'migrate' });
  await store.close();
  return { ...ground, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

/** The ground that was prepared in a folder. */
export function openGround(folder: string): Ground {
  const env = {
    ORDER_SYNC_EXCHANGE_BASE_URL: 'https://simulated.example',
    ORDER_SYNC_EXCHANGE_API_KEY: keyOf(FIRST_ACCOUNT),
  };
  return { folder, config: loadConfig({ file: null, cwd: folder, requireExchange: true, env }) as SqliteConfig };
}

/** Worlds of a server that is lost are held against the model as well. */
export function replayedIn(mode: string, ground: Ground): Ground {
  return { ...ground, isReplayed: mode === 'promoted' };
}

/** The path of the database that each world copies. */
export function emptyDatabaseOf({ folder }: Ground): string {
  return join(folder, EMPTY);
}

/** A clock at the beginning of every world, for what waits for no time. */
export function frozenClock(): Clock {
  return {
    now: () => new Date(BEGINNING),
    monotonic: () => 0,
    random: () => 0,
    turn: async () => {},
    sleep: async () => {},
  };
}
