import type { OrderRow } from '../order-columns.ts';
import type { Database } from '../port.ts';

const PAGE = 1_000;

/** Selects rows; times are compared with `created_at`. */
export interface RowFilter {
  readonly account: string;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The fields that the summary counts. */
export type SummaryRow = Pick<OrderRow, 'from_currency' | 'to_currency' | 'state' | 'order_status' | 'asset'>;

/** Reads every row that matches the filter, a page at a time, so that no read stays open long. */
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
