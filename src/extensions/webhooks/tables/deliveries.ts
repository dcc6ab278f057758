import { sql, type SqlBool } from 'kysely';
import { AT_ONCE, type Delivery } from '../delivery.ts';
import { ROW_TYPES, type EventRow, type SubjectKind } from '../../feed/event.ts';
import { eventsOf, FEED_COLUMNS, type FeedQuery } from '../../feed/tables/events.ts';
import type { PurgeQuery } from '../../commands/purges.ts';
import type { Database, Transaction } from '../../../store/port.ts';
import { statement } from '../../../store/statement.ts';
import type { AccountRange, Key } from './endpoints.ts';

const KIND_OF_EVENT = sql<SubjectKind>`case when events.type in (${sql.join(ROW_TYPES.link.map((type) => sql.lit(type)))})
  then 'link' when events.type = 'account' then 'account' else 'order' end`;

const pageStatement = statement((v: FeedQuery & Pick<Key, 'endpoint'>) => {
  const isBehind = sql<SqlBool>`exists (select 1 from webhook_deliveries as earlier
    where earlier.account = events.account and earlier.endpoint = ${v.endpoint} and earlier.kind = ${KIND_OF_EVENT}
      and earlier.subject = events.subject and earlier.status in ('waiting', 'retrying'))`;
  return eventsOf(v, 'asc').where('id', '>', v.afterId).select(isBehind.as('isBehind'));
});

/** An event after the cursor. `isBehind`: an earlier event of the same order, link or account waits or is retried. */
export type EventInTurn = EventRow & { readonly isBehind: SqlBool };

export async function eventsAfterCursor(db: Database, query: FeedQuery & Pick<Key, 'endpoint'>) {
  return (await pageStatement(db, query)).rows;
}

export type DueDelivery = Readonly<{ delivery: Delivery; event: EventRow }>;

/** Reads the rows of an account that are due at an endpoint, one for each subject, the earliest due time first. */
export async function dueDeliveries(db: Database, query: Key & { readonly now: Date; readonly limit: number }) {
  const { endpoint, account, now, limit } = query;
  // Among equal due times, the latest failure comes last. `coalesce`: SQLite and PostgreSQL order nulls differently.
  const { rows: due } = await sql<Delivery>`select * from webhook_deliveries
    where account = ${account} and endpoint = ${endpoint} and next_attempt_at <= ${now.toISOString()}
    order by next_attempt_at, coalesce(failed_at, '') limit ${limit}`.execute(db);
  if (due.length === 0) return [];
  const ids = due.map(({ event_id }) => event_id);
  const ofAccount = db.selectFrom('events').select(FEED_COLUMNS).where('account', '=', account);
  const events = await ofAccount.where('id', 'in', ids).execute();
  const byId = new Map(events.map((event) => [event.id, event]));
  return due.flatMap((delivery): DueDelivery[] => {
    const event = byId.get(delivery.event_id);
    return event === undefined ? [] : [{ delivery, event }];
  });
}

/** Reads when the next row of each account is due at an endpoint. */
export async function nextAttempts(db: Database, { endpoint, from, to }: AccountRange) {
  const { rows } = await sql<{ account: string; at: string }>`select account, min(next_attempt_at) as at
    from webhook_deliveries where account >= ${from} and account <= ${to} and endpoint = ${endpoint}
      and next_attempt_at is not null group by account`.execute(db);
  return new Map(rows.map(({ account, at }) => [account, at]));
}

/** Counts the events that are retried at an endpoint, at most one for each subject, up to `limit`. */
export async function countRetrying(db: Database, endpoint: string, limit: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from (select 1 from webhook_deliveries
    where endpoint = ${endpoint} and status = 'retrying' limit ${limit}) as retrying`.execute(db);
  return rows[0]?.count ?? 0;
}

export interface DeliveryChanges {
  /** New rows, and rows whose events were sent and not accepted. */
  readonly kept: readonly Delivery[];
  /** Rows whose events were accepted, or are not wanted any more. */
  readonly ended: readonly Delivery[];
  /** Rows that ended or became dead letters. The next event of the same subject becomes due. */
  readonly followed: readonly Delivery[];
}

export async function writeDeliveries(tx: Transaction, { kept, ended, followed }: DeliveryChanges): Promise<void> {
  for (const { endpoint, account, event_id } of ended) {
    await sql`delete from webhook_deliveries
      where account = ${account} and endpoint = ${endpoint} and event_id = ${event_id}`.execute(tx);
  }
  for (const delivery of kept) {
    await tx
      .withTables<{ webhook_deliveries: Delivery }>()
      .insertInto('webhook_deliveries')
      .values(delivery)
      .onConflict((conflict) => conflict.columns(['account', 'endpoint', 'event_id']).doUpdateSet(delivery))
      .execute();
  }
  for (const { endpoint, account, kind, subject } of followed) {
    const next = sql`select min(event_id) from webhook_deliveries where account = ${account} and endpoint = ${endpoint}
      and kind = ${kind} and subject = ${subject} and status = 'behind'`;
    await sql`update webhook_deliveries set status = 'waiting', next_attempt_at = ${AT_ONCE}
      where account = ${account} and endpoint = ${endpoint} and event_id = (${next})`.execute(tx);
  }
}

/** Makes retried events due now, and counts their attempts from 0 again. */
export async function retryAtOnce(tx: Transaction, query: Key & Readonly<{ ids: readonly number[]; now: Date }>) {
  const { endpoint, account, ids, now } = query;
  await sql`update webhook_deliveries set attempts = 0, next_attempt_at = ${now.toISOString()}
    where account = ${account} and endpoint = ${endpoint} and event_id in (${sql.join(ids)})
      and status = 'retrying'`.execute(tx);
}

type ListQuery = Readonly<{ endpoint: string; status: 'retrying' | 'dead'; limit: number }>;

export async function listDeliveries(db: Database, { endpoint, status, limit }: ListQuery) {
  const { rows } = await sql<Delivery>`select * from webhook_deliveries
    where endpoint = ${endpoint} and status = ${status}
    order by since, account, event_id limit ${limit}`.execute(db);
  return rows;
}

export async function deliverDeadLetter(tx: Transaction, letter: Key & Readonly<{ eventId: number; now: Date }>) {
  const { endpoint, account, eventId, now } = letter;
  await sql`update webhook_deliveries set status = 'delivered', since = ${now.toISOString()}
    where account = ${account} and endpoint = ${endpoint} and event_id = ${eventId} and status = 'dead'`.execute(tx);
}

/** Deletes up to `limit` dead letters of an account that were resent and accepted before a time. Returns the number. */
export async function deleteDelivered(tx: Transaction, { account, before, limit }: PurgeQuery): Promise<number> {
  const { rows } = await sql<Pick<Delivery, 'endpoint' | 'event_id'>>`select endpoint, event_id from webhook_deliveries
    where account = ${account} and status = 'delivered' and since < ${before.toISOString()}
    order by since limit ${limit}`.execute(tx);
  // Deletes each row by its key, because for keys from a subquery PostgreSQL would read the whole table.
  for (const { endpoint, event_id } of rows)
    await sql`delete from webhook_deliveries
      where endpoint = ${endpoint} and account = ${account} and event_id = ${event_id}`.execute(tx);
  return rows.length;
}
