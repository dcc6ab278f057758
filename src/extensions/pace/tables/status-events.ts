import { sql } from 'kysely';
import { instantMs, readTime } from '../../../base/instant.ts';
import { CHANGE_FIELDS, type StatusEvent } from '../status.ts';
import type { Database } from '../../../store/port.ts';
import { literals, queries, statement } from '../../../store/statement.ts';

const FIELDS = literals(CHANGE_FIELDS);

/** Selects only changes that look-ups found. Otherwise the newest changes could all come from an import of orders. */
const changesOf = (account: string) =>
  sql`from events where account = ${account} and type = 'order' and source = 'lookup' and field in (${FIELDS})`;

const startStatement = statement(
  (v: { account: string; newest: number }) =>
    sql<{ id: number }>`select id ${changesOf(v.account)} order by account desc, id desc limit 1 offset ${v.newest}`,
);

const pageStatement = statement(
  (v: { account: string; afterId: number; limit: number }) =>
    sql<{ id: number; subject: string }>`select id, subject ${changesOf(v.account)} and id > ${v.afterId}
      order by account, id limit 0 + ${v.limit}`,
);

export async function beforeNewestChanges(db: Database, account: string, newest: number): Promise<number> {
  return (await startStatement(db, { account, newest })).rows[0]?.id ?? 0;
}

// The account is a condition too, because on PostgreSQL the key of events begins with the account.
const timeStatement = statement((v: { account: string; id: number }) =>
  queries.selectFrom('events').select('observed_at').where('account', '=', v.account).where('id', '=', v.id),
);

export async function changeTime(db: Database, account: string, id: number): Promise<Date | null> {
  return readTime((await timeStatement(db, { account, id })).rows[0]?.observed_at);
}

/** Reads up to `limit` changes that look-ups found after event `afterId`. Returns their number, orders and last id. */
export async function changedOrders(db: Database, query: { account: string; afterId: number; limit: number }) {
  const { rows } = await pageStatement(db, query);
  const externalOrderIds = [...new Set(rows.map(({ subject }) => subject))];
  return { externalOrderIds, changes: rows.length, lastId: rows.at(-1)?.id };
}

export const ORDERS_A_READ = 25;
/** The most events that are read of an order, from its newest event back. */
const EVENTS_OF_AN_ORDER = 200;

type Row = Pick<StatusEvent, 'id' | 'field' | 'oldValue' | 'newValue' | 'source'> &
  Readonly<{ subject: string; observedAt: string; lookedUpBefore: string | null; exchangeTime: string | null }>;

const newestOf = (account: unknown, id: unknown) =>
  sql`select * from (select id, subject, field, old_value as "oldValue", new_value as "newValue", observed_at as "observedAt", looked_up_before as "lookedUpBefore", exchange_time as "exchangeTime", source
    from events where account = ${account} and type = 'order' and subject = ${id}
    order by id desc limit ${sql.lit(EVENTS_OF_AN_ORDER)}) as newest where field in (${FIELDS})`;

/** Has a select with a limit for each order, because one select for all orders would read long histories completely. */
const eventsStatement = statement((v: Record<string, string | null>) => {
  const orders = Array.from({ length: ORDERS_A_READ }, (_, index) => newestOf(v['account'], v[`order ${index}`]));
  return sql<Row>`${sql.join(orders, sql` union all `)}`;
});

export async function statusEvents(db: Database, account: string, externalOrderIds: readonly string[]) {
  // Null fills the places without an order, because an event may have the empty id but never null.
  const ids = Array.from({ length: ORDERS_A_READ }, (_, index) => externalOrderIds[index] ?? null);
  const orders = Object.fromEntries(ids.map((id, index) => [`order ${index}`, id]));
  const { rows } = await eventsStatement(db, { account, ...orders });
  const byOrder = Map.groupBy(rows, ({ subject }) => subject);
  return [...byOrder.values()].map((events) => events.map(readTimes).toSorted((one, other) => one.id - other.id));
}

function readTimes({ observedAt, lookedUpBefore, exchangeTime, ...event }: Row): StatusEvent {
  return {
    ...event,
    observedAt: instantMs(observedAt) ?? Number.NaN,
    lookedUpBefore: instantMs(lookedUpBefore) ?? null,
    exchangeTime: instantMs(exchangeTime) ?? null,
  };
}
