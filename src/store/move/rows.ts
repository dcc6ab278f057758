import { sql, type Kysely } from 'kysely';
import type { Database } from '../port.ts';
import { COPIED, type TableColumns, type TextRow } from './tables.ts';

/** The rows that a driver has ready: an answer of the exchange in each may be large. */
const AHEAD = 100;

/** The same database, for tables that are known at run time only. */
export type AnyDatabase = Kysely<Record<string, Record<string, unknown>>>;

export function anyTable(db: Database): AnyDatabase {
  return db as unknown as AnyDatabase;
}

/** The rows of a table in the order of their keys, each value as its text. */
export function rowsOf(db: Database, { table, columns }: TableColumns): AsyncIterable<TextRow> {
  let rows = anyTable(db)
    .selectFrom(table)
    .select(columns.map(({ name }) => sql<string | null>`cast(${sql.ref(name)} as text)`.as(name)));
  for (const column of COPIED[table]) rows = rows.orderBy(sql.ref(`${table}.${column}`));
  return rows.stream(AHEAD) as AsyncIterable<TextRow>;
}
