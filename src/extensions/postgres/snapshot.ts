import type { Query } from '../../store/dialect.ts';
import type { Snapshot } from '../../store/port.ts';
import { compileFor } from '../../store/statement.ts';
import type { Lent } from './connection.ts';

export type Session = Pick<Lent, 'db' | 'exec'>;

const PAGE = 500;

/** Lifts the time limits, because a snapshot may stay open for long. Plans cursors for all rows, not the first rows. */
const BEGIN = `begin isolation level repeatable read read only;
  set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0;
  set local cursor_tuple_fraction = 1`;

export async function openSnapshot(lent: Lent): Promise<Snapshot> {
  try {
    await lent.exec(BEGIN);
    // The first read fixes the moment that the snapshot shows.
    await lent.exec('select 1 from kysely_migration limit 1');
  } catch (error) {
    lent.release(true);
    throw error;
  }
  return {
    db: lent.db,
    pages: (query) => cursorPages(lent, query, PAGE),
    [Symbol.asyncDispose]: () => lent.rollBack(),
  };
}

export async function* cursorPages<Row>(session: Session, query: Query<Row>, size: number) {
  const compiled = compileFor(session.db, query);
  await session.db.executeQuery({ ...compiled, sql: `declare reading no scroll cursor for ${compiled.sql}` });
  try {
    for (;;) {
      const { rows } = await session.exec<Row>(`fetch ${size} from reading`);
      if (rows.length > 0) yield rows;
      if (rows.length < size) break;
    }
  } finally {
    // After a failure the cursor is gone, and the first error is the one to throw.
    await session.exec('close reading').catch(() => undefined);
  }
}
