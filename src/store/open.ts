import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { Ownership, Store } from './port.ts';
import { lockFile, lockHolder, ownershipOf } from './sqlite/owner.ts';
import type { WorkerOptions } from './workers.ts';
import { openStore as openSqlite, type OpenOptions } from './sqlite/store.ts';

export type { OpenOptions };

/** The place of a database, from the settings. */
export type Place = Config['database'];

/** A database that this process may drive accounts of, until it is disposed of. */
export interface OwnedStore extends AsyncDisposable {
  readonly store: Store;
  readonly ownership: Ownership;
}

/** How a database is opened to be driven. */
export interface OwnerOptions extends Partial<OpenOptions> {
  /** The time for which the owner of a SQLite file is waited for, in milliseconds. */
  readonly patienceMs?: number | undefined;
  /** Where a process dies without a process: the operating system's lock would outlive it. */
  readonly lockFile?: typeof lockFile | undefined;
  /** What other workers and commands know of this process. */
  readonly worker?: WorkerOptions | undefined;
  /** Aborts when the process has no time left: no other owner and no answer of a server is waited for. */
  readonly hurry?: AbortSignal | undefined;
}

/** Opens a database. Throws `StoreError` that says what is wrong with it and what to do. */
export async function openStore(place: Place, clock: Clock, options: OpenOptions): Promise<Store> {
  if (place.kind === 'sqlite') return await openSqlite(place.path, clock, options);
  // Loaded where it is used: the driver takes a part of the start of a command.
  const { openStore: openPostgres } = await import('./postgres/store.ts');
  return await openPostgres(place, clock, options);
}

/** Says which process drives one of the accounts now; undefined if none does. */
export async function driverOf(place: Place, { db }: Store, accounts: readonly string[]): Promise<string | undefined> {
  if (place.kind === 'sqlite') return lockHolder(place.path);
  const { workerOf } = await import('./account-requests.ts');
  for (const account of accounts) {
    const worker = await workerOf(db, account);
    if (worker !== undefined) return `the worker ${worker.holder} on ${worker.host}`;
  }
  return undefined;
}

/**
 * Opens a database to drive its accounts. Throws `OwnedError` when another process drives all of them, `StoreError` when the
 * database cannot be used.
 */
export async function openAsOwner(place: Place, clock: Clock, options: OwnerOptions): Promise<OwnedStore> {
  const { patienceMs = 0, lockFile: lock = lockFile, worker = {}, hurry, ...opening } = options;
  await using undo = new AsyncDisposableStack();
  if (place.kind === 'postgres') {
    const { openStore: openPostgres } = await import('./postgres/store.ts');
    const store = undo.adopt(
      await openPostgres(place, clock, { expect: 'upgrade', ...opening, publicKey: worker.publicKey, hurry }),
      (opened) => opened.close(),
    );
    const { openOwnership } = await import('./postgres/ownership.ts');
    const ownership = undo.use(openOwnership(place, store, clock, worker));
    const disposal = undo.move();
    return { store, ownership, [Symbol.asyncDispose]: () => disposal.disposeAsync() };
  }
  const { path } = place;
  // First: a database that another process drives is not brought up to date.
  const locked = await lock(path, clock, patienceMs, hurry);
  undo.defer(() => locked.release());
  const store = undo.adopt(await openSqlite(path, clock, { expect: 'upgrade', ...opening }), (opened) =>
    opened.close(),
  );
  const disposal = undo.move();
  return { store, ownership: ownershipOf(locked, store, clock), [Symbol.asyncDispose]: () => disposal.disposeAsync() };
}
