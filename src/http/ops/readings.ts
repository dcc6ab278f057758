import { statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../../clock.ts';
import type { Config, DatabaseConfig } from '../../config/config.ts';
import { messageOf } from '../../domain/text.ts';
import type { Overview } from '../../reports/status/overview.ts';
import { readOverview } from '../../store/overview/overview.ts';
import type { Store } from '../../store/port.ts';

/** How long after it a reading is shared, in milliseconds: longer where it took long, so that it takes little of the time. */
export interface Fresh {
  readonly least: number;
  readonly most: number;
  readonly timesItTook: number;
}

/** Reading takes no more than a 200th of the time, as with many pending orders, however often somebody asks. */
const FRESH_MS: Fresh = { least: 1_000, most: 10_000, timesItTook: 200 };
/** A database that answers later than this counts as one that does not answer. */
const PATIENCE_MS = 5_000;

/** What was read, or why it could not be. */
export type Reading<Value> =
  | { readonly value: Value; readonly failure?: undefined }
  | { readonly value?: undefined; readonly failure: string };

/** The disk with the database, or with its marks where that is on another machine. */
export interface Disk {
  readonly folder: string;
  readonly freeBytes: number;
  /** Of the database's file and of its write-ahead log; none on PostgreSQL. */
  readonly databaseBytes?: number;
  readonly walBytes?: number;
}

interface ReadingDeps {
  readonly config: Pick<Config, 'database' | 'webhooks'>;
  readonly store: Pick<Store, 'db' | 'isInPlace'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'sleep'>;
}

/** What is read for the pages of the ops endpoint: once, however many ask for it at the same time. */
export class Readings {
  readonly #deps: ReadingDeps;
  readonly #overview: () => Promise<Reading<Overview>>;
  readonly #disk: () => Promise<Reading<Disk>>;

  constructor(deps: ReadingDeps) {
    this.#deps = deps;
    this.#overview = shared(deps.clock, () => this.#inTime(this.#readOverview()));
    this.#disk = shared(deps.clock, () => read(readDisk(deps.config.database)));
  }

  /** The overview of all accounts. Never rejects. */
  async overview(): Promise<Reading<Overview>> {
    return await this.#overview();
  }

  /** Never rejects. */
  async disk(): Promise<Reading<Disk>> {
    return await this.#disk();
  }

  async #readOverview(): Promise<Reading<Overview>> {
    const { store, clock, config } = this.#deps;
    const { endpoints } = config.webhooks;
    if (!store.isInPlace()) return { failure: 'its file was moved, deleted or replaced' };
    return await read(readOverview(store.db, { account: undefined, endpoints, now: clock.now() }));
  }

  async #inTime<Value>(reading: Promise<Reading<Value>>): Promise<Reading<Value>> {
    const done = new AbortController();
    const late = this.#deps.clock
      .sleep(PATIENCE_MS, done.signal)
      .then(() => ({ failure: `it did not answer within ${PATIENCE_MS / 1_000} s` }))
      .catch(() => ({ failure: '' }));
    const first = await Promise.race([reading, late]);
    done.abort();
    return first;
  }
}

/** Gives what `work` gives, to all who ask while it runs or for as long after it as `fresh` says. */
export function shared<Value>(
  clock: Pick<Clock, 'monotonic'>,
  work: () => Promise<Value>,
  { least, most, timesItTook } = FRESH_MS,
): () => Promise<Value> {
  let running: Promise<Value> | undefined;
  let last: { readonly value: Value; readonly until: number } | undefined;
  return async () => {
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

async function read<Value>(value: Promise<Value>): Promise<Reading<Value>> {
  try {
    return { value: await value };
  } catch (error) {
    return { failure: messageOf(error) };
  }
}

async function readDisk(database: DatabaseConfig): Promise<Disk> {
  const folder = database.kind === 'sqlite' ? dirname(database.path) : database.marks;
  const { bavail, bsize } = await statfs(folder);
  const free = { folder, freeBytes: bavail * bsize };
  if (database.kind === 'postgres') return free;
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return { ...free, databaseBytes: sizeOf(database.path), walBytes: sizeOf(`${database.path}-wal`) };
}
