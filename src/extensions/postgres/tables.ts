import { sql } from 'kysely';
import { TABLES } from '../../../migrations/rules.ts';
import { StoreError } from '../../store/errors.ts';
import type { Database } from '../../store/port.ts';

const OWN_TABLES = [...TABLES, 'workers', 'ended_workers', 'account_wakes', 'database_identity'];

const MIGRATED = [...OWN_TABLES, 'kysely_migration', 'kysely_migration_lock'];

export async function otherTables(db: Database): Promise<readonly string[]> {
  const names = sql.join(MIGRATED);
  const { rows } = await sql<{ name: string }>`select relname::text as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'f') and relname not in (${names})
      and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e')
    order by 1`.execute(db);
  return rows.map(({ name }) => name);
}

/** Reads which of these names the tables and views of the database have. */
async function existing(db: Database, names: readonly string[]): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`select relname::text as name from pg_class
    where relnamespace = current_schema()::regnamespace and relname in (${sql.join(names)}) order by 1`.execute(db);
  return rows.map(({ name }) => name);
}

export const takenNames = (db: Database) => existing(db, [...OWN_TABLES, 'order_events']);

/** Throws `StoreError` if a table of the database has a name of ours: a trial would use and drop that table. */
export async function assertNoTables(db: Database, address: string): Promise<void> {
  const [table] = await existing(db, MIGRATED);
  if (table === undefined) return;
  throw new StoreError('refused', `${address} has a table ${table} already; name a database without tables`);
}

export async function dropTables(db: Database): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`drop table if exists ${sql.join(MIGRATED.map((table) => sql.table(table)))} cascade`.execute(tx);
    const { rows } = await sql<{ name: string }>`select oid::regprocedure::text as name from pg_proc
      where pronamespace = current_schema()::regnamespace and starts_with(proname, 'order_sync_')`.execute(tx);
    for (const { name } of rows) await sql`drop function ${sql.raw(name)}`.execute(tx);
  });
}
