/** The tables of every dialect, those of extensions too: a database that has another one of these names is not used. */
export const TABLES = [
  'account_facts',
  'account_holds',
  'account_owners',
  'database_moves',
  'event_heads',
  'events',
  'findings',
  'idempotent_requests',
  'kept_answers',
  'links',
  'merchant_orders',
  'migration_hashes',
  'order_records',
  'photo_tokens',
  'photos',
  'pre_orders',
  'request_leases',
  'seen_statuses',
  'webhook_cursors',
  'webhook_deliveries',
  'webhook_endpoints',
] as const;

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

/** The value of each column of the merchant's for which null stands for one that was left out. */
export const DEFAULTS: Readonly<Record<string, string>> = {
  account: `'default'`,
  asset_position: `'INPUT'`,
  order_type: `'DEPOSIT'`,
};

/** The reason of a row whose account was null: it is sent if there is one account alone. */
export const NULL_ACCOUNT = 'account is null';

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
  fail_over: 'null',
  // These have a time from the first.
  next_action_at: undefined,
  created_at: undefined,
  updated_at: undefined,
};

/** The moves from each state; a test holds them equal to `src/orders/rules/states.ts`. */
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

/** One thing that the database refuses: in which case, in SQL that every dialect understands, and what it says then. */
export interface Rule {
  readonly when: string;
  readonly message: string;
}

const refused = (message: string, when: string): Rule => ({ message: `merchant_orders: ${message}`, when });
const sentAnd = (what: string, when: string) => refused(`this order was sent and cannot be ${what}`, when);

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
export const RULES = {
  /** Of each insert. */
  begin: [
    refused('state is written by order-sync; leave it out', `new.state is distinct from 'pending'`),
    refused('only the columns of the order are yours; leave out what order-sync writes', isWritten()),
  ],
  /** Of each insert and, in the database that is left, of each other change by the merchant: no process would send or see it. */
  moved: refused(
    'the orders of this database were moved, or are being moved here; order-sync db status says where they are',
    `exists (select 1 from database_moves where state <> 'arrived')`,
  ),
  /** Of each update of the merchant's columns. */
  fixed: sentAnd('changed any more', `${isSent('old.')} and (${isChanged()})`),
  /** Of each delete. */
  kept: sentAnd('deleted', isSent('old.')),
  /** Of an insert, once the row is there. The history tells what stood here. */
  notReplaced: sentAnd(
    'replaced',
    `(${stateEvents('select new_value')} order by id desc limit 1) not in ('pending', 'invalid')
      or exists (${stateEvents('select 1')} and old_value = 'held' and new_value = 'pending')`,
  ),
  /** Of each update that changes the key: it never becomes that of an order that was sent. */
  idKept: sentAnd(
    'replaced',
    `(new.account is distinct from old.account or new.external_order_id is distinct from old.external_order_id)
      and exists (select 1 from merchant_orders o
        where o.account = new.account and o.external_order_id = new.external_order_id and ${isSent('o.')})`,
  ),
  /** Of each update: an order never changes its account without a word. */
  accountGiven: refused('account cannot become null', `new.account is null and old.account <> 'default'`),
  /** Of each update of our columns. */
  moves: moveRules(),
  /** Of each change and delete of an event. */
  history: { message: 'events is append-only', when: 'true' },
} as const satisfies Record<string, Rule | readonly Rule[]>;

/** True if a column of the merchant's changes. */
export function isChanged(): string {
  return anyChanged(MERCHANT_COLUMNS);
}

/** The events that tell the states of the row that is inserted. */
function stateEvents(select: string): string {
  return `${select} from events where account = new.account and type = 'order' and subject = new.external_order_id
    and field = 'state'`;
}

/** An order that must be sent again after an unknown outcome (`resends`) may be at the exchange: it is kept as it was sent. */
function isSent(row: string): string {
  return `(${row}state not in ('pending', 'invalid') or ${row}resends > 0)`;
}

function isWritten(): string {
  const blanks = Object.entries(OUR_COLUMNS).filter(([, blank]) => blank !== undefined);
  return blanks.map(([column, blank]) => `new.${column} is distinct from ${blank}`).join(' or ');
}

/** The first rule that is broken says so. */
function moveRules(): readonly Rule[] {
  const pairs = Object.entries(MOVES).flatMap(([from, next]) => next.map((to) => `'${from} ${to}'`));
  return movesBy({
    isNoMove: `old.state || ' ' || new.state not in (${pairs.join(', ')})`,
    isUnnumbered: `(${anyChanged(Object.keys(OUR_COLUMNS))}) and new.revision is distinct from old.revision + 1`,
  });
}

/**
 * The same rules as `RULES.moves` in half the time, for SQLite, which runs them for each write of the program: it builds a table of the
 * pairs of a list at each move, and compares columns one after another as long as none has changed.
 */
export const QUICK_MOVES: readonly Rule[] = movesBy({
  isNoMove: `not case old.state ${Object.entries(MOVES)
    .map(([from, next]) => `when '${from}' then ${next.map((to) => `new.state = '${to}'`).join(' or ')}`)
    .join(' ')} else false end`,
  isUnnumbered: `new.revision is distinct from old.revision + 1 and (${anyChanged(Object.keys(OUR_COLUMNS))})`,
});

function movesBy(by: { readonly isNoMove: string; readonly isUnnumbered: string }): readonly Rule[] {
  const again = `old.state in ('sending', 'rejected', 'unknown', 'held')
    and new.attempts = old.attempts and new.sent_at is not distinct from old.sent_at and new.state_reason is not null
    and (old.state in ('sending', 'rejected') or new.resends > old.resends)`;
  const isNoMove = `new.state <> old.state and new.state <> 'pending'
    and (${by.isNoMove}
      or (new.state = 'sending' and new.attempts <= old.attempts)
      or (new.state = 'unknown' and old.state <> 'sending' and (new.attempts <= old.attempts or new.sent_at is null))
      or (old.state = 'pending' and new.state in ('open', 'final') and old.attempts = 0 and new.adopted_at is null))`;
  return [
    sentAnd('pending again', `new.state = 'pending' and old.state not in ('pending', 'invalid') and not (${again})`),
    refused('state is written by order-sync, and this is none of its moves', isNoMove),
    sentAnd('taken for one that was not', 'new.resends < old.resends'),
    refused(
      'order-sync has changed this row or alone writes this column; save only the columns of the order',
      by.isUnnumbered,
    ),
  ];
}

function anyChanged(columns: readonly string[]): string {
  return columns.map((column) => `${newValue(column)} is distinct from old.${column}`).join(' or ');
}

function newValue(column: string): string {
  const value = DEFAULTS[column];
  return value === undefined ? `new.${column}` : `coalesce(new.${column}, ${value})`;
}
