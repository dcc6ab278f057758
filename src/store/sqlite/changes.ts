import { watch, type FSWatcher } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import { lostFile } from '../errors.ts';
import { newestEventId } from '../tables/chain.ts';
import { decidedAccounts } from '../tables/events.ts';
import { Looks } from '../orders/looks.ts';
import type { Connection } from './connection.ts';

/** How often the database is read if no write is seen. */
const LOOK_MS = 1_000;
/** How often the database is read if the system cannot watch files, as on some network drives. */
const LOOK_UNWATCHED_MS = 100;

export async function* changesOf(
  connection: Connection,
  clock: Pick<Clock, 'sleep'>,
  assertNotNewer: () => Promise<void>,
  signal: AbortSignal,
  watching: 'on' | 'off' = 'on',
): AsyncGenerator<readonly string[]> {
  const { path, sqlite, kysely } = connection;
  const version = () => sqlite.pragma('data_version', { simple: true }) as number;
  let seen = { version: version(), eventId: await newestEventId(kysely, undefined) };
  await assertNotNewer();
  const looks = new Looks(clock);
  const log = watching === 'off' ? undefined : watchFile(`${path}-wal`, () => looks.hint());
  using _ = { [Symbol.dispose]: () => log?.close() };
  for (;;) {
    await looks.next(log !== undefined ? LOOK_MS : LOOK_UNWATCHED_MS, signal);
    if (signal.aborted) return;
    if (!connection.isInPlace()) throw lostFile(path);
    // Only commits of other connections change `data_version`.
    const newest = version();
    if (newest === seen.version) continue;
    await assertNotNewer();
    const eventId = await newestEventId(kysely, undefined);
    const decided = await decidedAccounts(kysely, { afterId: seen.eventId, toId: eventId });
    seen = { version: newest, eventId };
    yield decided;
  }
}

function watchFile(path: string, onWrite: () => void): FSWatcher | undefined {
  try {
    // Without a watch, the periodic look finds the writes.
    return watch(path, { persistent: false }, onWrite).on('error', () => undefined);
  } catch {
    return undefined;
  }
}
