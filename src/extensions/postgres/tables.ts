import { sql, type RawBuilder } from 'kysely';
import { TABLES } from '../../../migrations/rules.ts';
import { StoreError } from '../../store/errors.ts';
import type { Database } from '../../store/port.ts';

const OWN_TABLES = [...TABLES, 'workers', 'ended_workers', 'account_wakes', 'database_identity'];

const MIGRATED = [...OWN_TABLES, 'kysely_migration', 'kysely_migration_lock'];

async function namesOf(db: Database, condition: RawBuilder<unknown>): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`select relname::text as name from pg_class
    where relnamespace = current_schema()::regnamespace and ${condition} order by 1`.execute(db);
  return rows.map(({ name }) => name);
}

export async function otherTables(db: Database): Promise<readonly string[]> {
  const areOthers = sql`relkind in ('r', 'p', 'f') and relname not in (${sql.join(MIGRATED)})
    and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e')`;
  return await namesOf(db, areOthers);
}

export const takenNames = (db: Database) => namesOf(db, sql`relname in (${sql.join([...OWN_TABLES, 'order_events'])})`);

/** Throws `StoreError` if a table has a name of ours, because the demo would use and drop that table. */
export async function assertNoTables(db: Database, address: string): Promise<void> {
  const [table] = await namesOf(db, sql`relname in (${sql.join(MIGRATED)})`);
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
