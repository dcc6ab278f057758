import { sql, type Kysely } from 'kysely';
import { guardTables, NOW } from './guards.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    ...ORDERS,
    ...EVENTS,
    ...RECORDS,
    ...FINDINGS,
    ...LINKS,
    ...PHOTOS,
    ...WEBHOOKS,
    ...ACCOUNTS,
    ...OWNERS,
    ...IDENTITY,
  ]) {
    await sql.raw(inBytes(statement)).execute(db);
  }
  await guardTables(db);
}

/** Has all text compared byte by byte, as SQLite does and as times and ids want it: whatever the language of the database. */
function inBytes(statement: string): string {
  return statement.startsWith('create table') ? statement.replaceAll(/ text\b/g, ' text collate "C"') : statement;
}

/** The size of an index entry is limited, and a text of the exchange is not. An index holds this many characters of it. */
export const INDEXED_CHARACTERS = 100;
const beginningOf = (column: string) => `substr(${column}, 1, ${INDEXED_CHARACTERS})`;

/**
 * Tells whether an order is looked up until it is final, or in flight. It compares an expression, so that a condition on `state`
 * alone does not imply it: a plan that is kept, made while the table was small, would read all such orders to find the orders of
 * one state. Not `coalesce`, which PostgreSQL 19 leaves out if a column is never null.
 */
export const IS_FOLLOWED = `(state || '') in ('sending', 'unknown', 'held', 'accepted', 'open', 'disputed')`;

/** A row that is changed at each commit of its account: its newer versions find room beside it. */
const CHANGED_OFTEN = 'with (fillfactor = 50)';

/**
 * The key of a table whose other indexes have the id too, behind a column that may be anything. It is made last: while the table
 * is small they cost the same, and the youngest is taken. By another one a plan that is kept would read all of an account once the
 * table has grown.
 */
function lastKey(table: string, id: string): string {
  return `alter table ${table} add constraint ${table}_key primary key (account, ${id})`;
}

/** The merchant's columns come first. Both lengths are bounded because an entry of an index is. */
const ORDERS = [
  `create table merchant_orders (
    account text not null default 'default'
      constraint account_is_200_bytes_at_most check (octet_length(account) <= 200),
    external_order_id text not null
      constraint external_order_id_is_2000_bytes_at_most check (octet_length(external_order_id) <= 2000),
    asset text, asset_position text not null default 'INPUT', from_currency text, to_currency text,
    order_type text not null default 'DEPOSIT', order_limit text, payment_token text, provider_type text,
    crypto_address text, bonus text,
    state text not null default 'pending', state_reason text, revision bigint not null default 0,
    pre_order_id text, exchange_type text, order_id text, order_status text, crypto_status text, fiat_status text,
    attempts bigint not null default 0, next_action_at text default (${NOW}), last_lookup_at text,
    created_at text not null default (${NOW}), updated_at text not null default (${NOW}),
    sent_at text, changed_at text, modification_date text, stale_date text,
    verifications bigint not null default 0, resends bigint not null default 0, rechecks bigint not null default 0,
    documented_absences bigint not null default 0, absent_at text, adopted_at text,
    forbidden_in bigint not null default 0, outcome text,
    ours_despite text, fail_over bigint
  )`,
  'create index merchant_orders_due on merchant_orders (account, state, next_action_at, external_order_id)',
  // The look for rows to be sent skips from one account to the next: few have any.
  `create index merchant_orders_pending on merchant_orders (account, next_action_at, external_order_id)
    where state = 'pending'`,
  // So it does for rows that were corrected.
  `create index merchant_orders_corrected on merchant_orders (account, next_action_at, external_order_id)
    where state = 'invalid' and next_action_at is not null`,
  // An order that was just accepted does not wait for all the earlier ones: an order is here until its first look-up.
  `create index merchant_orders_never_looked_up on merchant_orders
    (account, last_lookup_at, next_action_at, external_order_id) where state = 'accepted' and last_lookup_at is null`,
  `create index merchant_orders_of_pre_order on merchant_orders (account, ${beginningOf('pre_order_id')})
    where pre_order_id is not null`,
  // The orders that are looked up until they are final, and those in flight: few among millions, and listed by their ids.
  `create index merchant_orders_followed on merchant_orders (account, external_order_id)
    where ${IS_FOLLOWED}`,
  // The orders that a fail-over left in doubt are decided on together.
  `create index merchant_orders_of_fail_over on merchant_orders (account, fail_over, external_order_id)
    where fail_over is not null`,
  // Reports read the orders of a period.
  'create index merchant_orders_by_age on merchant_orders (account, created_at, external_order_id)',
  lastKey('merchant_orders', 'external_order_id'),
];

