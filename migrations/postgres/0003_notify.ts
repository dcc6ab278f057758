import { sql, type Kysely } from 'kysely';

/**
 * Tells listening workers that a merchant has inserted or corrected orders. A transaction that notifies commits alone, so only one
 * at a time does: workers look several times after a notice, and find the orders of the others. The program's own writes fire no
 * trigger: each raises the revision.
 */
const TRIGGER = `
  begin
    if exists (select 1 from workers where listens) and pg_try_advisory_xact_lock(tg_relid::int, hashtext('order_sync')) then
      perform pg_notify('order_sync', tg_table_schema);
    end if;
    return null;
  end`;

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table workers add column listens boolean not null default false').execute(db);
  const { rows } = await sql<{ path: string }>`select quote_ident(current_schema()) || ', pg_temp' as path`.execute(db);
  const rights = `language plpgsql security definer set search_path = ${rows[0]?.path}`;
  await sql.raw(`create function order_sync_notify() returns trigger ${rights} as $$ ${TRIGGER} $$`).execute(db);
  for (const trigger of [
    'zz_notify_inserted after insert on merchant_orders for each statement',
    'zz_notify_corrected after update on merchant_orders for each row when (new.revision = old.revision)',
  ]) {
    await sql.raw(`create trigger ${trigger} execute function order_sync_notify()`).execute(db);
  }
}
