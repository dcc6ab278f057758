import { sql, type RawBuilder, type SqlBool } from 'kysely';
import type { OrderRow } from '../../../store/orders/order-columns.ts';
import { allOf, bytesOf, indexedBy, textOf, unindexed } from '../../../store/dialect.ts';
import type { Database } from '../../../store/port.ts';
import type { Outcome } from '../reconciliation/rows.ts';

const PAGE = 200;

export interface ExportFilter {
  readonly account: string;
  readonly by: keyof typeof SOURCES;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly pair?: { readonly from: string; readonly to: string } | undefined;
  readonly state?: string | undefined;
  readonly outcome?: Outcome | undefined;
}

export interface ExportedRow extends OrderRow {
  readonly pre_order_body: string | null;
  readonly record_body: string | null;
}

/** `id` is bytes, because the bytes of an id may be no valid text. */
type Place = { readonly at: string; readonly id: Uint8Array };

/** Yields the earliest orders first. By completion, orders without a readable completion date are left out. */
export async function* exportedOrders(db: Database, filter: ExportFilter): AsyncGenerator<ExportedRow> {
  const { from = '', by } = filter;
  const { at, table } = SOURCES[by];
  const id = sql.ref<string>(`${table}.external_order_id`);
  let range = sql<SqlBool>`${at} >= ${from}`;
  let time: string | undefined;
  for (;;) {
    const page = await readPage(db, filter, range);
    for (const { at: _at, id: _id, ...row } of page) yield row;
    const last = page.at(-1);
    if (page.length === PAGE && last !== undefined) {
      // Orders of the same time are read separately: a condition on time and id would search the index by time only.
      range = sql`${at} = ${last.at} and ${id} > ${textOf(last.id)}`;
      time = last.at;
    } else if (time !== undefined) {
      range = sql`${at} > ${time}`;
      time = undefined;
    } else return;
  }
}

async function readPage(db: Database, filter: ExportFilter, range: RawBuilder<SqlBool>) {
  const { account, by, to } = filter;
  const { at, table, rows: tables } = SOURCES[by];
  const [ofAccount, id] = [sql.ref(`${table}.account`), sql.ref<string>(`${table}.external_order_id`)];
  const until = to === undefined ? undefined : sql<SqlBool>`${at} < ${to}`;
  const conditions = allOf(sql`${ofAccount} = ${account}`, range, until, ofOrder(filter));
  const { rows } = await sql<ExportedRow & Place>`
    select o.*, p.body as pre_order_body, r.body as record_body, ${at} as at, ${bytesOf(id)} as id
    from ${tables} left join pre_orders p on p.account = o.account and p.external_order_id = o.external_order_id
    where ${conditions} order by ${at}, ${id} limit ${PAGE}`.execute(db);
  return rows;
}

const SOURCES = {
  insertion: {
    at: sql.ref('o.created_at'),
    table: 'o',
    // Without `indexedBy`, SQLite would search orders of one time by the primary key, and read all later ids.
    rows: sql`merchant_orders o ${indexedBy('merchant_orders_by_age')}
      left join order_records r on r.account = o.account and r.external_order_id = o.external_order_id`,
  },
  completion: {
    at: sql.ref('r.completed_at'),
    table: 'r',
    rows: sql`order_records r
      join merchant_orders o on o.account = r.account and o.external_order_id = r.external_order_id`,
  },
} as const;

function ofOrder({ pair, state, outcome }: ExportFilter): RawBuilder<SqlBool> {
  const stateIs = (name: string) => sql<SqlBool>`${unindexed('o.state')} = ${name}`;
  const ended = outcome === 'outcome_unknown' ? sql<SqlBool>`o.outcome is null` : sql<SqlBool>`o.outcome = ${outcome}`;
  return allOf(
    pair === undefined ? undefined : sql`o.from_currency = ${pair.from} and o.to_currency = ${pair.to}`,
    state === undefined ? undefined : stateIs(state),
    outcome === undefined ? undefined : outcome === 'open' ? stateIs('open') : allOf(stateIs('final'), ended),
  );
}