/**
 * One row a change of an order or a link: `type` says of which, `subject` is its id. `looked_up_before` is the look-up
 * before the change. `hash` goes over the row and the `previous_hash` of its account; the newest is in `event_heads`,
 * with the counts of what the events of the account tell: its orders by state, its open findings by class.
 */
const EVENTS = [
  `create table events (
    id bigint generated by default as identity constraint events_id_is_positive check (id > 0),
    account text not null, type text not null, subject text not null, field text not null,
    old_value text, new_value text, observed_at text not null, looked_up_before text, exchange_time text,
    source text not null, reason text, actor text, previous_hash text not null, hash text not null,
    constraint events_key primary key (account, id))`,
  // Reports ask for the time of the newest change of each order: the index has it, the events lie far from each other.
  'create index events_of_subject on events (account, type, subject, id, field, observed_at)',
  // How long orders stay in a status is learned from the newest of these.
  `create index events_of_statuses on events (account, id)
    where type = 'order' and source = 'lookup'
      and field in ('state', 'order.status', 'cryptoTransaction.status', 'fiatTransaction.status')`,
  // The creates of the last hour are counted for `guard.*`.
  `create index events_of_creates on events (account, observed_at, id)
    where type = 'order' and field = 'state' and new_value = 'sending'`,
  // A report of all accounts reads the events in the order of their ids: nearly as they lie.
  'create index events_by_id on events using brin (id) with (autosummarize = on)',
  `create table event_heads (account text primary key not null, id bigint not null, hash text not null,
    counts text not null default '{}') ${CHANGED_OFTEN}`,
  `create view order_events as
    select id, account, subject as external_order_id, field, old_value, new_value, observed_at, exchange_time, source,
      reason, actor
    from events where type = 'order'`,
];

/**
 * Answers about an order, as received; of the newest record also the fields that reports add up and search by, and what is
 * remembered of the one before it (`earlier_hash` and the counts).
 */
const RECORDS = [
  `create table pre_orders (account text not null, external_order_id text not null, body text not null,
    received_at text not null, constraint pre_orders_key primary key (account, external_order_id))`,
  `create table order_records (account text not null, external_order_id text not null, body text not null,
    received_at text not null, merchant_id text, order_id text, creation_date text, completion_date text, input_asset text,
    output_asset text, from_currency text, to_currency text, fee text, reward text, transaction_hash text,
    completed_at text, compared_at text, earlier_hash text, turns bigint not null default 0, repeats bigint not null default 0,
    quiet_changes bigint not null default 0, constraint order_records_key primary key (account, external_order_id))`,
  `create index order_records_of_hash on order_records (account, ${beginningOf('transaction_hash')}, external_order_id)
    where transaction_hash is not null`,
  `create index order_records_of_order on order_records (account, ${beginningOf('order_id')}, external_order_id)
    where order_id is not null`,
  // An export reads the orders that were completed in a period.
  `create index order_records_completed on order_records (account, completed_at, external_order_id)
    where completed_at is not null`,
  'create index order_records_uncompared on order_records (account, external_order_id) where compared_at is null',
  // Answers to a request that made something, which nothing could be read from.
  `create table kept_answers (id bigint generated by default as identity, account text not null, operation text not null,
    subject text, http_status bigint not null, body text not null, received_at text not null,
    constraint kept_answers_key primary key (account, id))`,
  'create index kept_answers_of_subject on kept_answers (account, operation, subject)',
  'create index kept_answers_by_age on kept_answers (account, received_at, id)',
];

