import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import type { Kysely } from 'kysely';
import type { Clock } from '../../clock.ts';
import { queries } from './connection.ts';
import { isBusy, openError, OwnedError } from '../errors.ts';
import type { Tables } from '../schema.ts';
import { statement } from './statement.ts';

const TRY_AGAIN_MS = 100;

/** The right to drive an account; the operating system takes it back when the process dies. */
export interface Ownership {
  release(): void;
}

/**
 * Becomes the owner of the database, or waits up to `patienceMs` for another owner to go. Throws `OwnedError` when it
 * does not, `StoreError` when there can be no lock. The lock is an exclusive transaction on `<database>.lock`.
 */
export async function becomeOwner(
  databasePath: string,
  clock: Clock,
  patienceMs: number,
  signal?: AbortSignal,
): Promise<Ownership> {
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

/**
 * Counts a new owner and gives it its number. Where the lock did not hold, because its file was removed or the database
 * has two paths, the last owner then finds that another has followed it.
 */
export async function countOwner(tx: Kysely<Tables>, account: string): Promise<number> {
  const { rows } = await generationStatement(tx, { account });
  const generation = (rows[0]?.generation ?? 0) + 1;
  await tx
    .insertInto('owner_generations')
    .values({ account, generation })
    .onConflict((conflict) => conflict.column('account').doUpdateSet({ generation }))
    .execute();
  return generation;
}

/** Throws `OwnedError` when another owner was counted since. */
export async function assertNewestOwner(tx: Kysely<Tables>, account: string, generation: number): Promise<void> {
  const { rows } = await generationStatement(tx, { account });
  if (rows[0]?.generation !== generation) {
    throw new OwnedError('another order-sync process has taken over the database; stop one of the two');
  }
}

const generationStatement = statement((v: { account: string }) =>
  queries.selectFrom('owner_generations').select('generation').where('account', '=', v.account),
);

function tryLock(path: string): Ownership | undefined {
  const lock = openLock(path);
  try {
    lock.exec('begin exclusive');
    return { release: () => lock.close() };
  } catch (error) {
    lock.close();
    if (isBusy(error)) return undefined;
    throw openError(error, path);
  }
}

function openLock(path: string): Database.Database {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    closeSync(openSync(path, 'a', 0o600));
    return new Database(path, { timeout: 0 });
  } catch (error) {
    throw openError(error, path);
  }
}
