import { sql } from 'kysely';
import { StoreError } from '../errors.ts';
import type { Database, Transaction } from '../port.ts';
import { anyTable } from './rows.ts';
import {
  COPIED_TABLES,
  NUMBERED_TABLES,
  rowName,
  type CopiedTable,
  type TableColumns,
  type TextRow,
} from './tables.ts';

/** Tables of a database of PostgreSQL alone: in an empty one nobody works. */
const WORKERS = ['workers', 'account_requests'];
/** The tables whose guards would change a row that is copied, or refuse it. */
const GUARDED = ['merchant_orders', 'events'];

/** The names of the columns of each table. */
export async function targetColumns(db: Database): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const { rows } = await sql<{ table: string; column: string }>`
    select table_name as "table", column_name as "column" from information_schema.columns
    where table_schema = current_schema()`.execute(db);
  const tables = new Map<string, Set<string>>();
  for (const { table, column } of rows) tables.set(table, (tables.get(table) ?? new Set()).add(column));
  return tables;
}

/**
 * Takes the new database for this transaction alone, and empties it of a copy that was broken off. Throws `StoreError` where
 * it has rows of its own.
 */
export async function takeTarget(tx: Transaction, address: string, isBrokenOff: boolean): Promise<void> {
  await sql`set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0`.execute(tx);
  const tables = [...COPIED_TABLES, ...WORKERS];
  const names = sql.join(tables.map((name) => sql.table(name)));
  // A merchant who inserts meanwhile, or a worker, waits: and then finds out that this database is not to be used yet.
  await sql`lock table ${names} in access exclusive mode`.execute(tx);
  // Only the tables' owner can do that, and it is over with this transaction.
  for (const table of GUARDED) await sql`alter table ${sql.table(table)} disable trigger user`.execute(tx);
  if (isBrokenOff) await sql`truncate ${sql.join(COPIED_TABLES.map((name) => sql.table(name)))}`.execute(tx);
  for (const table of tables) {
    const row = await anyTable(tx)
      .selectFrom(table)
      .select(sql`1`.as('one'))
      .limit(1)
      .executeTakeFirst();
    if (row === undefined) continue;
    const message = `${address} has rows in ${table}, and a copy wants an empty database; name a new one`;
    throw new StoreError('refused', message);
  }
}

/** Puts rows into a table as they are. Throws `StoreError` where the database does not take them. */
export async function insertRows(
  tx: Transaction,
  { table, columns }: TableColumns,
  rows: readonly TextRow[],
): Promise<void> {
  const names = sql.join(columns.map(({ name }) => sql.ref(name)));
  const json = JSON.stringify(rows);
  try {
    await sql`insert into ${sql.table(table)} (${names})
      select ${names} from json_populate_recordset(null::${sql.table(table)}, ${json}::json)`.execute(tx);
  } catch (error) {
    const [first, last] = [rows[0] ?? {}, rows.at(-1) ?? {}];
    const why = error instanceof Error ? error.message : String(error);
    const where = `between ${rowName(table, first)} and ${rowName(table, last)}`;
    throw new StoreError('refused', `a row ${where} was refused: ${why}`, { cause: error });
  }
}

/** Counts what is there, as the database does now and then by itself: without that it would read whole tables where it need not. */
export async function analyzeTarget(tx: Transaction): Promise<void> {
  await sql`analyze ${sql.join(COPIED_TABLES.map((name) => sql.table(name)))}`.execute(tx);
}

/** Gives the guards back, and has new ids follow those that the old database has given. */
export async function completeTarget(tx: Transaction, lastIds: ReadonlyMap<CopiedTable, number>): Promise<void> {
  for (const table of GUARDED) await sql`alter table ${sql.table(table)} enable trigger user`.execute(tx);
  for (const table of NUMBERED_TABLES) {
    const last = lastIds.get(table) ?? 0;
    if (last > 0) await sql`select setval(pg_get_serial_sequence(${table}, 'id'), ${last})`.execute(tx);
  }
}
