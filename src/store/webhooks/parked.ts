import { sql, type Selectable } from 'kysely';
import { ROW_TYPES, type SubjectKind } from '../../domain/events/delivery.ts';
import type { EventRow } from '../../domain/events/feed.ts';
import { unindexed } from '../dialect.ts';
import { FEED_COLUMNS } from '../feed.ts';
import type { Database, Transaction } from '../port.ts';
import type { WebhookDeadLettersTable, WebhookParkedTable } from './tables.ts';

/** An order, link or account of which an endpoint has refused an event. */
export type ParkedRow = Selectable<WebhookParkedTable>;
type ParkedKey = Pick<ParkedRow, 'endpoint' | 'account' | 'kind' | 'subject'>;

/** Reads what an endpoint has parked in accounts, in the order of their names from one to another. */
export async function parkedIn(
  db: Database,
  { endpoint, from, to }: { readonly endpoint: string; readonly from: string; readonly to: string },
): Promise<readonly ParkedRow[]> {
  return await db
    .selectFrom('webhook_parked')
    .selectAll()
    .where('endpoint', '=', endpoint)
    .where('account', '>=', from)
    .where('account', '<=', to)
    .orderBy('account')
    .execute();
}

/** Parks an order with an event, or writes how often that was refused since. */
export async function park(tx: Transaction, row: ParkedRow): Promise<void> {
  const { from_event_id, tries, next_try_at, status, since } = row;
  await tx
    .insertInto('webhook_parked')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['endpoint', 'account', 'kind', 'subject'])
        .doUpdateSet({ from_event_id, tries, next_try_at, status, since }),
    )
    .execute();
}

/** Goes on with the events of an order as they come. */
export async function unpark(tx: Transaction, { endpoint, account, kind, subject }: ParkedKey): Promise<void> {
  await tx
    .deleteFrom('webhook_parked')
    .where((row) => row.and({ endpoint, account, kind, subject }))
    .execute();
}

/** Keeps an event that an endpoint has refused to the end as a dead letter. */
export async function addDeadLetter(
  tx: Transaction,
  letter: Omit<Selectable<WebhookDeadLettersTable>, 'delivered_at'>,
): Promise<void> {
  await tx
    .insertInto('webhook_dead_letters')
    .values(letter)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Reads the events of an order, link or account between two ids, the second one with it, in their order. */
export async function eventsOfSubject(
  db: Database,
  query: {
    readonly account: string;
    readonly kind: SubjectKind;
    readonly subject: string;
    readonly afterId: number;
    readonly toId: number;
    readonly limit: number;
  },
): Promise<readonly EventRow[]> {
  return await db
    .selectFrom('events')
    .select(FEED_COLUMNS)
    .where('account', '=', query.account)
    .where('type', 'in', ROW_TYPES[query.kind])
    .where('subject', '=', query.subject)
    .where('id', '>', query.afterId)
    .where('id', '<=', query.toId)
    .orderBy(unindexed<number>('id'))
    .limit(sql.lit(query.limit))
    .execute();
}

/** Reads an event of an account by its id. */
export async function eventById(db: Database, account: string, id: number): Promise<EventRow | undefined> {
  return await db
    .selectFrom('events')
    .select(FEED_COLUMNS)
    .where((event) => event.and({ account, id }))
    .executeTakeFirst();
}

/** Deletes dead letters of an account that were resent and taken before a time, some at a time. Gives how many. */
export async function deleteDeliveredLetters(
  tx: Transaction,
  { account, before, limit }: { account: string; before: Date; limit: number },
): Promise<number> {
  const page = await tx
    .selectFrom('webhook_dead_letters')
    .select(['endpoint', 'event_id'])
    .where('account', '=', account)
    .where('delivered_at', '<', before.toISOString())
    .orderBy('delivered_at')
    .limit(limit)
    .execute();
  for (const { endpoint, event_id } of page) {
    await tx
      .deleteFrom('webhook_dead_letters')
      .where((letter) => letter.and({ endpoint, account, event_id }))
      .execute();
  }
  return page.length;
}

/** Notes that an endpoint has taken a dead letter, where the event is one. */
export async function deliverDeadLetter(
  tx: Transaction,
  { endpoint, account, eventId, now }: { endpoint: string; account: string; eventId: number; now: Date },
): Promise<void> {
  await tx
    .updateTable('webhook_dead_letters')
    .set({ delivered_at: now.toISOString() })
    .where((row) => row.and({ endpoint, account, event_id: eventId }))
    .where('delivered_at', 'is', null)
    .execute();
}

/** Reads what an endpoint has parked, the oldest first. */
export async function listParked(
  db: Database,
  { endpoint, limit }: { readonly endpoint: string; readonly limit: number },
): Promise<readonly ParkedRow[]> {
  return await db
    .selectFrom('webhook_parked')
    .selectAll()
    .where('endpoint', '=', endpoint)
    .orderBy('since')
    .limit(limit)
    .execute();
}

/** Reads the dead letters of an endpoint that it has not taken since, the oldest first. */
export async function listDeadLetters(
  db: Database,
  { endpoint, limit }: { readonly endpoint: string; readonly limit: number },
): Promise<readonly Selectable<WebhookDeadLettersTable>[]> {
  return await db
    .selectFrom('webhook_dead_letters')
    .selectAll()
    .where('endpoint', '=', endpoint)
    .where('delivered_at', 'is', null)
    .orderBy('at')
    .orderBy('account')
    .orderBy('event_id')
    .limit(limit)
    .execute();
}
