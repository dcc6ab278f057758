import { hash } from 'node:crypto';
import { sql } from 'kysely';
import type { LinkEvent } from '../../extensions/clients/link.ts';
import type { OrderEvent } from '../../orders/rules/tracking.ts';
import { ATTENTION_STATES } from '../../orders/rules/states.ts';
import { storable } from '../../base/text.ts';
import { countEvent, countsOf, type Counts, type Uncounted } from './counts.ts';
import type { ChainedEvent, Database, EventHead, NewEvent, Transaction } from '../port.ts';
import { queries, rowsStatement, statement } from '../statement.ts';

const COLUMNS = [
  'account',
  'type',
  'subject',
  'field',
  'old_value',
  'new_value',
  'observed_at',
  'looked_up_before',
  'exchange_time',
  'source',
  'reason',
  'actor',
] as const satisfies readonly (keyof NewEvent)[];

const LONGEST_VALUE = 1_000;

/**
 * The text whose SHA-256, in hexadecimal, is the hash of an event: a JSON array without spaces, in UTF-8, of the hash of
 * the account's event before it (empty for its first) and of the event's columns in the order of `COLUMNS`, null if
 * they are null. Whoever changes, removes or inserts an event breaks the chain of its account from there on.
 */
export function hashedText(previousHash: string, event: NewEvent): string {
  const values: (string | null)[] = [previousHash];
  for (const column of COLUMNS) values.push(event[column]);
  return JSON.stringify(values);
}

const headStatement = statement((v: { account: string }) =>
  queries.selectFrom('event_heads').select(['id', 'hash', 'counts']).where('account', '=', v.account),
);

const insertStatement = rowsStatement(
  [...COLUMNS, 'previous_hash', 'hash'] as const,
  (events: readonly ChainedEvent[]) => queries.insertInto('events').values(events).returning('id'),
);

const moveHeadStatement = statement((v: { account: string; id: number; hash: string; counts: string }) =>
  queries
    .insertInto('event_heads')
    .values({ account: v.account, id: v.id, hash: v.hash, counts: v.counts })
    .onConflict((conflict) => conflict.column('account').doUpdateSet({ id: v.id, hash: v.hash, counts: v.counts })),
);

async function moveHead(tx: Transaction, account: string, head: EventHead): Promise<void> {
  await moveHeadStatement(tx, { ...head, account, counts: JSON.stringify(head.counts) });
}

/** What happened to an order, a link or an account, where no column of theirs changed; a finding also where one did. */
export type Happening = Pick<NewEvent, 'account' | 'type' | 'subject' | 'field' | 'source'> &
  Partial<Pick<NewEvent, 'old_value' | 'new_value' | 'reason' | 'actor'>> &
  Uncounted;

export async function insertHappenings(tx: Transaction, happenings: readonly Happening[], now: Date): Promise<void> {
  const [first] = happenings;
  if (first === undefined) return;
  const unsaid = {
    old_value: null,
    new_value: null,
    looked_up_before: null,
    exchange_time: null,
    reason: null,
    actor: null,
  };
  const observed_at = now.toISOString();
  const events = happenings.map((happening) => ({ ...unsaid, ...happening, observed_at }));
  await appendToChain(tx, first.account, events);
}

/** The order or link whose changes are recorded, when they were seen, and when it was looked up before. */
interface EventSubject extends Pick<NewEvent, 'account' | 'type' | 'subject'> {
  readonly lookedUpBefore: Date | null;
  readonly now: Date;
}

