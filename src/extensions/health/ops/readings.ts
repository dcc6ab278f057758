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
  readonly readings: ReturnType<typeof newReadings>;
}

/** How long a reading is shared, in ms: 200 times as long as it took, within these limits, to keep the load low. */
const FRESH_MS = { least: 1_000, most: 10_000, timesItTook: 200 };
const PATIENCE_MS = 5_000;

/** Readings for pages of the ops endpoint. Requests at the same time share one reading. */
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
    return { overview: await Promise.race([reading, late]) };
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

export type Disk = Awaited<ReturnType<typeof readDisk>>;

/** Returns sizes in bytes. The free space is of the disk with the database or, for PostgreSQL, with the marks. */
export async function readDisk(database: DatabaseConfig) {
  const isFile = database.kind === 'sqlite';
  const path = isFile ? database.path : database.marks;
  let folder = dirname(path);
  // Before the first daemon runs on a machine, the folder of marks does not exist.
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder);
  const { bavail, bsize } = await statfs(folder);
  const sizeOf = (file: string) => (isFile ? (statSync(file, { throwIfNoEntry: false })?.size ?? 0) : undefined);
  return { folder, freeBytes: bavail * bsize, databaseBytes: sizeOf(path), walBytes: sizeOf(`${path}-wal`) };
}
