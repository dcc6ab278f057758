import { hash } from 'node:crypto';
import { sql, type Selectable } from 'kysely';
import { storable } from '../../base/text.ts';
import type { ChainedEvent, Counts, Database, EventHead, NewEvent, Transaction } from '../port.ts';
import type { EventHeadsTable } from '../schema.ts';
import { queries, rowsStatement, statement, upsert } from '../statement.ts';

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

/** Returns the text whose SHA-256 is the event's hash: JSON of the previous hash and the values of `COLUMNS`. */
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

const moveHeadStatement = statement(({ account, id, hash: last, counts }: Selectable<EventHeadsTable>) =>
  upsert('event_heads', { account, id, hash: last, counts }, 'account'),
);

export async function moveHead(tx: Transaction, account: string, head: EventHead): Promise<void> {
  await moveHeadStatement(tx, { ...head, account, counts: JSON.stringify(head.counts) });
}

/** Adds events to the end of their account's chain. In a writer's transaction, `writeEvents` inserts them later. */
export async function appendToChain(tx: Transaction, account: string, events: readonly (NewEvent & Uncounted)[]) {
  const head = await headOf(tx, account);
  // Nothing is awaited while the events are chained, so that concurrent work cannot chain events between them.
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

/** Inserts the events that were chained since the last call: one statement for all costs less than one for each. */
export async function writeEvents(tx: Transaction): Promise<void> {
  const events = tx.events?.splice(0) ?? [];
  if (events.length === 0) return;
  const inserted = await insertStatement(tx, events);
  for (const [index, { id }] of inserted.entries()) {
    const head = await tx.heads?.get(events[index]?.account ?? '');
    if (head !== undefined) head.id = Math.max(head.id, id);
  }
}

export async function endChains(tx: Transaction): Promise<void> {
  for (const [account, head] of tx.heads ?? []) await moveHead(tx, account, await head);
}

/** Returns the end of the account's chain, which includes the events that this transaction has added. */
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

/** Returns columns that every database can store: text of the exchange may contain NUL or a lone surrogate. */
function storedColumns(event: NewEvent): ChainedEvent {
  const columns: Record<string, string | null> = {};
  for (const column of COLUMNS) {
    const value = event[column];
    const isBounded = column === 'old_value' || column === 'new_value';
    columns[column] = value === null ? null : storable(isBounded ? bounded(value) : value);
  }
  return columns as unknown as ChainedEvent;
}

/** Shortens a long value. The hash distinguishes long values that have the same beginning. */
function bounded(value: string): string {
  if (value.length <= LONGEST_VALUE) return value;
  return `${value.slice(0, LONGEST_VALUE)}… (SHA-256 ${hash('sha256', value)})`;
}

export async function eventHash(db: Database, account: string | undefined, id: number): Promise<string | undefined> {
  const ofAccount = account === undefined ? sql`` : sql`and account = ${account}`;
  const { rows } = await sql<{ hash: string }>`select hash from events where id = ${id} ${ofAccount}`.execute(db);
  return rows[0]?.hash;
}

export async function newestEventId(db: Database, account: string | undefined): Promise<number> {
  if (account !== undefined) return (await headStatement(db, { account })).rows[0]?.id ?? 0;
  const newest = db.selectFrom('event_heads').select((head) => head.fn.max<number | null>('id').as('id'));
  return (await newest.executeTakeFirstOrThrow()).id ?? 0;
}

type CountedEvent = Pick<NewEvent, 'field' | 'old_value' | 'new_value'> & Uncounted & { readonly type: string };

/** A fact for `countEvent` that no column has. An acknowledged finding is not counted, so its end changes no count. */
export interface Uncounted {
  readonly wasAcknowledged?: boolean;
}

export function countsOf(text: string): Counts {
  const { orders = {}, findings = {} } = JSON.parse(text) as Partial<Counts>;
  return { orders, findings };
}

export function countEvent({ orders, findings }: Counts, event: CountedEvent): void {
  const { type, field, old_value: from, new_value: to } = event;
  if (type === 'order' && field === 'state') {
    if (from !== null) add(orders, from, -1);
    if (to !== null) add(orders, to, 1);
  }
  if (type === 'finding.opened') add(findings, field, 1);
  if (type === 'finding.acknowledged' || (type === 'finding.resolved' && event.wasAcknowledged !== true))
    add(findings, field, -1);
}

function add(counts: Record<string, number>, name: string, more: number): void {
  const count = (counts[name] ?? 0) + more;
  if (count === 0) delete counts[name];
  else counts[name] = count;
}
