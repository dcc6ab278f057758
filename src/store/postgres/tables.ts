import { sql } from 'kysely';
import { COPIED_TABLES } from '../move/tables.ts';
import type { Database } from '../port.ts';

/** Tables of order-sync. */
export const OWN_TABLES = [
  ...COPIED_TABLES,
  'database_moves',
  'migration_hashes',
  'workers',
  'ended_workers',
  'account_requests',
  'database_identity',
];

/** The tables of other programs in this schema, in the order of their names; tables of an extension do not count. */
export async function otherTables(db: Database): Promise<readonly string[]> {
  const names = sql.join([...OWN_TABLES, 'kysely_migration', 'kysely_migration_lock']);
  const { rows } = await sql<{ name: string }>`select relname::text as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'f') and relname not in (${names})
      and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e')
    order by 1`.execute(db);
  return rows.map(({ name }) => name);
}

/** The names of tables and views of order-sync that something in this schema has already, in their order. */
export async function takenNames(db: Database): Promise<readonly string[]> {
  const names = sql.join([...OWN_TABLES, 'order_events']);
  const { rows } = await sql<{ name: string }>`select relname::text as name from pg_class
    where relnamespace = current_schema()::regnamespace and relname in (${names}) order by 1`.execute(db);
  return rows.map(({ name }) => name);
}
