import type { Clock } from '../base/clock.ts';
import type { Config } from '../settings/config.ts';
import type { Ownership, Store } from './port.ts';
import { lockFile, ownershipOf } from './sqlite/owner.ts';
import { openStore as openSqlite, type OpenOptions } from './sqlite/store.ts';

export type { OpenOptions };

export type Place = Config['database'];
export type OtherPlace = Exclude<Place, { readonly kind: 'sqlite' }>;

/** Opens databases other than SQLite. An extension's settings put the driver into the `Place`. */
export interface DatabaseDriver {
  open(place: OtherPlace, clock: Clock, options: OpenOptions): Promise<Store>;
  /** As the function `openAsOwner` below, but other processes may own other accounts of the database. */
  openAsOwner(place: OtherPlace, clock: Clock, options: OwnerOptions): Promise<OwnedStore>;
  /** Opens a database for a trial, which later drops order-sync's tables. Throws `StoreError` if any exist before. */
  openTrial(place: OtherPlace, clock: Clock): Promise<Trial>;
}

export interface Trial extends AsyncDisposable {
  dropTables(): Promise<void>;
}

export interface OwnedStore extends AsyncDisposable {
  readonly store: Store;
  readonly ownership: Ownership;
}

export interface WorkerOptions {
  readonly socket?: string | undefined;
  readonly advertise?: string | undefined;
  /** A random id by which notices of decisions reach this daemon, even after it has become another worker. */
  readonly instance?: string | undefined;
  /** The settings of the accounts. They are stored, so that the next owner can warn if its settings differ. */
  readonly accounts?: Config['accounts'] | undefined;
}

export interface OwnerOptions extends Partial<OpenOptions> {
  readonly patienceMs?: number | undefined;
  /** Replaces the operating system's lock, which would outlive a simulated process. */
  readonly lockFile?: typeof lockFile | undefined;
  readonly worker?: WorkerOptions | undefined;
  /** Aborts when the process has no time left to wait for another owner or for an answer of a server. */
  readonly hurry?: AbortSignal | undefined;
}

export async function openStore(place: Place, clock: Clock, options: OpenOptions): Promise<Store> {
  if (place.kind === 'sqlite') return await openSqlite(place.path, clock, options);
  return await (await driverOf(place)).open(place, clock, options);
}

/** Opens a database to own accounts. Throws `StoreError`; on SQLite, `OwnedError` if another process has the lock. */
export async function openAsOwner(place: Place, clock: Clock, options: OwnerOptions): Promise<OwnedStore> {
  if (place.kind !== 'sqlite') return await (await driverOf(place)).openAsOwner(place, clock, options);
  const { patienceMs = 0, lockFile: lock = lockFile, hurry } = options;
  const { path } = place;
  await using undo = new AsyncDisposableStack();
  // The lock comes first, because a database that another process owns must not be migrated.
  const locked = await lock(path, clock, patienceMs, hurry);
  undo.defer(() => locked.release());
  const store = undo.adopt(await openSqlite(path, clock, { expect: 'upgrade', ...options }), (opened) =>
    opened.close(),
  );
  const disposal = undo.move();
  return { store, ownership: ownershipOf(locked, store, clock), [Symbol.asyncDispose]: () => disposal.disposeAsync() };
}

export async function driverOf({ driver }: OtherPlace): Promise<DatabaseDriver> {
  return (await driver()) as DatabaseDriver;
}