const FINDINGS = [
  `create table findings (id bigint generated by default as identity, account text not null, class text not null,
    severity text not null, external_order_id text, expected text, actual text, first_seen_at text not null,
    last_seen_at text not null, status text not null default 'open', changed_by text, reason text, changed_at text,
    resolved_at text, constraint findings_key primary key (account, id))`,
  'create index findings_of_order on findings (account, external_order_id, class)',
  'create index findings_open on findings (account, status, class, id)',
];

/** No column for the client's e-mail address: it is not stored. The index has the status, so that final links are skipped in it. */
const LINKS = [
  `create table links (account text not null, link_id text not null, reference text, source text not null,
    status text not null, created_at text not null, updated_at text not null, last_checked_at text not null,
    missing_since text)`,
  'create index links_to_check on links (account, last_checked_at, link_id, status)',
  lastKey('links', 'link_id'),
];

/** No column for the token of a delivery: its hash is enough to know it again. `delivery` is the one that used it. */
const PHOTOS = [
  `create table photo_tokens (account text not null, token_hash text not null, request_id text not null, link_id text not null,
    level text not null, action_id text, created_at text not null, expires_at text not null, delivery text,
    constraint photo_tokens_key primary key (account, token_hash))`,
  // A delivery bears its token, and not the name of its account.
  'create index photo_tokens_of_hash on photo_tokens (token_hash, created_at)',
  'create index photo_tokens_awaited on photo_tokens (account, created_at) where delivery is null',
  `create table photos (id bigint generated by default as identity, account text not null, link_id text not null,
    level text not null, action_id text, request_id text not null, delivery text not null, original_name text not null, type text,
    size bigint not null, sha256 text not null, stored_name text, received_at text not null, refusal text,
    constraint photos_key primary key (account, id),
    constraint photos_stored_name unique (account, stored_name))`,
  'create index photos_of_link on photos (account, link_id, id)',
  'create index photos_of_delivery on photos (delivery)',
  'create index photos_by_age on photos (account, received_at, id)',
];

/**
 * Receivers of events, and how far each has come in the events of an account: a cursor that is not there is at the beginning.
 * An endpoint begins at the events that were the newest when it was first there. An event that it refuses waits with the
 * later ones of its order, and becomes a dead letter; of an event its id alone is kept here.
 */
const WEBHOOKS = [
  `create table webhook_endpoints (name text primary key not null, since text not null, taken_at text, failed_at text,
    failing_since text, next_try_at text, cause text)`,
  `create table webhook_cursors (account text not null, endpoint text not null, event_id bigint not null,
    constraint webhook_cursors_key primary key (account, endpoint)) ${CHANGED_OFTEN}`,
  `create table webhook_parked (account text not null, endpoint text not null, kind text not null, subject text not null,
    from_event_id bigint not null, tries bigint not null, next_try_at text not null, status bigint not null, since text not null,
    constraint webhook_parked_key primary key (account, endpoint, kind, subject))`,
  `create index webhook_parked_by_age on webhook_parked (endpoint, since)`,
  `create table webhook_dead_letters (account text not null, endpoint text not null, event_id bigint not null,
    status bigint not null, at text not null, delivered_at text,
    constraint webhook_dead_letters_key primary key (account, endpoint, event_id))`,
  `create index webhook_dead_letters_open on webhook_dead_letters (endpoint, at, account, event_id) where delivered_at is null`,
  `create index webhook_dead_letters_delivered on webhook_dead_letters (account, delivered_at) where delivered_at is not null`,
];

