import { sql, type Kysely } from 'kysely';

/** UTC with milliseconds, as the program writes every time. */
const NOW = sql`(strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))`;

/** What a merchant writes in a row. Once the row may have been sent none of it changes any more. */
export const MERCHANT_COLUMNS = [
  'account',
  'external_order_id',
  'asset',
  'asset_position',
  'from_currency',
  'to_currency',
  'order_type',
  'order_limit',
  'payment_token',
  'provider_type',
  'crypto_address',
  'bonus',
];

/** What an order may become, beside `pending`; a person's decisions are among them. */
const MOVES = [
  'pending sending',
  'pending invalid',
  'pending cancelled',
  'pending open',
  'pending final',
  'sending accepted',
  'sending rejected',
  'sending unknown',
  'unknown open',
  'unknown final',
  'unknown held',
  'unknown accepted',
  'unknown abandoned',
  'held open',
  'held final',
  'held accepted',
  'held abandoned',
  'accepted open',
  'accepted final',
  'accepted abandoned',
  'open final',
  'final open',
  'cancelled open',
  'cancelled final',
  'abandoned open',
  'abandoned final',
];

/** What only the program writes, and what stands there until it has. */
const BLANK_AT_FIRST = {
  attempts: '0',
  verifications: '0',
  resends: '0',
  rechecks: '0',
  state_reason: 'null',
  pre_order_id: 'null',
  exchange_type: 'null',
  order_id: 'null',
  order_status: 'null',
  crypto_status: 'null',
  fiat_status: 'null',
  last_lookup_at: 'null',
  sent_at: 'null',
  changed_at: 'null',
  modification_date: 'null',
  stale_date: 'null',
};

/** Whether `next_action_at` holds no time as the program writes it. */
const HAS_NO_TIME = `(new.next_action_at is null or new.next_action_at not glob
  '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9].[0-9][0-9][0-9]Z')`;

export async function up(db: Kysely<unknown>): Promise<void> {
  await createOrders(db);
  await createHistory(db);
  await createBookkeeping(db);
  await protectOrders(db);
  await protectEvents(db);
}

