import { StoreError } from '../errors.ts';
import type { Lent } from './connection.ts';
import { isConnectionLost } from './errors.ts';

/**
 * The limits of a transaction that writes. It waits for the row of the account while others write, and a process that stands
 * still in the middle loses the row before its heartbeat is over.
 */
export const BEGIN = `begin isolation level read committed;
  set local lock_timeout = '3s'; set local statement_timeout = '30s';
  set local idle_in_transaction_session_timeout = '2s'`;

/**
 * Set once the account is locked: from then on all its orders wait while a merchant's transaction locks one of them. The
 * server, the database or the role may have a weaker `synchronous_commit` at any moment; a stronger one stays.
 */
export const ONCE_LOCKED = `set_config('lock_timeout', '200ms', true),
        case when current_setting('synchronous_commit') in ('off', 'local', 'remote_write')
          then set_config('synchronous_commit', 'on', true) end`;

/** Returns the failure if it is not known whether the commit was done; throws if it was not. */
export async function commit(lent: Lent): Promise<StoreError | undefined> {
  try {
    const { command } = await lent.exec('commit');
    if (command === 'ROLLBACK') throw new Error('a statement failed, and the work went on without it');
    return undefined;
  } catch (error) {
    if (error instanceof StoreError && isConnectionLost(error)) return error;
    throw error;
  }
}

export async function isRolledBack(lent: Lent): Promise<boolean> {
  return await lent.exec('rollback').then(
    () => true,
    () => false,
  );
}
