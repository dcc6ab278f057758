import { sql, type Kysely } from 'kysely';
import { MERCHANT_COLUMNS } from './0001_initial.ts';

/** Columns of the newest record that reports add up and search by, so that no body has to be read for it. */
const RECORD_COLUMNS = [
  'merchant_id',
  'creation_date',
  'completion_date',
  'input_asset',
  'output_asset',
  'from_currency',
  'to_currency',
  'fee',
  'reward',
  'transaction_hash',
  // When the record was held against the order; null until then, also in rows that are older than these columns.
  'compared_at',
];

const FORMAT = '%Y-%m-%dT%H:%M:%fZ';
const NOW = `strftime('${FORMAT}', 'now')`;
/** When a row was inserted: what it says, where that is a time as the program writes it and not yet to come. */
const INSERTED_AT = `case when strftime('${FORMAT}', new.created_at) is new.created_at and new.created_at <= ${NOW}
  then new.created_at else ${NOW} end`;

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of RECORD_COLUMNS) await db.schema.alterTable('order_records').addColumn(column, 'text').execute();
  await db.schema
    .createIndex('order_records_of_hash')
    .on('order_records')
    .columns(['account', 'transaction_hash', 'external_order_id'])
    .where(sql.ref('transaction_hash'), 'is not', null)
    .execute();
  await db.schema
    .createIndex('order_records_uncompared')
    .on('order_records')
    .columns(['account', 'external_order_id'])
    .where(sql.ref('compared_at'), 'is', null)
    .execute();
  // Reports read the orders of a period.
  await db.schema
    .createIndex('merchant_orders_by_age')
    .on('merchant_orders')
    .columns(['account', 'created_at', 'external_order_id'])
    .execute();
  // The person whose decision it was; null where the program decided.
  await db.schema.alterTable('order_events').addColumn('actor', 'text').execute();
  for (const column of ['changed_by', 'reason', 'changed_at', 'resolved_at']) {
    await db.schema.alterTable('findings').addColumn(column, 'text').execute();
  }
  await db.schema
    .createIndex('findings_of_order')
    .on('findings')
    .columns(['account', 'external_order_id', 'class'])
    .execute();
  await db.schema.createIndex('findings_open').on('findings').columns(['account', 'status', 'class']).execute();
  await db.schema
    .createTable('account_facts')
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .addColumn('first_seen_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('account_facts_key', ['account', 'name'])
    .execute();
  await beginNow(db);
  await protectSentAgain(db);
}

/** Reports go by the time at which a row was inserted, so nobody may make it up. */
async function beginNow(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`create trigger merchant_orders_begin_now
    after insert on merchant_orders when new.created_at is not (${INSERTED_AT})
    begin update merchant_orders set created_at = ${INSERTED_AT}
      where account = new.account and external_order_id = new.external_order_id; end`)
    .execute(db);
}

/** What is to be sent again after an unknown outcome may be at the exchange: it is kept as it was sent. */
async function protectSentAgain(db: Kysely<unknown>): Promise<void> {
  const changed = MERCHANT_COLUMNS.map((column) => `new.${column} is not old.${column}`).join(' or ');
  const refuse = (what: string) => `raise(abort, 'merchant_orders: this order was sent and cannot be ${what}')`;
  const isSent = (row: string) => `(${row}state not in ('pending', 'invalid') or ${row}resends > 0)`;
  const isOfNew = 'account = new.account and external_order_id = new.external_order_id';
  const triggers = {
    merchant_orders_sent_is_fixed: `before update of ${MERCHANT_COLUMNS.join(', ')} on merchant_orders
      when ${isSent('old.')} and (${changed}) begin select ${refuse('changed any more')}; end`,
    merchant_orders_sent_is_kept: `before delete on merchant_orders when ${isSent('old.')}
      begin select ${refuse('deleted')}; end`,
    merchant_orders_sent_is_not_replaced: `after insert on merchant_orders
      when (select new_value from order_events where ${isOfNew} and field = 'state' order by id desc limit 1)
          not in ('pending', 'invalid')
        or exists (select 1 from order_events where ${isOfNew} and field = 'state'
          and old_value = 'held' and new_value = 'pending')
      begin select ${refuse('replaced')}; end`,
    merchant_orders_sent_keeps_its_id: `before update of account, external_order_id on merchant_orders
      when (new.account is not old.account or new.external_order_id is not old.external_order_id)
        and exists (select 1 from merchant_orders where ${isOfNew} and ${isSent('')})
      begin select ${refuse('replaced')}; end`,
  };
  for (const [name, body] of Object.entries(triggers)) {
    await sql.raw(`drop trigger ${name}`).execute(db);
    await sql.raw(`create trigger ${name} ${body}`).execute(db);
  }
  // A program that saves whole rows would write back how often it was when it read them.
  await sql
    .raw(`create trigger merchant_orders_sent_is_not_forgotten
    before update of resends on merchant_orders when new.resends < old.resends
    begin select ${refuse('taken for one that was not')}; end`)
    .execute(db);
}
