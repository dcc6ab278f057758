import { sql, type Kysely, type SelectQueryBuilder } from 'kysely';
import type { Database } from '../port.ts';
import { compileFor } from '../statement.ts';
import { COPIED, type TableColumns, type TextRow } from './tables.ts';

/** So many rows are read at a time: an answer of the exchange in each may be large. */
const AHEAD = 200;

/** A connection of its own, in whose transaction a copy is made: what takes long is not cut off. */
export interface Session {
  readonly db: Database;
  /** Runs statements without parameters. */
  exec(text: string): Promise<{ readonly rows: readonly Readonly<Record<string, unknown>>[] }>;
}

/** The same database, for tables that are known at run time only. */
type AnyDatabase = Kysely<Record<string, Record<string, unknown>>>;

export function anyTable(db: Database): AnyDatabase {
  return db as unknown as AnyDatabase;
}

/** The rows of a table of SQLite in the order of their keys, each value as its text. */
export function sourceRows(source: Database, table: TableColumns): AsyncIterable<TextRow> {
  return selected(source, table).stream() as AsyncIterable<TextRow>;
}

/** The same of a table of PostgreSQL, in its transaction. */
export async function* targetRows(session: Session, table: TableColumns): AsyncGenerator<TextRow, undefined> {
  const { db } = session;
  const compiled = compileFor(db, selected(db, table));
  await db.executeQuery({ ...compiled, sql: `declare copied no scroll cursor for ${compiled.sql}` });
  for (let read = AHEAD; read === AHEAD;) {
    const { rows } = await session.exec(`fetch ${AHEAD} from copied`);
    yield* rows as unknown as readonly TextRow[];
    read = rows.length;
  }
  await session.exec('close copied');
  return undefined;
}

function selected(
  db: Database,
  { table, columns }: TableColumns,
): SelectQueryBuilder<Record<string, Record<string, unknown>>, string, unknown> {
  let rows = anyTable(db)
    .selectFrom(table)
    .select(columns.map(({ name }) => sql<string | null>`cast(${sql.ref(name)} as text)`.as(name)));
  for (const column of COPIED[table]) rows = rows.orderBy(sql.ref(`${table}.${column}`));
  return rows;
}
