import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { accountsIn } from '../accounts.ts';
import { StoreError } from '../errors.ts';
import { readSignOfRestore, RESTORE_ADVICE } from '../mark.ts';
import { readMove, recordMove, type Move } from '../moves.ts';
import type { Store } from '../port.ts';
import { copyTables, type Copied, type ShowProgress } from './copy.ts';
import type { Session } from './tables.ts';

/** No process drives the old database meanwhile. */
interface MoveDeps {
  readonly source: Store;
  readonly target: Store;
  readonly session: Session;
  readonly clock: Clock;
}

/**
 * Moves all orders, with all that belongs to them, from a SQLite file to an empty database of PostgreSQL. Throws `StoreError`
 * if that cannot be done; then the old database is as it was. The old one cannot be written to meanwhile.
 *
 * The copy is committed as one that is yet to arrive; then the old database is marked as moved; then the copy has arrived. A
 * crash leaves the old one in use before the second step, and the new one after it, once the same command has run again: never both.
 *
 * Returns undefined if the copy was complete and only its end was missing.
 */
export async function moveDatabase(deps: MoveDeps, show: ShowProgress): Promise<Copied | undefined> {
  const { source, target, session, clock } = deps;
  const left = await readMove(source.db);
  if (left?.state === 'moved') return await finish(deps, left);
  const move = { id: randomUUID(), source: source.address, target: target.address, at: clock.now().toISOString() };
  const here = await source.db.startTransaction().execute();
  try {
    const sign = await readSignOfRestore(here, await source.mark.read());
    if (sign !== undefined) throw new StoreError('unusable', `${source.address} ${sign}; ${RESTORE_ADVICE}`);
    const copied = await copyTo(deps, move, (isBrokenOff) =>
      copyTables({ source: here, session, address: target.address, isBrokenOff }, show),
    );
    await recordMove(here, move, 'moved');
    await here.commit().execute();
    await finish(deps, move);
    return copied;
  } catch (error) {
    if (!here.isCommitted && !here.isRolledBack) await here.rollback().execute();
    throw error;
  }
}

/** Commits the copy as one that must not be used yet. */
async function copyTo(
  { source, target, session }: MoveDeps,
  move: Move,
  copy: (isBrokenOff: boolean) => Promise<Copied>,
): Promise<Copied> {
  await session.exec('begin');
  try {
    const last = await readMove(session.db);
    const isBrokenOff = last?.state === 'arriving';
    if (isBrokenOff && last.source !== source.address) {
      const message = `a copy of ${last.source} to ${target.address} was broken off; end that one first`;
      throw new StoreError('refused', message);
    }
    const copied = await copy(isBrokenOff);
    await session.db.deleteFrom('database_moves').execute();
    await recordMove(session.db, move, 'arriving');
    await session.exec('commit');
    return copied;
  } catch (error) {
    // A connection that was lost has undone it by itself.
    await session.exec('rollback').catch(() => undefined);
    throw error;
  }
}

/** The old database is left: from now on the new one is used. */
async function finish({ source, target, clock }: MoveDeps, move: Move): Promise<undefined> {
  const arrived = await readMove(target.db);
  if (arrived?.id !== move.id) {
    throw new StoreError('unusable', `${source.address} was moved to ${move.target} on ${move.at}`);
  }
  for (const account of await accountsIn(target.db, 'account_owners')) {
    const { mark } = target.forAccount(account);
    await mark.write({ ...(await mark.position()), at: clock.now().toISOString() });
  }
  await target.db.updateTable('database_moves').set({ state: 'arrived' }).where('id', '=', move.id).execute();
}
