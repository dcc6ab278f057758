import type { Query } from './dialect.ts';
import type { Database, Snapshot, Store } from './port.ts';
import { compileFor } from './statement.ts';

export async function allRows<Row>(snapshot: Snapshot, query: Query<Row>): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const page of snapshot.pages(query)) rows.push(...page);
  return rows;
}

export async function rowsAtOnce<Row>(store: Pick<Store, 'snapshot'>, query: Query<Row>): Promise<Row[]> {
  await using snapshot = await store.snapshot();
  return await allRows(snapshot, query);
}

/** A connection to PostgreSQL that has a transaction open. */
export interface Session {
  readonly db: Database;
  exec(text: string): Promise<{ readonly rows: readonly Readonly<Record<string, unknown>>[] }>;
}

/** Reads the rows of a query by a cursor, `size` at a time. */
export async function* cursorPages<Row>(session: Session, query: Query<Row>, size: number) {
  const compiled = compileFor(session.db, query);
  await session.db.executeQuery({ ...compiled, sql: `declare reading no scroll cursor for ${compiled.sql}` });
  try {
    for (;;) {
      const { rows } = await session.exec(`fetch ${size} from reading`);
      if (rows.length > 0) yield rows as Row[];
      if (rows.length < size) break;
    }
  } finally {
    // After a failure there is nothing to close, and the failure tells more.
    await session.exec('close reading').catch(() => undefined);
  }
}