/** Records the changes of an order or a link, in their order. A state that waits for a person is an event of its own. */
export async function insertEvents(
  tx: Transaction,
  { lookedUpBefore, now, ...about }: EventSubject,
  events: readonly (OrderEvent | (LinkEvent & { exchangeTime?: null; actor?: never }))[],
): Promise<void> {
  const { account, type, subject } = about;
  const observed_at = now.toISOString();
  // Null also for a date that is none: another program may have written the time of the row.
  const looked_up_before = lookedUpBefore?.toJSON() ?? null;
  const changes: NewEvent[] = events.map(({ field, oldValue, newValue, source, reason, exchangeTime, actor }) => ({
    account,
    type,
    subject,
    field,
    old_value: oldValue,
    new_value: newValue,
    observed_at,
    looked_up_before,
    exchange_time: exchangeTime ?? null,
    source,
    reason,
    actor: actor ?? null,
  }));
  if (changes.length === 0) return;
  const asking = changes
    .filter(asksForAttention)
    .map((event) => ({ ...event, type: 'order.needs_attention' as const }));
  await appendToChain(tx, account, asking.length === 0 ? changes : [...changes, ...asking]);
}

function asksForAttention({ type, field, new_value: to }: NewEvent): boolean {
  return type === 'order' && field === 'state' && (ATTENTION_STATES as readonly (string | null)[]).includes(to);
}

/** Adds events to the end of their account's chain. In a transaction of a writer, `writeEvents` writes them. */
export async function appendToChain(
  tx: Transaction,
  account: string,
  events: readonly (NewEvent & Uncounted)[],
): Promise<void> {
  const head = await headOf(tx, account);
  // Nothing is awaited until the events have their places: what others add meanwhile comes after.
  const chained = events.map((event) => {
    const stored = storedColumns(event);
    stored.previous_hash = head.hash;
    head.hash = hash('sha256', hashedText(head.hash, stored));
    countEvent(head.counts, event);
    stored.hash = head.hash;
    return stored;
  });
  if (tx.events !== undefined) {
    tx.events.push(...chained);
    return;
  }
  for (const { id } of await insertStatement(tx, chained)) head.id = Math.max(head.id, id);
  await moveHead(tx, account, head);
}

/** Writes the events that a transaction of a writer has chained since the last call. One statement for many orders costs less than one for each. */
export async function writeEvents(tx: Transaction): Promise<void> {
  const events = tx.events?.splice(0) ?? [];
  if (events.length === 0) return;
  const inserted = await insertStatement(tx, events);
  for (const [index, { id }] of inserted.entries()) {
    const head = await tx.heads?.get(events[index]?.account ?? '');
    if (head !== undefined) head.id = Math.max(head.id, id);
  }
}

/** Writes where the chains end that a transaction has added to. */
export async function endChains(tx: Transaction): Promise<void> {
  for (const [account, head] of tx.heads ?? []) await moveHead(tx, account, await head);
}

/** Puts other counts in the place of those that are kept with the end of an account's chain. */
export async function recount(tx: Transaction, account: string, counts: Counts): Promise<void> {
  const head = await headOf(tx, account);
  const corrected = { ...head, counts };
  tx.heads?.set(account, Promise.resolve(corrected));
  if (tx.heads === undefined) await moveHead(tx, account, corrected);
}

/** The end of the chain, as it is with what this transaction has added. */
export function headOf(tx: Transaction, account: string): Promise<EventHead> {
  const head = tx.heads?.get(account) ?? readHead(tx, account);
  tx.heads?.set(account, head);
  return head;
}

const NO_EVENT = { id: 0, hash: '', counts: '{}' };

async function readHead(tx: Transaction, account: string): Promise<EventHead> {
  const head = (await headStatement(tx, { account })).rows[0] ?? NO_EVENT;
  return { ...head, counts: countsOf(head.counts) };
}

/** The columns of an event alone, as the database gives them back: what the exchange sends may hold half a character. */
function storedColumns(event: NewEvent): ChainedEvent {
  const columns: Record<string, string | null> = {};
  for (const column of COLUMNS) {
    const value = event[column];
    const isBounded = column === 'old_value' || column === 'new_value';
    columns[column] = value === null ? null : storable(isBounded ? bounded(value) : value);
  }
  return columns as unknown as ChainedEvent;
}

/** The exchange decides how long its values are. Two long ones that begin alike stay different by their hash. */
function bounded(value: string): string {
  if (value.length <= LONGEST_VALUE) return value;
  return `${value.slice(0, LONGEST_VALUE)}… (SHA-256 ${hash('sha256', value)})`;
}

