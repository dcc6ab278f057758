import type { Clock } from '../../clock.ts';
import { StoreError } from '../errors.ts';
import { decidedAccounts, newestEventIdOfAll } from '../events.ts';
import type { Connection } from './connection.ts';

/** A commit of another program is seen within this time: well below the 250 ms promised, and each look costs. */
const LOOK_MS = 100;

/** Gives what others change in a database file; see `Store.changes`. */
export async function* changesOf(
  connection: Connection,
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const { path, sqlite, kysely } = connection;
  const version = () => sqlite.pragma('data_version', { simple: true }) as number;
  let seen = { version: version(), eventId: await newestEventIdOfAll(kysely) };
  for (;;) {
    await clock.sleep(LOOK_MS, signal).catch(() => undefined);
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
