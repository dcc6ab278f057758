import { sql } from 'kysely';
import { StoreError } from '../errors.ts';
import type { Database } from '../port.ts';
import { OWN_TABLES } from './tables.ts';

/** Everything that migrations make, but for functions and what goes with its table. */
const TABLES = [...OWN_TABLES, 'kysely_migration', 'kysely_migration_lock'];

/** Throws `StoreError` where a database has a table with the name of one of order-sync: a trial would use it and take it away. */
export async function assertNoTables(db: Database, address: string): Promise<void> {
  for (const table of TABLES) {
    const { rows } = await sql<{
      isThere: number;
    }>`select to_regclass(quote_ident(${table})) is not null as "isThere"`.execute(db);
    if (rows[0]?.isThere !== 1) continue;
    throw new StoreError('refused', `${address} has a table ${table} already; name a database without tables`);
  }
}

/** Takes the tables of a trial out of its database, with all that is in them. */
export async function dropTables(db: Database): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`drop table if exists ${sql.join(TABLES.map((table) => sql.table(table)))} cascade`.execute(tx);
    const { rows } = await sql<{ name: string }>`select oid::regprocedure::text as name from pg_proc
      where pronamespace = current_schema()::regnamespace and starts_with(proname, 'order_sync_')`.execute(tx);
    for (const { name } of rows) await sql`drop function ${sql.raw(name)}`.execute(tx);
  });
}
