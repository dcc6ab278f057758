import { sql } from 'kysely';
import { instantMs, readTime } from '../../../base/instant.ts';
import { CHANGE_FIELDS } from '../status.ts';
import type { Database } from '../../../store/port.ts';
import { queries, statement } from '../../../store/statement.ts';

const CHANGES = CHANGE_FIELDS.map((field) => sql.lit(field));

/** Selects changes by look-ups only, so that an import of 20,000 orders does not hide how long orders stay. */
const changes = (account: string) =>
  queries
    .selectFrom('events')
    .where('account', '=', account)
    .where('type', '=', sql.lit('order'))
    .where('source', '=', sql.lit('lookup'))
    .where('field', 'in', CHANGES);

const startStatement = statement((v: { account: string; newest: number }) =>
  changes(v.account).select('id').orderBy('account', 'desc').orderBy('id', 'desc').limit(1).offset(v.newest),
);

const pageStatement = statement((v: { account: string; afterId: number; limit: number }) =>
  changes(v.account)
    .select(['id', 'subject'])
    .where('id', '>', v.afterId)
    .orderBy('account')
    .orderBy('id')
    .limit(v.limit),
);

export async function beforeNewestChanges(db: Database, account: string, newest: number): Promise<number> {
  return (await startStatement(db, { account, newest })).rows[0]?.id ?? 0;
}

// Selected by the account too, because on PostgreSQL no other index finds an event by its id.
const timeStatement = statement((v: { account: string; id: number }) =>
  queries.selectFrom('events').select('observed_at').where('account', '=', v.account).where('id', '=', v.id),
);

export async function changeTime(db: Database, account: string, id: number): Promise<Date | null> {
  return readTime((await timeStatement(db, { account, id })).rows[0]?.observed_at);
}

/** Reads up to `limit` changes of state or status by look-ups after an event: their number, orders and last id. */
export async function changedOrders(
  db: Database,
  query: { account: string; afterId: number; limit: number },
): Promise<{
  readonly externalOrderIds: readonly string[];
  readonly changes: number;
  readonly lastId: number | undefined;
}> {
  const { rows } = await pageStatement(db, query);
  const externalOrderIds = [...new Set(rows.map(({ subject }) => subject))];
  return { externalOrderIds, changes: rows.length, lastId: rows.at(-1)?.id };
}

export const ORDERS_A_READ = 25;
/** Of a longer history only the newest events are read. */
const EVENTS_OF_AN_ORDER = 200;

const COLUMNS = ['id', 'subject', 'field', 'old_value', 'new_value', 'observed_at'] as const;
const MORE_COLUMNS = ['looked_up_before', 'exchange_time', 'source'] as const;

/** Reads a range of the index for each order, because a list of orders would read a long history completely. */
const eventsStatement = statement((v: Record<string, string | null>) => {
  const orders = Array.from({ length: ORDERS_A_READ }, (_, index) =>
    queries
      .selectFrom(
        queries
          .selectFrom('events')
          .select([...COLUMNS, ...MORE_COLUMNS])
          .where('account', '=', v['account'] as string)
          .where('type', '=', sql.lit('order'))
          .where('subject', '=', v[`order ${index}`] as string)
          .orderBy('id', 'desc')
          .limit(sql.lit(EVENTS_OF_AN_ORDER))
          .as('newest'),
      )
      .selectAll()
      .where('field', 'in', CHANGES),
  );
  const [first, ...rest] = orders;
  if (first === undefined) throw new Error('a read is of some orders');
  return rest.reduce((all, one) => all.unionAll(one), first);
});

export async function statusEvents(db: Database, account: string, externalOrderIds: readonly string[]) {
  // Missing ids are null, because an event may have the empty id but never null.
  const ids = Array.from({ length: ORDERS_A_READ }, (_, index) => externalOrderIds[index] ?? null);
  const orders = Object.fromEntries(ids.map((id, index) => [`order ${index}`, id]));
  const { rows } = await eventsStatement(db, { account, ...orders });
  const byOrder = Map.groupBy(rows, ({ subject }) => subject);
  return [...byOrder.values()].map((events) =>
    events
      .map((row) => ({
        id: row.id,
        field: row.field,
        oldValue: row.old_value,
        newValue: row.new_value,
        observedAt: instantMs(row.observed_at) ?? Number.NaN,
        lookedUpBefore: instantMs(row.looked_up_before) ?? null,
        exchangeTime: instantMs(row.exchange_time) ?? null,
        source: row.source,
      }))
      .toSorted((one, other) => one.id - other.id),
  );
}
