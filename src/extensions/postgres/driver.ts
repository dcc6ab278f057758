import type { Clock } from '../../base/clock.ts';
import type { PostgresDatabase } from './place/settings.ts';
import type { DatabaseDriver, OwnedStore, OwnerOptions, Trial } from '../../store/open.ts';
import { Primary } from './hosts/primary.ts';
import { openOwnership } from './sharing/ownership.ts';
import { openStore } from './store.ts';
import { assertNoTables, dropTables } from './tables.ts';

async function openAsOwner(place: PostgresDatabase, clock: Clock, options: OwnerOptions): Promise<OwnedStore> {
  const { worker = {}, inform } = options;
  await using undo = new AsyncDisposableStack();
  const primary = new Primary(place);
  const opening = { expect: 'upgrade', ...options, instance: worker.instance, primary } as const;
  const store = undo.adopt(await openStore(place, clock, opening), (opened) => opened.close());
  let { server } = primary;
  primary.onChange((other) => {
    if (other !== server) inform?.(primary.inUse.join());
    server = other;
  });
  const ownership = undo.use(openOwnership(place, store, clock, worker, primary));
  const disposal = undo.move();
  return { store, ownership, [Symbol.asyncDispose]: () => disposal.disposeAsync() };
}

async function openTrial(place: PostgresDatabase, clock: Clock): Promise<Trial> {
  await using undo = new AsyncDisposableStack();
  const { db } = undo.adopt(await openStore(place, clock, { expect: 'any' }), (opened) => opened.close());
  await assertNoTables(db, place.address);
  const disposal = undo.move();
  return { dropTables: () => dropTables(db), [Symbol.asyncDispose]: () => disposal.disposeAsync() };
}

export const driver: DatabaseDriver = { open: openStore, openAsOwner, openTrial };
