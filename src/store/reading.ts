import type { OrderRow } from './orders.ts';
import type { Database } from './port.ts';

const PAGE = 1_000;

/** Which rows are read; times are compared with `created_at`. */
export interface RowFilter {
  readonly account: string;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The fields that the summary counts. */
export type SummaryRow = Pick<OrderRow, 'from_currency' | 'to_currency' | 'state' | 'order_status' | 'asset'>;

/** Every row that the filter lets through, a page at a time, so that no read stays open long. */
export async function* summaryRows(db: Database, filter: RowFilter): AsyncGenerator<SummaryRow> {
  // An order's id may be empty text; it is invalid, and counted.
  let fromId: string | undefined;
  for (;;) {
    let query = db
      .selectFrom('merchant_orders')
      .select(['external_order_id', 'from_currency', 'to_currency', 'state', 'order_status', 'asset'])
      .where('account', '=', filter.account)
      .orderBy('external_order_id')
      .limit(PAGE);
    if (fromId !== undefined) query = query.where('external_order_id', '>', fromId);
    if (filter.from !== undefined) query = query.where('created_at', '>=', filter.from);
    if (filter.to !== undefined) query = query.where('created_at', '<', filter.to);
    const page = await query.execute();
    yield* page;
    fromId = page.at(-1)?.external_order_id ?? fromId;
    if (page.length < PAGE) return;
  }
}

/** The newest rows, of one state or of all. */
export async function listOrders(
  db: Database,
  query: { account: string; state?: string | undefined; limit: number },
): Promise<OrderRow[]> {
  let rows = db.selectFrom('merchant_orders').selectAll().where('account', '=', query.account);
  if (query.state !== undefined) rows = rows.where('state', '=', query.state);
  return await rows.orderBy('created_at', 'desc').orderBy('external_order_id').limit(query.limit).execute();
}

/** The newest record or the pre-order of an order, as received; undefined when there is none. */
export async function receivedBody(
  db: Database,
  table: 'order_records' | 'pre_orders',
  account: string,
  externalOrderId: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom(table)
    .select('body')
    .where('account', '=', account)
    .where('external_order_id', '=', externalOrderId)
    .executeTakeFirst();
  return row?.body;
}
