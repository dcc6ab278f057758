import { watch, type FSWatcher } from 'node:fs';
import type { Clock } from '../../clock.ts';
import { StoreError } from '../errors.ts';
import { decidedAccounts, newestEventIdOfAll } from '../events.ts';
import type { Connection } from './connection.ts';

/** How often the database is looked at if nothing tells of a write. */
const LOOK_MS = 1_000;
/** How often it is looked at if the system cannot watch files, as on some network drives. */
const LOOK_UNWATCHED_MS = 100;
/** A write to the log is seen before its commit is: the looks after it begin this close together and grow apart. */
const FIRST_LOOK_MS = 1;
const NEXT_LOOK_FACTOR = 1.5;

/** Yields what others change in a database file; see `Store.changes`. */
export async function* changesOf(
  connection: Connection,
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const { path, sqlite, kysely } = connection;
  const version = () => sqlite.pragma('data_version', { simple: true }) as number;
  let seen = { version: version(), eventId: await newestEventIdOfAll(kysely) };
  using log = new WatchedFile(`${path}-wal`, clock);
  for (;;) {
    await log.written(signal);
    if (signal.aborted) return;
    if (!connection.isInPlace()) {
      throw new StoreError('disk', `${path} was moved or deleted while it was open; put it back and start again`);
    }
    // Only commits of other connections change it.
    const newest = version();
    if (newest === seen.version) continue;
    const eventId = await newestEventIdOfAll(kysely);
    const decided = await decidedAccounts(kysely, seen.eventId, eventId);
    seen = { version: newest, eventId };
    yield decided;
  }
}

/** Waits for writes to a file, by any process. */
class WatchedFile implements Disposable {
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #watcher: FSWatcher | undefined;
  #waitMs = FIRST_LOOK_MS;
  #isWritten = false;
  #wake: (() => void) | undefined;

  constructor(path: string, clock: Pick<Clock, 'sleep'>) {
    this.#clock = clock;
    try {
      this.#watcher = watch(path, { persistent: false }, () => this.#onWrite());
      // The periodic look goes on without it.
      this.#watcher.on('error', () => undefined);
    } catch {
      // No file yet, too many watches, or a drive that has none.
    }
  }

  /** Resolves soon after a write, and otherwise after a wait that grows to the longest. */
  async written(signal: AbortSignal): Promise<void> {
    const waiting = new AbortController();
    this.#wake = () => waiting.abort();
    if (!this.#isWritten) {
      const either = AbortSignal.any([signal, waiting.signal]);
      await this.#clock.sleep(this.#waitMs, either).catch(() => undefined);
    }
    this.#wake = undefined;
    const longest = this.#watcher === undefined ? LOOK_UNWATCHED_MS : LOOK_MS;
    this.#waitMs = this.#isWritten ? FIRST_LOOK_MS : Math.min(NEXT_LOOK_FACTOR * this.#waitMs, longest);
    this.#isWritten = false;
  }

  [Symbol.dispose](): void {
    this.#watcher?.close();
  }

  #onWrite(): void {
    this.#isWritten = true;
    this.#wake?.();
  }
}
