import { compileFor } from '../statement.ts';
import type { Query } from '../dialect.ts';
import type { Snapshot } from '../port.ts';
import type { Connections } from './connection.ts';

/** So many rows are given at a time. */
const PAGE = 500;

/**
 * The limits that a server or a role may have are for short work, and a reading takes its time. The planner looks for the way
 * to all rows, not to the first ones.
 */
const BEGIN = `begin isolation level repeatable read read only;
  set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0;
  set local cursor_tuple_fraction = 1`;

/** Opens a snapshot of a database; see `Store.snapshot`. */
export async function openSnapshot(connections: Pick<Connections, 'lend'>): Promise<Snapshot> {
  const lent = await connections.lend();
  try {
    await lent.exec(BEGIN);
    // The moment is that of the first read.
    await lent.exec('select 1 from kysely_migration limit 1');
  } catch (error) {
    lent.release(true);
    throw error;
  }
  return {
    async *pages<Row>(query: Query<Row>) {
      const compiled = compileFor(lent.db, query);
      await lent.db.executeQuery({ ...compiled, sql: `declare reading no scroll cursor for ${compiled.sql}` });
      try {
        for (;;) {
          const { rows } = await lent.exec(`fetch ${PAGE} from reading`);
          if (rows.length > 0) yield rows as Row[];
          if (rows.length < PAGE) break;
        }
      } finally {
        // After a failure there is nothing to close, and the failure tells more.
        await lent.exec('close reading').catch(() => undefined);
      }
    },
    async [Symbol.asyncDispose]() {
      const isOver = await lent.exec('rollback').then(
        () => true,
        () => false,
      );
      lent.release(!isOver);
    },
  };
}
