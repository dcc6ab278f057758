import type { Generated } from 'kysely';

/** Our times are UTC ISO 8601 text with milliseconds, those of the exchange as received. Amounts are decimal text. */
export interface MerchantOrdersTable {
  account: Generated<string>;
  external_order_id: string;
  asset: string | null;
  asset_position: Generated<string | null>;
  from_currency: string | null;
  to_currency: string | null;
  order_type: Generated<string | null>;
  order_limit: string | null;
  payment_token: string | null;
  provider_type: string | null;
  crypto_address: string | null;
  bonus: string | null;
  state: Generated<string>;
  state_reason: string | null;
  revision: Generated<number>;
  pre_order_id: string | null;
  exchange_type: string | null;
  order_id: string | null;
  order_status: string | null;
  crypto_status: string | null;
  fiat_status: string | null;
  attempts: Generated<number>;
  next_action_at: Generated<string | null>;
  last_lookup_at: string | null;
  created_at: Generated<string>;
  updated_at: Generated<string>;
  sent_at: string | null;
  changed_at: string | null;
  modification_date: string | null;
  stale_date: string | null;
  verifications: Generated<number>;
  resends: Generated<number>;
  rechecks: Generated<number>;
  documented_absences: Generated<number>;
  absent_at: string | null;
  adopted_at: string | null;
  forbidden_in: Generated<number>;
  outcome: string | null;
  /** JSON of the contradictions that were known when a person decided that the order is ours. */
  ours_despite: string | null;
  /** The id of the fail-over that left the order in doubt. */
  fail_over: number | null;
}

export interface EventsTable {
  id: Generated<number>;
  account: string;
  type:
    | 'order'
    | 'link'
    | 'account'
    | 'photos'
    | 'order.needs_attention'
    | 'finding.opened'
    | 'finding.resolved'
    | 'finding.acknowledged';
  /** The external order id, link id or account name; empty for a finding about the whole account. */
  subject: string;
  /** The field that changed, the class of a finding, or the level of photos. */
  field: string;
  old_value: string | null;
  new_value: string | null;
  observed_at: string;
  exchange_time: string | null;
  source: string;
  reason: string | null;
  actor: string | null;
  /** The time of the subject's last look-up before this change; null if there was none. */
  looked_up_before: string | null;
  /** The hash of the account's previous event; empty for the account's first event. */
  previous_hash: string;
  hash: string;
}

export interface EventHeadsTable {
  account: string;
  id: number;
  hash: string;
  counts: Generated<string>;
}

export interface OrderEventsView extends Omit<
  EventsTable,
  'type' | 'subject' | 'looked_up_before' | 'previous_hash' | 'hash'
> {
  external_order_id: string;
}

export interface ReceivedBodiesTable {
  account: string;
  external_order_id: string;
  body: string;
  received_at: string;
}

export interface OrderRecordsTable extends ReceivedBodiesTable {
  merchant_id: string | null;
  order_id: string | null;
  creation_date: string | null;
  completion_date: string | null;
  input_asset: string | null;
  output_asset: string | null;
  from_currency: string | null;
  to_currency: string | null;
  fee: string | null;
  reward: string | null;
  transaction_hash: string | null;
  /** `completion_date` in UTC with milliseconds; null if it cannot be read. */
  completed_at: string | null;
  /** When the record was compared with its order; null if the record was not compared or is older than this column. */
  compared_at: string | null;
  /** The hash of the record before the newest. `turns` counts how often the exchange changed between the two. */
  earlier_hash: string | null;
  turns: Generated<number>;
  repeats: Generated<number>;
  quiet_changes: Generated<number>;
}

/** An unreadable answer to a create or link creation, or `probe`'s second pre-order. Without e-mail addresses. */
export interface KeptAnswersTable {
  id: Generated<number>;
  account: string;
  operation: 'createPreOrder' | 'createLink';
  subject: string | null;
  http_status: number;
  body: string;
  received_at: string;
}

export interface FindingsTable {
  id: Generated<number>;
  account: string;
  class: string;
  severity: string;
  external_order_id: string | null;
  expected: string | null;
  actual: string | null;
  first_seen_at: string;
  last_seen_at: string;
  status: Generated<string>;
  changed_by: string | null;
  reason: string | null;
  changed_at: string | null;
  resolved_at: string | null;
}

interface AccountFactsTable {
  account: string;
  name: string;
  value: string;
  first_seen_at: string;
}

export interface SeenStatusesTable extends Omit<AccountFactsTable, 'name'> {
  field: string;
}

/** A move of all orders. The state is `moved` in the old database, `arriving` and then `arrived` in the new one. */
export interface DatabaseMovesTable {
  id: string;
  source: string;
  target: string;
  at: string;
  state: 'moved' | 'arriving' | 'arrived';
}

/** The tables of the core. An extension declares its tables beside its queries, for `withTables`. */
export interface Tables {
  merchant_orders: MerchantOrdersTable;
  events: EventsTable;
  event_heads: EventHeadsTable;
  order_events: OrderEventsView;
  order_records: OrderRecordsTable;
  account_facts: AccountFactsTable;
  pre_orders: ReceivedBodiesTable;
  kept_answers: KeptAnswersTable;
  findings: FindingsTable;
  seen_statuses: SeenStatusesTable;
  /** The columns of `Lease` in tables/accounts.ts. `spent` is JSON: pairs of time and number of requests. */
  request_leases: {
    account: string;
    requests_until: string;
    requests: number;
    interval_ms: number;
    spent: string;
    concurrency: number;
    timeout_ms: number;
    boot: string | null;
    boot_ms: number | null;
  };
  account_owners: {
    account: string;
    generation: number;
    holder: string | null;
    granted_at: string | null;
    settings: string | null;
    last_commit: string | null;
    time_line: string | null;
    walked: string | null;
  };
  /** The restraints of accounts, each of which stops some requests. `until` is null if a person must end it. */
  account_holds: {
    account: string;
    kind: string;
    since: string;
    until: string | null;
    reason: string;
    actor: string | null;
  };
  database_moves: DatabaseMovesTable;
}
