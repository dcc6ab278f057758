import { sql } from 'kysely';
import { indexedBy } from '../../../store/dialect.ts';
import type { Database, Transaction } from '../../../store/port.ts';
import { statement } from '../../../store/statement.ts';
import type { EndpointFacts } from '../condition.ts';

export type Key = Readonly<{ endpoint: string; account: string }>;

export type AccountRange = Readonly<{ endpoint: string; from: string; to: string }>;

/** Adds an endpoint, unless it is known. It receives only later events, so its cursors begin at the newest events. */
export async function registerEndpoint(tx: Transaction, name: string, now: Date): Promise<void> {
  const added = await sql`insert into webhook_endpoints (name, since) values (${name}, ${now.toISOString()})
    on conflict do nothing`.execute(tx);
  if (added.numAffectedRows !== 1n) return;
  await sql`insert into webhook_cursors (endpoint, account, event_id)
    select ${name}, account, id from event_heads`.execute(tx);
}

export async function accountsBehind(db: Database, { endpoint, from, to }: AccountRange) {
  const { rows } = await sql<{ account: string }>`select head.account from event_heads as head
    left join webhook_cursors as cursor on cursor.account = head.account and cursor.endpoint = ${endpoint}
    where head.account >= ${from} and head.account <= ${to} and head.id > coalesce(cursor.event_id, 0)
    order by head.account`.execute(db);
  return rows;
}

const cursorStatement = statement(
  (v: Key) => sql<{ id: number }>`select event_id as id from webhook_cursors
    where endpoint = ${v.endpoint} and account = ${v.account}`,
);

/** Reads the id of the last event of an account that the endpoint's cursor has passed; 0 at the beginning. */
export async function webhookCursor(db: Database, key: Key): Promise<number> {
  return (await cursorStatement(db, key)).rows[0]?.id ?? 0;
}

const moveStatement = statement(
  (v: Key & { readonly eventId: number }) => sql`insert into webhook_cursors (endpoint, account, event_id)
    values (${v.endpoint}, ${v.account}, ${v.eventId})
    on conflict (endpoint, account) do update set event_id = excluded.event_id`,
);

export async function moveWebhookCursor(tx: Transaction, cursor: Key & { readonly eventId: number }): Promise<void> {
  await moveStatement(tx, cursor);
}

/** Writes an endpoint's state. If the endpoint accepted no event in this process, an earlier `failing_since` stays. */
export async function noteEndpoint(tx: Transaction, name: string, { takenAt, failedAt, failing }: EndpointFacts) {
  const timeOf = (date: Date | null | undefined) => date?.toISOString() ?? null;
  const since = timeOf(failing?.since);
  await sql`update webhook_endpoints set taken_at = coalesce(${timeOf(takenAt)}, taken_at),
    failed_at = coalesce(${timeOf(failedAt)}, failed_at),
    failing_since = ${since !== null && takenAt === null ? sql`coalesce(failing_since, ${since})` : since},
    next_try_at = ${timeOf(failing?.nextTryAt)}, cause = ${failing?.cause ?? null} where name = ${name}`.execute(tx);
}

/** The most rows that are counted, and the most accounts with waiting events that are examined. */
const MOST_COUNTED = 10_000;
const MOST_LOOKED_AT = 1_000;

/** For each account: the time of the oldest event after the receiver's cursor, by one index look-up. */
const AFTER_CURSORS = sql`select (select observed_at from events ${indexedBy('events_of_account')}
      where events.account = head.account and events.id > coalesce(cursor.event_id, 0)
      order by events.account, events.id limit 1) as at
    from event_heads as head
    left join webhook_cursors as cursor on cursor.account = head.account and cursor.endpoint = webhook_endpoints.name
    where head.id > coalesce(cursor.event_id, 0) limit ${sql.lit(MOST_LOOKED_AT)}`;
const WAITING = sql`select min(since) as at from webhook_deliveries
    where webhook_deliveries.endpoint = webhook_endpoints.name and status = 'waiting'`;

const withStatus = (status: 'retrying' | 'dead') => sql`select 1 as found from webhook_deliveries
    where webhook_deliveries.endpoint = webhook_endpoints.name and status = ${sql.lit(status)} limit ${sql.lit(MOST_COUNTED)}`;

type Times = Record<'takenAt' | 'failingSince' | 'nextTryAt' | 'cause' | 'oldestWaiting', string | null>;

export type WebhookState = Readonly<Times & { name: string; parked: number; deadLetters: number }>;

const NO_TIMES: Times = { takenAt: null, failingSince: null, nextTryAt: null, cause: null, oldestWaiting: null };

export async function readWebhooks(db: Database, endpoints: readonly { readonly name: string }[]) {
  if (endpoints.length === 0) return [];
  const names = endpoints.map(({ name }) => name);
  const { rows } = await sql<WebhookState>`
    select name, taken_at as "takenAt", failing_since as "failingSince", next_try_at as "nextTryAt", cause,
      (select min(at) from (select at from (${AFTER_CURSORS}) as after_cursors union all ${WAITING}) as waiting) as "oldestWaiting",
      (select count(*) from (${withStatus('retrying')}) as retrying) as parked,
      (select count(*) from (${withStatus('dead')}) as dead) as "deadLetters"
    from webhook_endpoints where name in (${sql.join(names)})`.execute(db);
  return names.map((name) => rows.find((row) => row.name === name) ?? { name, ...NO_TIMES, parked: 0, deadLetters: 0 });
}