async function createOrders(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('merchant_orders')
    .addColumn('account', 'text', (column) => column.notNull().defaultTo('default'))
    .addColumn('external_order_id', 'text', (column) => column.notNull())
    .addColumn('asset', 'text')
    .addColumn('asset_position', 'text', (column) => column.defaultTo('INPUT'))
    .addColumn('from_currency', 'text')
    .addColumn('to_currency', 'text')
    .addColumn('order_type', 'text', (column) => column.defaultTo('DEPOSIT'))
    .addColumn('order_limit', 'text')
    .addColumn('payment_token', 'text')
    .addColumn('provider_type', 'text')
    .addColumn('crypto_address', 'text')
    .addColumn('bonus', 'text')
    .addColumn('state', 'text', (column) => column.notNull().defaultTo('pending'))
    .addColumn('state_reason', 'text')
    .addColumn('pre_order_id', 'text')
    .addColumn('exchange_type', 'text')
    .addColumn('order_id', 'text')
    .addColumn('order_status', 'text')
    .addColumn('crypto_status', 'text')
    .addColumn('fiat_status', 'text')
    .addColumn('attempts', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('next_action_at', 'text', (column) => column.defaultTo(NOW))
    .addColumn('last_lookup_at', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull().defaultTo(NOW))
    .addColumn('updated_at', 'text', (column) => column.notNull().defaultTo(NOW))
    .addColumn('sent_at', 'text')
    .addColumn('changed_at', 'text')
    .addColumn('modification_date', 'text')
    .addColumn('stale_date', 'text')
    .addColumn('verifications', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('resends', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('rechecks', 'integer', (column) => column.notNull().defaultTo(0))
    .addPrimaryKeyConstraint('merchant_orders_key', ['account', 'external_order_id'])
    .addCheckConstraint('external_order_id_is_text', sql`typeof(external_order_id) = 'text'`)
    // With a rowid, INSERT OR REPLACE of another order with the rowid of a sent one would take it away.
    .modifyEnd(sql`without rowid`)
    .execute();
  await db.schema
    .createIndex('merchant_orders_due')
    .on('merchant_orders')
    .columns(['account', 'state', 'next_action_at', 'external_order_id'])
    .execute();
}

async function createHistory(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('order_events')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('external_order_id', 'text', (column) => column.notNull())
    .addColumn('field', 'text', (column) => column.notNull())
    .addColumn('old_value', 'text')
    .addColumn('new_value', 'text')
    .addColumn('observed_at', 'text', (column) => column.notNull())
    .addColumn('exchange_time', 'text')
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('reason', 'text')
    .execute();
  await db.schema
    .createIndex('order_events_of_order')
    .on('order_events')
    .columns(['account', 'external_order_id', 'id'])
    .execute();
  for (const table of ['order_records', 'pre_orders'] as const) {
    await db.schema
      .createTable(table)
      .addColumn('account', 'text', (column) => column.notNull())
      .addColumn('external_order_id', 'text', (column) => column.notNull())
      .addColumn('body', 'text', (column) => column.notNull())
      .addColumn('received_at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint(`${table}_key`, ['account', 'external_order_id'])
      .execute();
  }
}

async function createBookkeeping(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('findings')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('class', 'text', (column) => column.notNull())
    .addColumn('severity', 'text', (column) => column.notNull())
    .addColumn('external_order_id', 'text')
    .addColumn('expected', 'text')
    .addColumn('actual', 'text')
    .addColumn('first_seen_at', 'text', (column) => column.notNull())
    .addColumn('last_seen_at', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull().defaultTo('open'))
    .execute();
  await db.schema
    .createTable('seen_statuses')
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('field', 'text', (column) => column.notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .addColumn('first_seen_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('seen_statuses_key', ['account', 'field', 'value'])
    .execute();
  await db.schema
    .createTable('request_leases')
    .addColumn('account', 'text', (column) => column.primaryKey())
    .addColumn('requests_until', 'text', (column) => column.notNull())
    .execute();
  // Counts the owners an account has had: one that another has followed finds a number that is not its own.
  await db.schema
    .createTable('owner_generations')
    .addColumn('account', 'text', (column) => column.primaryKey())
    .addColumn('generation', 'integer', (column) => column.notNull())
    .execute();
}

/** The database itself refuses to lose or rewrite what was sent, whoever writes. */
async function protectOrders(db: Kysely<unknown>): Promise<void> {
  const changed = MERCHANT_COLUMNS.map((column) => `new.${column} is not old.${column}`).join(' or ');
  const refuse = (what: string) => `raise(abort, 'merchant_orders: this order was sent and cannot be ${what}')`;
  await sql
    .raw(`create trigger merchant_orders_sent_is_fixed
    before update of ${MERCHANT_COLUMNS.join(', ')} on merchant_orders
    when old.state not in ('pending', 'invalid') and (${changed})
    begin select ${refuse('changed any more')}; end`)
    .execute(db);
  await sql
    .raw(`create trigger merchant_orders_sent_is_kept
    before delete on merchant_orders when old.state not in ('pending', 'invalid')
    begin select ${refuse('deleted')}; end`)
    .execute(db);
  // INSERT OR REPLACE runs no delete trigger. The history tells what stood here, and INSERT OR IGNORE still works.
  await sql
    .raw(`create trigger merchant_orders_sent_is_not_replaced
    after insert on merchant_orders when (select new_value from order_events
      where account = new.account and external_order_id = new.external_order_id and field = 'state'
      order by id desc limit 1) not in ('pending', 'invalid')
    begin select ${refuse('replaced')}; end`)
    .execute(db);
  // Neither does UPDATE OR REPLACE, of another order's id to that of a sent one.
  await sql
    .raw(`create trigger merchant_orders_sent_keeps_its_id
    before update of account, external_order_id on merchant_orders
    when (new.account is not old.account or new.external_order_id is not old.external_order_id)
      and exists (select 1 from merchant_orders where account = new.account
        and external_order_id = new.external_order_id and state not in ('pending', 'invalid'))
    begin select ${refuse('replaced')}; end`)
    .execute(db);
  await protectStates(db, refuse);
  await keepDue(db);
  await sql
    .raw(`create trigger merchant_orders_mended
    after update of ${MERCHANT_COLUMNS.join(', ')} on merchant_orders when old.state = 'invalid' and (${changed})
    begin update merchant_orders set next_action_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
      where account = new.account and external_order_id = new.external_order_id; end`)
    .execute(db);
}

/**
 * A program that saves whole rows would write back the state it read, and the order would be sent once more. The
 * program's own moves to `pending` keep the attempts and say why; after one that may have been taken, `resends` counts.
 */
async function protectStates(db: Kysely<unknown>, refuse: (what: string) => string): Promise<void> {
  await sql
    .raw(`create trigger merchant_orders_sent_is_not_pending
    before update of state on merchant_orders
    when new.state = 'pending' and old.state not in ('pending', 'invalid')
      and not (old.state in ('sending', 'rejected', 'unknown', 'held')
        and new.attempts is old.attempts and new.sent_at is old.sent_at and new.state_reason is not null
        and (old.state in ('sending', 'rejected') or new.resends > old.resends))
    begin select ${refuse('pending again')}; end`)
    .execute(db);
  await sql
    .raw(`create trigger merchant_orders_move_by_the_table
    before update of state on merchant_orders
    when new.state <> old.state and new.state <> 'pending'
      and (old.state || ' ' || new.state not in (${MOVES.map((pair) => `'${pair}'`).join(', ')})
        or (new.state = 'sending' and new.attempts <= old.attempts)
        or (old.state = 'pending' and new.state in ('open', 'final') and old.attempts = 0))
    begin select raise(abort, 'merchant_orders: state is written by order-sync, and this is none of its moves'); end`)
    .execute(db);
  const written = Object.entries(BLANK_AT_FIRST).map(([column, blank]) => `new.${column} is not ${blank}`);
  await sql
    .raw(`create trigger merchant_orders_begin_pending
    before insert on merchant_orders when new.state <> 'pending'
    begin select raise(abort, 'merchant_orders: state is written by order-sync; leave it out'); end`)
    .execute(db);
  await sql
    .raw(`create trigger merchant_orders_begin_blank
    before insert on merchant_orders when ${written.join(' or ')}
    begin select raise(abort, 'merchant_orders: only the columns of the order are yours; leave out what order-sync writes'); end`)
    .execute(db);
}

/** A pending row that has no time would never be sent. */
async function keepDue(db: Kysely<unknown>): Promise<void> {
  for (const [name, when] of [
    ['are_due', 'after insert'],
    ['stay_due', 'after update of state, next_action_at'],
  ]) {
    await sql
      .raw(`create trigger merchant_orders_${name}
      ${when} on merchant_orders when new.state = 'pending' and ${HAS_NO_TIME}
      begin update merchant_orders set next_action_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
        where account = new.account and external_order_id = new.external_order_id; end`)
      .execute(db);
  }
}

/** History is append-only: also against INSERT OR REPLACE, which runs no delete trigger. */
async function protectEvents(db: Kysely<unknown>): Promise<void> {
  const refuse = `begin select raise(abort, 'order_events is append-only'); end`;
  await sql.raw(`create trigger order_events_no_update before update on order_events ${refuse}`).execute(db);
  await sql.raw(`create trigger order_events_no_delete before delete on order_events ${refuse}`).execute(db);
  await sql
    .raw(`create trigger order_events_no_replace before insert on order_events
    when exists (select 1 from order_events where id = new.id) ${refuse}`)
    .execute(db);
}
