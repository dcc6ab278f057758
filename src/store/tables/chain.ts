import { hash } from 'node:crypto';
import type { Selectable } from 'kysely';
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

/** The hash of an event is the SHA-256 of this text: JSON of the hash before and the columns in order of `COLUMNS`. */
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

/** Adds events to the end of their account's chain. In a transaction of a writer, `writeEvents` writes them. */
export async function appendToChain(tx: Transaction, account: string, events: readonly (NewEvent & Uncounted)[]) {
  const head = await headOf(tx, account);
  // Nothing is awaited before the events have their places, so that events of other work come after them.
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

/** Writes the events that a writer's transaction has chained since the last call, because one statement costs less. */
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

/** Returns the end of the account's chain, with the events that this transaction has added. */
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

/** Returns an event's columns as databases store them, because text of the exchange may hold half a character. */
function storedColumns(event: NewEvent): ChainedEvent {
  const columns: Record<string, string | null> = {};
  for (const column of COLUMNS) {
    const value = event[column];
    const isBounded = column === 'old_value' || column === 'new_value';
    columns[column] = value === null ? null : storable(isBounded ? bounded(value) : value);
  }
  return columns as unknown as ChainedEvent;
}

/** Shortens a long value of the exchange. The hash keeps two long values that begin alike different. */
function bounded(value: string): string {
  if (value.length <= LONGEST_VALUE) return value;
  return `${value.slice(0, LONGEST_VALUE)}… (SHA-256 ${hash('sha256', value)})`;
}

const hashStatement = statement((v: { account: string; id: number }) =>
  queries.selectFrom('events').select('hash').where('account', '=', v.account).where('id', '=', v.id),
);

export async function eventHash(db: Database, account: string, id: number): Promise<string | undefined> {
  return (await hashStatement(db, { account, id })).rows[0]?.hash;
}

export async function newestEventId(db: Database, account: string | undefined): Promise<number> {
  if (account !== undefined) return (await headStatement(db, { account })).rows[0]?.id ?? 0;
  const newest = db.selectFrom('event_heads').select((head) => head.fn.max<number | null>('id').as('id'));
  return (await newest.executeTakeFirstOrThrow()).id ?? 0;
}

type CountedEvent = Pick<NewEvent, 'field' | 'old_value' | 'new_value'> & Uncounted & { readonly type: string };

/** A fact that an event does not tell: an acknowledged finding that is resolved was not open. */
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
