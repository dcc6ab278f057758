import { sql } from 'kysely';
import { indexedBy } from '../../../store/dialect.ts';
import type { Database, Transaction } from '../../../store/port.ts';
import { queries, statement } from '../../../store/statement.ts';
import { withWebhooks, type AccountRange, type WebhookEndpointsTable } from './tables.ts';

/** The id of the last event of an account that an endpoint has passed; 0 at the beginning. */
type WebhookCursor = Readonly<{ endpoint: string; account: string; eventId: number }>;

/** Notes a new endpoint, which gets only later events. An account without events needs no cursor. */
export async function registerEndpoint(tx: Transaction, name: string, now: Date): Promise<void> {
  const added = await withWebhooks(tx)
    .insertInto('webhook_endpoints')
    .values({ name, since: now.toISOString() })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (added.numInsertedOrUpdatedRows !== 1n) return;
  await sql`insert into webhook_cursors (endpoint, account, event_id) select ${name}, account, id from event_heads`.execute(
    tx,
  );
}

export async function accountsBehind(db: Database, { endpoint, from, to }: AccountRange) {
  const { rows } = await sql<{ account: string }>`select head.account from event_heads as head
    left join webhook_cursors as cursor on cursor.account = head.account and cursor.endpoint = ${endpoint}
    where head.account >= ${from} and head.account <= ${to} and head.id > coalesce(cursor.event_id, 0)
    order by head.account`.execute(db);
  return rows;
}

const cursorStatement = statement((v: { endpoint: string; account: string }) =>
  withWebhooks(queries)
    .selectFrom('webhook_cursors')
    .select('event_id')
    .where((cursor) => cursor.and({ endpoint: v.endpoint, account: v.account })),
);

export async function webhookCursor(db: Database, key: { endpoint: string; account: string }): Promise<number> {
  return (await cursorStatement(db, key)).rows[0]?.event_id ?? 0;
}

const moveStatement = statement((v: WebhookCursor) =>
  withWebhooks(queries)
    .insertInto('webhook_cursors')
    .values({ endpoint: v.endpoint, account: v.account, event_id: v.eventId })
    .onConflict((conflict) => conflict.columns(['endpoint', 'account']).doUpdateSet({ event_id: v.eventId })),
);

export async function moveWebhookCursor(tx: Transaction, cursor: WebhookCursor): Promise<void> {
  await moveStatement(tx, cursor);
}

/** Writes the state of an endpoint. If this process has delivered nothing, an earlier `failing_since` stays. */
export async function noteEndpoint(
  tx: Transaction,
  name: string,
  { failing_since: since = null, ...columns }: Partial<Omit<WebhookEndpointsTable, 'name' | 'since'>>,
): Promise<void> {
  const isNoted = since !== null && columns.taken_at === undefined;
  await withWebhooks(tx)
    .updateTable('webhook_endpoints')
    .set(columns)
    .set('failing_since', ({ fn }) => (isNoted ? fn.coalesce('failing_since', sql.val(since)) : sql.val(since)))
    .where('name', '=', name)
    .execute();
}

/** The most rows that are counted, and the most accounts with waiting events that are examined. */
const MOST_COUNTED = 10_000;
const MOST_LOOKED_AT = 1_000;

/** The times of the oldest events after the cursors of a receiver, with one index look-up an account. */
const AFTER_CURSORS = sql`select (select observed_at from events ${indexedBy('events_of_account')}
      where events.account = head.account and events.id > coalesce(cursor.event_id, 0)
      order by events.account, events.id limit 1) as at
    from event_heads as head
    left join webhook_cursors as cursor on cursor.account = head.account and cursor.endpoint = webhook_endpoints.name
    where head.id > coalesce(cursor.event_id, 0) limit ${sql.lit(MOST_LOOKED_AT)}`;
/** The time of the oldest event before a cursor that waits for the receiver to be back. */
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
