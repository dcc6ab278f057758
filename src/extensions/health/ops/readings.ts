import { existsSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import type { DatabaseConfig } from '../../../settings/config.ts';
import type { PaceMaker } from '../../../orders/pass/pace.ts';
import { messageOf } from '../../../base/text.ts';
import { webhooksSettings } from '../../webhooks/settings.ts';
import type { ReadingSources } from '../status/read-status.ts';
import { readOverview } from '../tables/overview.ts';
import type { Clock } from '../../../base/clock.ts';

export interface OpsSources extends ReadingSources {
  readonly log: Logger;
  readonly heedDecision: (account: string) => Promise<void>;
  readonly makePaces?: PaceMaker | undefined;
}

export interface OpsPages extends OpsSources {
  readonly version: string;
  readonly startedAt: string;
  readonly readings: Readings;
}

/** How long a reading is shared, in ms: longer if it took long, so that reading takes a small part of the time. */
export type Fresh = { readonly least: number; readonly most: number; readonly timesItTook: number };

/** A reading of up to 50 ms takes at most a 200th of the time, however often it is asked for. */
const FRESH_MS: Fresh = { least: 1_000, most: 10_000, timesItTook: 200 };
const PATIENCE_MS = 5_000;

export interface Disk {
  readonly folder: string;
  readonly freeBytes: number;
  readonly databaseBytes?: number;
  readonly walBytes?: number;
}

export type Readings = ReturnType<typeof newReadings>;

/** The readings for the pages of the ops endpoint: each is read once, however many ask for it at the same time. */
export function newReadings(sources: ReadingSources) {
  const { config, clock } = sources;
  const disk = async () => await readDisk(config.database).catch(() => undefined);
  return { overview: shared(clock, () => readInTime(sources)), disk: shared(clock, disk) };
}

async function readInTime({ config, store, clock }: ReadingSources) {
  if (!store.isInPlace()) return { overview: null, failure: 'its file was moved, deleted or replaced' };
  const done = new AbortController();
  const late = clock.sleep(PATIENCE_MS, done.signal).then(() => {
    throw new Error(`it did not answer within ${PATIENCE_MS / 1_000} s`);
  });
  try {
    const { endpoints } = webhooksSettings.of(config).webhooks;
    const reading = readOverview(store.db, { account: undefined, endpoints, now: clock.now() });
    return { overview: await Promise.race([reading, late]), failure: null };
  } catch (error) {
    return { overview: null, failure: messageOf(error) };
  } finally {
    done.abort();
  }
}

export function shared<Value>(clock: Pick<Clock, 'monotonic'>, work: () => Promise<Value>, fresh = FRESH_MS) {
  const { least, most, timesItTook } = fresh;
  let running: Promise<Value> | undefined;
  let last: { readonly value: Value; readonly until: number } | undefined;
  return async (): Promise<Value> => {
    const begun = clock.monotonic();
    if (last !== undefined && begun < last.until) return last.value;
    running ??= work()
      .then((value) => {
        const now = clock.monotonic();
        last = { value, until: now + Math.min(most, Math.max(least, (now - begun) * timesItTook)) };
        return value;
      })
      .finally(() => {
        running = undefined;
      });
    return await running;
  };
}

/** Returns the free bytes of the disk with the database, or with its marks if the database is on another machine. */
export async function freeSpace(database: DatabaseConfig): Promise<Disk> {
  let folder = dirname(database.kind === 'sqlite' ? database.path : database.marks);
  // A machine on which no daemon has run yet has no folder of marks.
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder);
  const { bavail, bsize } = await statfs(folder);
  return { folder, freeBytes: bavail * bsize };
}

async function readDisk(database: DatabaseConfig): Promise<Disk> {
  const free = await freeSpace(database);
  if (database.kind === 'postgres') return free;
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return { ...free, databaseBytes: sizeOf(database.path), walBytes: sizeOf(`${database.path}-wal`) };
}
