import { sql, type Kysely } from 'kysely';
import { guardEvents, guardOrders, NOW } from './guards.ts';

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
  ]) {
    await sql.raw(statement).execute(db);
  }
  await guardOrders(db);
  await guardEvents(db);
}

/** Null stands for a column that was left out. */
const OR_NULL = 'not null on conflict replace default';

/**
 * The merchant's columns come first, then what order-sync writes. With a rowid, INSERT OR REPLACE of another order with
 * the rowid of a sent one would take it away.
 */
const ORDERS = [
  `create table merchant_orders (
    account text ${OR_NULL} 'default',
    external_order_id text not null constraint external_order_id_is_text check (typeof(external_order_id) = 'text'),
    asset text, asset_position text ${OR_NULL} 'INPUT', from_currency text, to_currency text,
    order_type text ${OR_NULL} 'DEPOSIT', order_limit text, payment_token text, provider_type text,
    crypto_address text, bonus text,
    state text not null default 'pending', state_reason text, revision integer not null default 0,
    pre_order_id text, exchange_type text, order_id text, order_status text, crypto_status text, fiat_status text,
    attempts integer not null default 0, next_action_at text default (${NOW}), last_lookup_at text,
    created_at text ${OR_NULL} (${NOW}), updated_at text ${OR_NULL} (${NOW}),
    sent_at text, changed_at text, modification_date text, stale_date text,
    verifications integer not null default 0, resends integer not null default 0, rechecks integer not null default 0,
    documented_absences integer not null default 0, absent_at text, adopted_at text,
    forbidden_in integer not null default 0, outcome text,
    ours_despite text, fail_over integer,
    constraint merchant_orders_key primary key (account, external_order_id)
  ) without rowid`,
  'create index merchant_orders_due on merchant_orders (account, state, next_action_at, external_order_id)',
  // The look for rows to be sent skips from one account to the next: few have any. So it does for corrected ones.
  `create index merchant_orders_pending on merchant_orders (account, next_action_at, external_order_id)
    where state = 'pending'`,
  `create index merchant_orders_corrected on merchant_orders (account, next_action_at, external_order_id)
    where state = 'invalid' and next_action_at is not null`,
  // An order that was just accepted does not wait for all the earlier ones: an order is here until its first look-up.
  // The column of the condition keeps SQLite from taking the index of all due orders instead.
  `create index merchant_orders_never_looked_up on merchant_orders
    (account, last_lookup_at, next_action_at, external_order_id) where state = 'accepted' and last_lookup_at is null`,
  `create index merchant_orders_of_pre_order on merchant_orders (account, pre_order_id)
    where pre_order_id is not null`,
  // The orders that are looked up until they are final, and those in flight: few among millions, and listed by their ids.
  `create index merchant_orders_followed on merchant_orders (account, external_order_id)
    where state in ('sending', 'unknown', 'held', 'accepted', 'open', 'disputed')`,
  // The orders that a fail-over left in doubt are decided on together.
  `create index merchant_orders_of_fail_over on merchant_orders (account, fail_over, external_order_id)
    where fail_over is not null`,
  // Reports read the orders of a period.
  'create index merchant_orders_by_age on merchant_orders (account, created_at, external_order_id)',
];

/**
 * One row a change of an order or a link: `type` says of which, `subject` is its id. `looked_up_before` is the look-up
 * before the change. `hash` goes over the row and the `previous_hash` of its account; the newest is in `event_heads`,
 * with the counts of what the events of the account tell: its orders by state, its open findings by class.
 * The guard against replacing sees an id that is yet to be given as -1.
 */