export async function orderEvents(db: Database, account: string, externalOrderId: string) {
  return await db
    .selectFrom('order_events')
    .selectAll()
    .where((event) => event.and({ account, external_order_id: externalOrderId }))
    .orderBy('id')
    .execute();
}

export async function linkEvents(db: Database, account: string, linkId: string) {
  return await db
    .selectFrom('events')
    .select(['id', 'account', 'subject as link_id', 'field', 'old_value', 'new_value', 'observed_at'])
    .select(['source', 'reason'])
    .where((event) => event.and({ account, type: 'link', subject: linkId }))
    .orderBy('id')
    .execute();
}

const firstSentStatement = statement((v: { account: string; externalOrderId: string }) =>
  queries
    .selectFrom('order_events')
    .select('observed_at')
    .where((event) => event.and({ account: v.account, external_order_id: v.externalOrderId }))
    .where((event) => event.and({ field: 'state', new_value: 'sending' }))
    .orderBy('id')
    .limit(1),
);

/** Reads when the intent of the order's first create was recorded; null if none was. */
export async function firstSentAt(db: Database, account: string, externalOrderId: string): Promise<Date | null> {
  const { rows } = await firstSentStatement(db, { account, externalOrderId });
  return rows[0] === undefined ? null : new Date(rows[0].observed_at);
}

/** Fields of account events: the exchange is out of reach, its answers cannot be read, no worker can drive the account. */
export type AccountField = 'exchange' | 'answers' | 'stopped';

const newestStatement = statement((v: { account: string; field: AccountField }) =>
  queries
    .selectFrom('events')
    .select('new_value')
    .where('account', '=', v.account)
    .where('type', '=', sql.lit('account'))
    .where('subject', '=', v.account)
    .where('field', '=', v.field)
    .orderBy('type')
    .orderBy('subject')
    .orderBy('id', 'desc')
    .limit(1),
);

/** Reads the newest value of a field of an account; null if all is well. */
export async function newestOfAccount(db: Database, account: string, field: AccountField): Promise<string | null> {
  return (await newestStatement(db, { account, field })).rows[0]?.new_value ?? null;
}

/** Reads the id of the newest event of an account, or of all where none is named; 0 when there is none. */
export async function newestEventId(db: Database, account: string | undefined): Promise<number> {
  if (account !== undefined) return (await headStatement(db, { account })).rows[0]?.id ?? 0;
  const newest = db.selectFrom('event_heads').select((head) => head.fn.max<number | null>('id').as('id'));
  return (await newest.executeTakeFirstOrThrow()).id ?? 0;
}

const newestOfAllStatement = statement(() =>
  queries.selectFrom('events').select((event) => event.fn.max<number | null>('id').as('id')),
);

export async function newestEventIdOfAll(db: Database): Promise<number> {
  return (await newestOfAllStatement(db, {})).rows[0]?.id ?? 0;
}

const decidedStatement = statement((v: { afterId: number; toId: number }) =>
  queries
    .selectFrom('events')
    .select('account')
    .distinct()
    .where('id', '>', v.afterId)
    .where('id', '<=', v.toId)
    .where('source', 'in', [sql.lit('operator'), sql.lit('import')]),
);

/** Reads in which accounts a person or an import decided something in the events between two ids. */
export async function decidedAccounts(db: Database, afterId: number, toId: number): Promise<readonly string[]> {
  return (await decidedStatement(db, { afterId, toId })).rows.map(({ account }) => account);
}

/** Reads when the newest event of all accounts was observed, stops of accounts left out; null when there is none. */
export async function newestEventTime(db: Database): Promise<string | null> {
  const { rows } = await sql<{ at: string }>`select event.observed_at as at from event_heads as head
    join events as event on event.account = head.account and event.id = (select id from events
      where account = head.account and not (type = 'account' and field = 'stopped') order by id desc limit 1)
    order by event.id desc limit 1`.execute(db);
  return rows[0]?.at ?? null;
}
