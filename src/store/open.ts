import type { Clock } from '../base/clock.ts';
import type { Config } from '../settings/config.ts';
import type { Ownership, Store } from './port.ts';
import { lockFile, lockHolder, ownershipOf } from './sqlite/owner.ts';
import type { WorkerOptions } from '../extensions/postgres/sharing/workers.ts';
import { openStore as openSqlite, type OpenOptions } from './sqlite/store.ts';

export type { OpenOptions };

export type Place = Config['database'];

export interface OwnedStore extends AsyncDisposable {
  readonly store: Store;
  readonly ownership: Ownership;
}

export interface OwnerOptions extends Partial<OpenOptions> {
  readonly patienceMs?: number | undefined;
  /** For simulated processes: the operating system's lock would outlive them. */
  readonly lockFile?: typeof lockFile | undefined;
  readonly worker?: WorkerOptions | undefined;
  /** Aborts when the process has no time left: no other owner and no answer of a server is waited for. */
  readonly hurry?: AbortSignal | undefined;
}

/** Throws `StoreError` that says what is wrong with the database and what to do. */
export async function openStore(place: Place, clock: Clock, options: OpenOptions): Promise<Store> {
  if (place.kind === 'sqlite') return await openSqlite(place.path, clock, options);
  // Loaded when it is used: the driver takes a part of the start of a command.
  const { openStore: openPostgres } = await import('../extensions/postgres/store.ts');
  return await openPostgres(place, clock, options);
}

export async function driverOf(place: Place, { db }: Store, accounts: readonly string[]): Promise<string | undefined> {
  if (place.kind === 'sqlite') return lockHolder(place.path);
  const { workerOf } = await import('../extensions/relay/tables/account-requests.ts');
  for (const account of accounts) {
    const worker = await workerOf(db, account);
    if (worker !== undefined) return `the worker ${worker.holder} on ${worker.host}`;
  }
  return undefined;
}

/** Opens a database to drive its accounts. Throws `OwnedError` if another process does, `StoreError` if it cannot be used. */
export async function openAsOwner(place: Place, clock: Clock, options: OwnerOptions): Promise<OwnedStore> {
  const { patienceMs = 0, lockFile: lock = lockFile, worker = {}, hurry, ...opening } = options;
  await using undo = new AsyncDisposableStack();
  if (place.kind === 'postgres') {
    const { openStore: openPostgres } = await import('../extensions/postgres/store.ts');
    const store = undo.adopt(
      await openPostgres(place, clock, { expect: 'upgrade', ...opening, publicKey: worker.publicKey, hurry }),
      (opened) => opened.close(),
    );
    const { openOwnership } = await import('../extensions/postgres/sharing/ownership.ts');
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
