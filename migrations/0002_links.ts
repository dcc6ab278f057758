import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await createLinks(db);
  await createHistory(db);
  await protectHistory(db);
}

/** No column for the client's e-mail address: it is not stored. */
async function createLinks(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('links')
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('link_id', 'text', (column) => column.notNull())
    .addColumn('reference', 'text')
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .addColumn('last_checked_at', 'text', (column) => column.notNull())
    .addColumn('missing_since', 'text')
    .addPrimaryKeyConstraint('links_key', ['account', 'link_id'])
    .modifyEnd(sql`without rowid`)
    .execute();
  // With the status, so that a pass meets final links in the index only.
  await db.schema
    .createIndex('links_to_check')
    .on('links')
    .columns(['account', 'last_checked_at', 'link_id', 'status'])
    .execute();
}

async function createHistory(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('link_events')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('link_id', 'text', (column) => column.notNull())
    .addColumn('field', 'text', (column) => column.notNull())
    .addColumn('old_value', 'text')
    .addColumn('new_value', 'text')
    .addColumn('observed_at', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('reason', 'text')
    // The trigger below sees an id that is yet to be given as -1.
    .addCheckConstraint('link_events_id_is_positive', sql`id > 0`)
    .execute();
  await db.schema.createIndex('link_events_of_link').on('link_events').columns(['account', 'link_id', 'id']).execute();
}

/** History is append-only: also against INSERT OR REPLACE, which runs no delete trigger. */
async function protectHistory(db: Kysely<unknown>): Promise<void> {
  const refuse = `begin select raise(abort, 'link_events is append-only'); end`;
  await sql.raw(`create trigger link_events_no_update before update on link_events ${refuse}`).execute(db);
  await sql.raw(`create trigger link_events_no_delete before delete on link_events ${refuse}`).execute(db);
  await sql
    .raw(`create trigger link_events_no_replace before insert on link_events
    when exists (select 1 from link_events where id = new.id) ${refuse}`)
    .execute(db);
}
