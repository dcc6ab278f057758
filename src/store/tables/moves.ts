import { unusable } from '../errors.ts';
import type { Database } from '../port.ts';
import type { DatabaseMovesTable } from '../schema.ts';

export type Move = Omit<DatabaseMovesTable, 'state'>;

/** Throws `StoreError` if the orders were moved to another database, or a move to this database is not complete. */
export async function assertNotMoved(db: Database, address: string): Promise<void> {
  const unfinished = db.selectFrom('database_moves').selectAll().where('state', '<>', 'arrived').limit(1);
  const move = await unfinished.executeTakeFirst();
  if (move === undefined) return;
  const { source, target, at, state } = move;
  throw unusable(
    state === 'moved'
      ? `${address} was moved to ${target} on ${at}; set database.url to the new address`
      : `a move to ${address} was interrupted; run again: order-sync db copy sqlite:${source} ${target}`,
  );
}

export async function readMove(db: Database): Promise<DatabaseMovesTable | undefined> {
  return await db.selectFrom('database_moves').selectAll().orderBy('at', 'desc').limit(1).executeTakeFirst();
}
