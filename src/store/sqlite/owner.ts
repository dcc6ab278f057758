import { closeSync, existsSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import type { Clock } from '../../clock.ts';
import type { Ownership } from '../port.ts';
import { OwnedError } from '../errors.ts';
import { isBusy, missingDatabase, openError } from './errors.ts';

const TRY_AGAIN_MS = 100;

/**
 * Becomes the owner of the database, or waits up to `patienceMs` for another owner to end. Throws `OwnedError` when it does
 * not end, `StoreError` when the lock cannot be made or there is no folder for it. The lock is an exclusive transaction on `<database>.lock`.
 */
export async function becomeOwner(
  databasePath: string,
  clock: Clock,
  patienceMs: number,
  signal?: AbortSignal,
): Promise<Ownership> {
  // A path that is mistyped makes no folder.
  if (!existsSync(dirname(databasePath))) throw missingDatabase(databasePath);
  const deadline = clock.monotonic() + patienceMs;
  for (;;) {
    const ownership = tryLock(`${databasePath}.lock`);
    if (ownership !== undefined) return ownership;
    if (clock.monotonic() >= deadline) {
      throw new OwnedError(`another order-sync process drives ${databasePath}; wait until it has ended, or stop it`);
    }
    await clock.sleep(TRY_AGAIN_MS, signal);
  }
}

function tryLock(path: string): Ownership | undefined {
  let lock: Database.Database | undefined;
  try {
    closeSync(openSync(path, 'a', 0o600));
    const opened = new Database(path, { timeout: 0 });
    lock = opened;
    opened.exec('begin exclusive');
    return { release: () => opened.close() };
  } catch (error) {
    lock?.close();
    if (isBusy(error)) return undefined;
    throw openError(error, path);
  }
}