/** Facts about an account. */
const ACCOUNTS = [
  `create table account_facts (account text not null, name text not null, value text not null,
    first_seen_at text not null, constraint account_facts_key primary key (account, name))`,
  `create table seen_statuses (account text not null, field text not null, value text not null,
    first_seen_at text not null)`,
  // Statuses that share their first 500 characters count as one.
  'create unique index seen_statuses_key on seen_statuses (account, field, substr(value, 1, 500))',
  `create table request_leases (account text primary key not null, requests_until text not null,
    requests bigint not null, interval_ms bigint not null, spent text not null, concurrency bigint not null,
    timeout_ms bigint not null, boot text, boot_ms bigint) ${CHANGED_OFTEN}`,
  `create table account_holds (account text not null, kind text not null, since text not null, until text,
    reason text not null, actor text, constraint account_holds_key primary key (account, kind))`,
  // The move of the orders of this database, to another or from another: see `src/store/tables/moves.ts`.
  `create table database_moves (id text primary key not null, source text not null, target text not null, at text not null,
    state text not null)`,
  // The hash of the statements of each migration, as it ran.
  'create table migration_hashes (name text primary key not null, hash text not null)',
];

/**
 * The owners of accounts. A worker lives until `seen_until`, which it renews; commands on its `host` reach it by `socket`, and
 * other processes close their requests to it with `public_key`. It owns `held` accounts; `units` are the ones that it shares
 * with other workers, null for a command. A request of an account is there until it was answered and the answer was taken.
 * `time_line` is that of the server at the owner's last commit, `walked` the place in the due orders that its create pass had
 * reached: they tell what a fail-over may have lost. So does the last heartbeat of a worker that was declared over, in
 * `ended_workers`.
 */
const OWNERS = [
  `create table account_owners (account text primary key not null, generation bigint not null, holder text,
    granted_at text, settings text, last_commit text, time_line text, walked text) ${CHANGED_OFTEN}`,
  'create index account_owners_of_holder on account_owners (holder, account)',
  `create table workers (holder text primary key not null, seen_until text not null, host text not null, socket text,
    public_key text, started_at text not null, held bigint not null default 0, units text) ${CHANGED_OFTEN}`,
  'create table ended_workers (holder text primary key not null, seen_until text not null)',
  `create table account_requests (account text not null, id text not null, holder text not null, public_key text not null,
    input text not null constraint request_is_200_kb_at_most check (octet_length(input) <= 200000), asked_at text not null, taken_at text, progress text, answer text, answered_at text,
    constraint account_requests_key primary key (account, id))`,
  'create index account_requests_to_take on account_requests (holder, asked_at) where taken_at is null',
  'create index account_requests_by_age on account_requests (asked_at)',
];

/**
 * The server's system identifier and time-line, which every promotion of a standby raises; null if the server tells neither to
 * this role.
 */
const TIME_LINE = `create function order_sync_time_line() returns text language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin
    return (select system_identifier from pg_control_system()) || '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);
  exception
    when insufficient_privilege or feature_not_supported or undefined_function or object_not_in_prerequisite_state then
      return null;
  end $$`;

/**
 * The id of the database, one row: a dump or a copy bears it, whatever name and server it is restored to. Marks are found by it.
 * `migrated_on` is the time-line on which the tables were made, `time_line` the one on which events were last numbered, since
 * `time_line_since`.
 */
const IDENTITY = [
  TIME_LINE,
  `create table database_identity (id text primary key not null, migrated_on text, time_line text,
    time_line_since text not null default (${NOW}))`,
  'create unique index database_identity_is_one_row on database_identity ((true))',
  `insert into database_identity (id, migrated_on, time_line)
    select gen_random_uuid()::text, line, line from (select order_sync_time_line() as line) as server`,
];
