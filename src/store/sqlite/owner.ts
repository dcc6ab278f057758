import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import type { Clock } from '../../base/clock.ts';
import { grantNext } from '../tables/accounts.ts';
import type { AccountLease, Driver, Ownership, Store } from '../port.ts';
import { OwnedError } from '../errors.ts';
import { isBusy, missingDatabase, openError } from './errors.ts';

const TRY_AGAIN_MS = 100;

/** The lock of a database file. The holder owns every account of the file. The lock ends with the process. */
interface FileLock {
  release(): void;
}

/** Locks by a transaction on `<database>.lock`. Throws `OwnedError` if another owner does not end in `patienceMs`. */
export async function lockFile(databasePath: string, clock: Clock, patienceMs: number, signal?: AbortSignal) {
  // If the folder is missing, the path is probably mistyped, and the error says so.
  if (!existsSync(dirname(databasePath))) throw missingDatabase(databasePath);
  const deadline = clock.monotonic() + patienceMs;
  for (;;) {
    const lock = tryLock(`${databasePath}.lock`);
    if (lock !== undefined) return lock;
    if (clock.monotonic() >= deadline) {
      const pid = pidOfLock(`${databasePath}.lock`);
      const owner = pid === undefined ? 'another order-sync process' : `the order-sync process ${pid}`;
      throw new OwnedError(`${owner} drives ${databasePath}; stop it, or wait until it has ended`);
    }
    await clock.sleep(TRY_AGAIN_MS, signal);
  }
}

export function ownershipOf(lock: FileLock, store: Pick<Store, 'writer'>, clock: Clock): Ownership {
  const take = async (accounts: readonly string[]): Promise<readonly AccountLease[]> => {
    const generations = await store.writer.write((tx) => grantNext(tx, accounts));
    return accounts.map((account) => ({
      account,
      generation: generations.get(account) ?? 0,
      isTrusted: () => true,
      now: () => clock.now(),
      lastOwnerUntil: undefined,
      differsIn: [],
      ending: new AbortController().signal,
      release: async () => {},
    }));
  };
  return {
    take,
    async share(groups, onTaken, stop) {
      for (const lease of await take(groups.flat())) onTaken(lease);
      if (!stop.aborted) await once(stop, 'abort');
    },
    [Symbol.asyncDispose]: async () => lock.release(),
  };
}

export function lockHolder(databasePath: string): Driver | undefined {
  const path = `${databasePath}.lock`;
  if (!existsSync(path)) return undefined;
  const lock = new Database(path, { timeout: 0, readonly: true });
  try {
    lock.pragma('schema_version');
    return undefined;
  } catch (error) {
    if (!isBusy(error)) throw openError(error, path);
    const pid = pidOfLock(path);
    return { name: pid === undefined ? 'another process' : `process ${pid}` };
  } finally {
    lock.close();
  }
}

/** Returns the id of the process that locks a file; undefined if `/proc/locks` does not list the file. */
function pidOfLock(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path);
    const device = [(dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00)];
    const [major, minor] = device.map((number) => number.toString(16).padStart(2, '0'));
    const file = `${major}:${minor}:${ino}`;
    const locks = readFileSync('/proc/locks', 'utf8').matchAll(/ WRITE +(?<pid>\d+) +(?<file>\S+)/g);
    return locks.find(({ groups }) => groups?.['file'] === file)?.groups?.['pid'];
  } catch {
    return undefined;
  }
}

function tryLock(path: string): FileLock | undefined {
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
