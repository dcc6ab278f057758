import { sql } from 'kysely';
import { ATTENTION_STATES } from '../../orders/rules/states.ts';
import type { OrderEvent } from '../../orders/rules/tracking.ts';
import { appendToChain, type Uncounted } from './chain.ts';
import type { Database, NewEvent, Transaction } from '../port.ts';
import { ofOrder, reading } from '../statement.ts';

/** An event that records no change of a column of an order or link, for example about a finding or an account. */
export type Happening = Pick<NewEvent, 'account' | 'type' | 'subject' | 'field' | 'source'> &
  Partial<Pick<NewEvent, 'old_value' | 'new_value' | 'reason' | 'actor'>> &
  Uncounted;

export async function insertHappenings(tx: Transaction, happenings: readonly Happening[], now: Date): Promise<void> {
  const [first] = happenings;
  if (first === undefined) return;
  const values = { old_value: null, new_value: null, reason: null, actor: null };
  const unsaid = { ...values, looked_up_before: null, exchange_time: null };
  const observed_at = now.toISOString();
  const events = happenings.map((happening) => ({ ...unsaid, ...happening, observed_at }));
  await appendToChain(tx, first.account, events);
}

interface EventSubject extends Pick<NewEvent, 'account' | 'type' | 'subject'> {
  readonly lookedUpBefore: Date | null;
  readonly now: Date;
}

/** A change of one field of an order, or of a row of an extension. */
type FieldChange = Omit<OrderEvent, 'field' | 'source' | 'exchangeTime'> &
  Readonly<{ field: string; source: string; exchangeTime?: string | null }>;

const ATTENTION: readonly (string | null)[] = ATTENTION_STATES;

/** Records changes of an order or link in sequence. A state that needs a person adds an `order.needs_attention`. */
export async function insertEvents(
  tx: Transaction,
  { lookedUpBefore, now, ...about }: EventSubject,
  events: readonly FieldChange[],
): Promise<void> {
  const observed_at = now.toISOString();
  // Another program may have written an unreadable time, and `toJSON` of an invalid date is null.
  const looked_up_before = lookedUpBefore?.toJSON() ?? null;
  const changes = events.map((change): NewEvent => ({
    ...about,
    field: change.field,
    old_value: change.oldValue,
    new_value: change.newValue,
    observed_at,
    looked_up_before,
    exchange_time: change.exchangeTime ?? null,
    source: change.source,
    reason: change.reason,
    actor: change.actor ?? null,
  }));
  if (changes.length === 0) return;
  const asking = changes
    .filter(({ type, field, new_value: to }) => type === 'order' && field === 'state' && ATTENTION.includes(to))
    .map((event) => ({ ...event, type: 'order.needs_attention' as const }));
  await appendToChain(tx, about.account, [...changes, ...asking]);
}

export const firstSentAt = ofOrder(
  (v) => sql<{ observed_at: string }>`select observed_at from order_events
    where account = ${v.account} and external_order_id = ${v.externalOrderId} and field = 'state' and new_value = 'sending'
    order by id limit 1`,
  ([first]) => (first === undefined ? null : new Date(first.observed_at)),
);

/** Fields of account events. `answers`: unreadable answers. `stopped`: no worker can own the account. */
export type AccountField = 'hold' | 'exchange' | 'answers' | 'stopped';

export const newestChange = reading(
  (v: { account: string; field: AccountField }) => sql<Pick<NewEvent, 'old_value' | 'new_value' | 'reason' | 'actor'>>`
    select old_value, new_value, reason, actor from events
    where account = ${v.account} and type = 'account' and subject = ${v.account} and field = ${v.field}
    order by type, subject, id desc limit 1`,
  ([newest]) => newest,
);

export async function newestOfAccount(db: Database, account: string, field: AccountField): Promise<string | null> {
  return (await newestChange(db, { account, field }))?.new_value ?? null;
}

export const decidedAccounts = reading(
  (v: { afterId: number; toId: number }) => sql<{ account: string }>`select distinct account from events
    where id > ${v.afterId} and id <= ${v.toId} and source in ('operator', 'import')`,
  (rows) => rows.map(({ account }) => account),
);
