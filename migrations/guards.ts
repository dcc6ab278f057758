import { sql, type Kysely } from 'kysely';

/** UTC with milliseconds, as the program writes every time. */
const FORMAT = '%Y-%m-%dT%H:%M:%fZ';
export const NOW = `strftime('${FORMAT}', 'now')`;

/** The columns that a merchant writes. */
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

/** The columns that order-sync writes, each with its value until then. */
export const OUR_COLUMNS: Readonly<Record<string, string | undefined>> = {
  state: `'pending'`,
  state_reason: 'null',
  revision: '0',
  pre_order_id: 'null',
  exchange_type: 'null',
  order_id: 'null',
  order_status: 'null',
  crypto_status: 'null',
  fiat_status: 'null',
  attempts: '0',
  last_lookup_at: 'null',
  sent_at: 'null',
  changed_at: 'null',
  modification_date: 'null',
  stale_date: 'null',
  verifications: '0',
  resends: '0',
  rechecks: '0',
  documented_absences: '0',
  absent_at: 'null',
  adopted_at: 'null',
  forbidden_in: '0',
  outcome: 'null',
  ours_despite: 'null',
  // These have a time from the first.
  next_action_at: undefined,
  created_at: undefined,
  updated_at: undefined,
};

/** The moves from each state; a test holds them equal to `src/domain/orders/states.ts`. */
export const MOVES: Readonly<Record<string, readonly string[]>> = {
  pending: ['sending', 'invalid', 'cancelled', 'open', 'final', 'disputed', 'unknown'],
  sending: ['accepted', 'rejected', 'pending', 'unknown'],
  unknown: ['open', 'final', 'disputed', 'held'],
  held: ['open', 'final', 'disputed', 'accepted', 'pending', 'abandoned'],
  accepted: ['open', 'final', 'disputed', 'abandoned'],
  open: ['final', 'disputed'],
  disputed: ['open', 'final', 'abandoned'],
  final: ['open', 'disputed'],
  rejected: ['pending', 'open', 'final', 'disputed', 'unknown'],
  invalid: ['pending', 'unknown'],
  cancelled: ['open', 'final', 'disputed'],
  abandoned: ['open', 'final', 'disputed'],
};

const OF_NEW = 'account = new.account and external_order_id = new.external_order_id';

/**
 * The database holds to these rules by itself, whoever writes:
 *
 * 1. The merchant's columns of a row that was sent never change.
 * 2. A row that was sent is never deleted or replaced.
 * 3. An insert bears none of order-sync's columns; a guard corrects its times.
 * 4. Order-sync's columns change only together with `revision`, which becomes one more than it was.
 * 5. `state` changes by the table of moves alone, and after a request to `pending` only with what shows that it is sent
 *    again on purpose.
 *
 * So a program that saves a whole row which it read earlier is refused, and one that changes nothing of order-sync's is
 * not. A row counts as sent until a person has it sent again after a documented refusal, or the request is proved not to
 * have been taken.
 */
export async function guardOrders(db: Kysely<unknown>): Promise<void> {
  for (const [name, body] of Object.entries(guards())) {
    await sql.raw(`create trigger merchant_orders_${name} ${body}; end`).execute(db);
  }
}

