import { sql } from 'kysely';
import type { ReceiverState } from '../../reports/status/status.ts';
import { indexedBy } from '../dialect.ts';
import type { Database } from '../port.ts';

/** Rows are counted, and accounts with events that wait are looked at, no further than this. */
const MOST_COUNTED = 10_000;
const MOST_LOOKED_AT = 1_000;

type Row = Omit<ReceiverState, 'parked' | 'deadLetters'> & Record<'parked' | 'deadLetters', number | bigint>;

/** The times of the oldest events after the cursors of a receiver: one look into an index an account. */
const AFTER_CURSORS = sql`select (select observed_at from events ${indexedBy('events_of_account')}
      where events.account = head.account and events.id > coalesce(cursor.event_id, 0)
      order by events.account, events.id limit 1) as at
    from event_heads as head
    left join webhook_cursors as cursor on cursor.account = head.account and cursor.endpoint = webhook_endpoints.name
    where head.id > coalesce(cursor.event_id, 0) limit ${sql.lit(MOST_LOOKED_AT)}`;
/** The time of the oldest event before a cursor that waits for the receiver to be back. */
const WAITING = sql`select min(since) as at from webhook_deliveries
    where webhook_deliveries.endpoint = webhook_endpoints.name and status = 'waiting'`;

/** The rows of a receiver with a status, as far as they are counted. */
const withStatus = (status: 'retrying' | 'dead') => sql`select 1 as found from webhook_deliveries
    where webhook_deliveries.endpoint = webhook_endpoints.name and status = ${sql.lit(status)} limit ${sql.lit(MOST_COUNTED)}`;

/** Reads how receivers of events do, in one statement and in the order of the settings: metrics, dashboard and commands have it from here. */
export async function readWebhooks(
  db: Database,
  endpoints: readonly { readonly name: string }[],
): Promise<readonly ReceiverState[]> {
  if (endpoints.length === 0) return [];
  const names = endpoints.map(({ name }) => name);
  const { rows } = await sql<Row>`
    select name, taken_at as "takenAt", failing_since as "failingSince", next_try_at as "nextTryAt", cause,
      (select min(at) from (select at from (${AFTER_CURSORS}) as after_cursors union all ${WAITING}) as waiting) as "oldestWaiting",
      (select count(*) from (${withStatus('retrying')}) as retrying) as parked,
      (select count(*) from (${withStatus('dead')}) as dead) as "deadLetters"
    from webhook_endpoints where name in (${sql.join(names)})`.execute(db);
  return names.map((name) => {
    const row = rows.find((one) => one.name === name);
    if (row === undefined) return { name, ...NEVER_DRIVEN };
    return { ...row, parked: Number(row.parked), deadLetters: Number(row.deadLetters) };
  });
}

/** No daemon has been started with it. */
const NEVER_DRIVEN = {
  takenAt: null,
  failingSince: null,
  nextTryAt: null,
  cause: null,
  oldestWaiting: null,
  parked: 0,
  deadLetters: 0,
} as const satisfies Omit<ReceiverState, 'name'>;