const EVENTS = [
  `create table events (
    id integer primary key autoincrement constraint events_id_is_positive check (id > 0),
    account text not null, type text not null, subject text not null, field text not null,
    old_value text, new_value text, observed_at text not null, looked_up_before text, exchange_time text,
    source text not null, reason text, actor text, previous_hash text not null, hash text not null)`,
  // The feed reads the events of one account from a cursor on.
  'create index events_of_account on events (account, id)',
  // Reports ask for the time of the newest change of each order: the index has it, the events lie far from each other.
  'create index events_of_subject on events (account, type, subject, id, field, observed_at)',
  // How long orders stay in a status is learned from the newest of these.
  `create index events_of_statuses on events (account, id)
    where type = 'order' and source = 'lookup'
      and field in ('state', 'order.status', 'cryptoTransaction.status', 'fiatTransaction.status')`,
  // The creates of the last hour are counted for `guard.*`.
  `create index events_of_creates on events (account, observed_at, id)
    where type = 'order' and field = 'state' and new_value = 'sending'`,
  `create table event_heads (account text primary key not null, id integer not null, hash text not null,
    counts text not null default '{}')`,
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
    completed_at text, compared_at text, earlier_hash text, turns integer not null default 0, repeats integer not null default 0,
    quiet_changes integer not null default 0, constraint order_records_key primary key (account, external_order_id))`,
  `create index order_records_of_hash on order_records (account, transaction_hash, external_order_id)
    where transaction_hash is not null`,
  `create index order_records_of_order on order_records (account, order_id, external_order_id)
    where order_id is not null`,
  // An export reads the orders that were completed in a period.
  `create index order_records_completed on order_records (account, completed_at, external_order_id)
    where completed_at is not null`,
  'create index order_records_uncompared on order_records (account, external_order_id) where compared_at is null',
  // Answers to a request that made something, which nothing could be read from.
  `create table kept_answers (id integer primary key autoincrement, account text not null, operation text not null,
    subject text, http_status integer not null, body text not null, received_at text not null)`,
  'create index kept_answers_of_subject on kept_answers (account, operation, subject)',
  'create index kept_answers_by_age on kept_answers (account, received_at, id)',
];

const FINDINGS = [
  `create table findings (id integer primary key autoincrement, account text not null, class text not null,
    severity text not null, external_order_id text, expected text, actual text, first_seen_at text not null,
    last_seen_at text not null, status text not null default 'open', changed_by text, reason text, changed_at text,
    resolved_at text)`,
  'create index findings_of_order on findings (account, external_order_id, class)',
  'create index findings_open on findings (account, status, class)',
];

/** No column for the client's e-mail address: it is not stored. The index has the status, so that final links are skipped in it. */
const LINKS = [
  `create table links (account text not null, link_id text not null, reference text, source text not null,
    status text not null, created_at text not null, updated_at text not null, last_checked_at text not null,
    missing_since text, constraint links_key primary key (account, link_id)) without rowid`,
  'create index links_to_check on links (account, last_checked_at, link_id, status)',
];

/** No column for the token of a delivery: its hash is enough to know it again. `delivery` is the one that used it. */
const PHOTOS = [
  `create table photo_tokens (account text not null, token_hash text not null, request_id text not null, link_id text not null,
    level text not null, action_id text, created_at text not null, expires_at text not null, delivery text,
    constraint photo_tokens_key primary key (account, token_hash))`,
  // A delivery bears its token, and not the name of its account.
  'create index photo_tokens_of_hash on photo_tokens (token_hash, created_at)',
  'create index photo_tokens_awaited on photo_tokens (account, created_at) where delivery is null',
  `create table photos (id integer primary key autoincrement, account text not null, link_id text not null,
    level text not null, action_id text, request_id text not null, delivery text not null, original_name text not null, type text,
    size integer not null, sha256 text not null, stored_name text unique, received_at text not null, refusal text)`,
  'create index photos_of_link on photos (account, link_id, id)',
  'create index photos_of_delivery on photos (delivery)',
  'create index photos_by_age on photos (account, received_at)',
];

/**
 * Receivers of events, and how far each has come in the events of an account: a cursor that is not there is at the beginning.
 * An endpoint begins at the events that were the newest when it was first there. An event that it refuses waits with the
 * later ones of its order, and becomes a dead letter; of an event its id alone is kept here.
 */
const WEBHOOKS = [
  `create table webhook_endpoints (name text primary key not null, since text not null, taken_at text, failed_at text,
    failing_since text, next_try_at text, cause text) without rowid`,
  `create table webhook_cursors (account text not null, endpoint text not null, event_id integer not null,
    constraint webhook_cursors_key primary key (account, endpoint)) without rowid`,
  `create table webhook_parked (account text not null, endpoint text not null, kind text not null, subject text not null,
    from_event_id integer not null, tries integer not null, next_try_at text not null, status integer not null, since text not null,
    constraint webhook_parked_key primary key (account, endpoint, kind, subject)) without rowid`,
  `create index webhook_parked_by_age on webhook_parked (endpoint, since)`,
  `create table webhook_dead_letters (account text not null, endpoint text not null, event_id integer not null,
    status integer not null, at text not null, delivered_at text,
    constraint webhook_dead_letters_key primary key (account, endpoint, event_id)) without rowid`,
  `create index webhook_dead_letters_open on webhook_dead_letters (endpoint, at, account, event_id) where delivered_at is null`,
  `create index webhook_dead_letters_delivered on webhook_dead_letters (account, delivered_at) where delivered_at is not null`,
];

/** Facts about an account, and about the process that owns it. */
const ACCOUNTS = [
  `create table account_facts (account text not null, name text not null, value text not null,
    first_seen_at text not null, constraint account_facts_key primary key (account, name))`,
  `create table seen_statuses (account text not null, field text not null, value text not null,
    first_seen_at text not null, constraint seen_statuses_key primary key (account, field, value))`,
  `create table request_leases (account text primary key not null, requests_until text not null,
    requests integer not null, interval_ms integer not null, spent text not null, concurrency integer not null,
    timeout_ms integer not null, boot text, boot_ms integer)`,
  `create table account_owners (account text primary key not null, generation integer not null, holder text,
    granted_at text, settings text, last_commit text, time_line text, walked text)`,
  `create table account_holds (account text not null, kind text not null, since text not null, until text,
    reason text not null, actor text, constraint account_holds_key primary key (account, kind)) without rowid`,
  // The move of the orders of this database, to another or from another: see `src/store/tables/moves.ts`.
  `create table database_moves (id text primary key not null, source text not null, target text not null, at text not null,
    state text not null) without rowid`,
  // The hash of the statements of each migration, as it ran.
  'create table migration_hashes (name text primary key not null, hash text not null) without rowid',
];
