import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await createTokens(db);
  await createPhotos(db);
}

/** No column for the token: its hash is enough to know it again. `delivery` is the one that used it. */
async function createTokens(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('photo_tokens')
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('token_hash', 'text', (column) => column.notNull())
    .addColumn('link_id', 'text', (column) => column.notNull())
    .addColumn('level', 'text', (column) => column.notNull())
    .addColumn('action_id', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .addColumn('delivery', 'text')
    .addPrimaryKeyConstraint('photo_tokens_key', ['account', 'token_hash'])
    .execute();
}

/** One row a file. `stored_name` is its path from the folder of photos. */
async function createPhotos(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('photos')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('link_id', 'text', (column) => column.notNull())
    .addColumn('level', 'text', (column) => column.notNull())
    .addColumn('action_id', 'text')
    .addColumn('delivery', 'text', (column) => column.notNull())
    .addColumn('original_name', 'text', (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('size', 'integer', (column) => column.notNull())
    .addColumn('sha256', 'text', (column) => column.notNull())
    .addColumn('stored_name', 'text', (column) => column.notNull().unique())
    .addColumn('received_at', 'text', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('photos_of_link').on('photos').columns(['account', 'link_id', 'id']).execute();
  await db.schema.createIndex('photos_of_delivery').on('photos').columns(['account', 'delivery']).execute();
  await db.schema.createIndex('photos_by_age').on('photos').columns(['account', 'received_at']).execute();
}