function guards(): Readonly<Record<string, string>> {
  const merchant = MERCHANT_COLUMNS.join(', ');
  const isChanged = anyChanged(MERCHANT_COLUMNS);
  const sent = (what: string) => `begin ${refuse(`this order was sent and cannot be ${what}`)}`;
  const hasNoTime = `(new.next_action_at is null or new.next_action_at not glob
    '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9].[0-9][0-9][0-9]Z')`;
  // Reports go by when a row was inserted: a time of the past as the program writes it is believed, no other.
  const insertedAt = `case when strftime('${FORMAT}', new.created_at) is new.created_at and new.created_at <= ${NOW}
    then new.created_at else ${NOW} end`;
  return {
    sent_is_fixed: `before update of ${merchant} on merchant_orders when ${isSent('old.')} and (${isChanged})
      ${sent('changed any more')}`,
    sent_is_kept: `before delete on merchant_orders when ${isSent('old.')} ${sent('deleted')}`,
    // INSERT OR REPLACE runs no delete trigger. The history tells what stood here, and INSERT OR IGNORE still works.
    sent_is_not_replaced: `after insert on merchant_orders
      when (select new_value from order_events where ${OF_NEW} and field = 'state' order by id desc limit 1)
          not in ('pending', 'invalid')
        or exists (select 1 from order_events where ${OF_NEW} and field = 'state'
          and old_value = 'held' and new_value = 'pending')
      ${sent('replaced')}`,
    // Neither does UPDATE OR REPLACE, of another order's id to that of a sent one.
    sent_keeps_its_id: `before update of account, external_order_id on merchant_orders
      when (new.account is not old.account or new.external_order_id is not old.external_order_id)
        and exists (select 1 from merchant_orders where ${OF_NEW} and ${isSent('')})
      ${sent('replaced')}`,
    begin: `before insert on merchant_orders begin
      ${refuse('state is written by order-sync; leave it out', `new.state is not 'pending'`)};
      ${refuse('only the columns of the order are yours; leave out what order-sync writes', isWritten())}`,
    // A pending row without a time would never be sent.
    begin_now: `after insert on merchant_orders when new.created_at is not (${insertedAt}) or ${hasNoTime} begin
      update merchant_orders set created_at = ${insertedAt}, revision = revision + 1,
        next_action_at = case when ${hasNoTime} then ${NOW} else next_action_at end
      where ${OF_NEW}`,
    moves: `before update of ${Object.keys(OUR_COLUMNS).join(', ')} on merchant_orders begin ${moveRules()}`,
    corrected: `after update of ${merchant} on merchant_orders when old.state = 'invalid' and (${isChanged}) begin
      update merchant_orders set next_action_at = ${NOW}, revision = revision + 1 where ${OF_NEW}`,
  };
}

/** An order that is to be sent again after an unknown outcome (`resends`) may be at the exchange: it is kept as it was sent. */
function isSent(row: string): string {
  return `(${row}state not in ('pending', 'invalid') or ${row}resends > 0)`;
}

function isWritten(): string {
  const blanks = Object.entries(OUR_COLUMNS).filter(([, blank]) => blank !== undefined);
  return blanks.map(([column, blank]) => `new.${column} is not ${blank}`).join(' or ');
}

/** The first rule that is broken says so. */
function moveRules(): string {
  const pairs = Object.entries(MOVES).flatMap(([from, next]) => next.map((to) => `'${from} ${to}'`));
  const again = `old.state in ('sending', 'rejected', 'unknown', 'held')
    and new.attempts is old.attempts and new.sent_at is old.sent_at and new.state_reason is not null
    and (old.state in ('sending', 'rejected') or new.resends > old.resends)`;
  const isNoMove = `new.state <> old.state and new.state <> 'pending'
    and (old.state || ' ' || new.state not in (${pairs.join(', ')})
      or (new.state = 'sending' and new.attempts <= old.attempts)
      or (new.state = 'unknown' and old.state <> 'sending' and (new.attempts <= old.attempts or new.sent_at is null))
      or (old.state = 'pending' and new.state in ('open', 'final') and old.attempts = 0 and new.adopted_at is null))`;
  const isUnnumbered = `(${anyChanged(Object.keys(OUR_COLUMNS))}) and new.revision is not old.revision + 1`;
  const sent = 'this order was sent and cannot be';
  return [
    refuse(
      `${sent} pending again`,
      `new.state = 'pending' and old.state not in ('pending', 'invalid') and not (${again})`,
    ),
    refuse('state is written by order-sync, and this is none of its moves', isNoMove),
    refuse(`${sent} taken for one that was not`, 'new.resends < old.resends'),
    refuse(
      'order-sync has changed this row or alone writes this column; save only the columns of the order',
      isUnnumbered,
    ),
  ].join('; ');
}

function anyChanged(columns: readonly string[]): string {
  return columns.map((column) => `new.${column} is not old.${column}`).join(' or ');
}

function refuse(why: string, when?: string): string {
  return `select raise(abort, 'merchant_orders: ${why}')${when === undefined ? '' : ` where ${when}`}`;
}

/** History is append-only: also against INSERT OR REPLACE, which runs no delete trigger. */
export async function guardEvents(db: Kysely<unknown>): Promise<void> {
  for (const [name, when] of [
    ['no_update', 'before update on events'],
    ['no_delete', 'before delete on events'],
    ['no_replace', 'before insert on events when exists (select 1 from events where id = new.id)'],
  ]) {
    await sql
      .raw(`create trigger events_${name} ${when} begin select raise(abort, 'events is append-only'); end`)
      .execute(db);
  }
}
