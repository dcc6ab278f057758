import { sql } from 'kysely';
import type { SummaryPart } from '../../reports/summary.ts';
import type { Store } from '../port.ts';
import { queries } from '../statement.ts';

/** So many orders are read at a time: no read holds the write-ahead log for long. */
const PAGE = 20_000;

/** What a line of the summary is of. */
const LINE = ['from_currency', 'to_currency', 'state', 'order_status', 'outcome', 'asset_position'] as const;

/** Selects rows; times are compared with `created_at`. */
export interface RowFilter {
  readonly account: string;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

interface PagePart extends Omit<SummaryPart, 'asset' | 'unreadable'> {
  /** As `exact_sum` gives it. */
  readonly asset: string;
  /** Bytes: an id need not be text that can be read, and may be empty. */
  readonly last_id: Uint8Array;
}

/** Counts and sums every row that matches the filter, by what a line of the summary is of, a page of rows at a time. */
export function* summaryParts(store: Pick<Store, 'snapshot'>, filter: RowFilter): Generator<SummaryPart> {
  let last: Buffer | undefined;
  for (let read = PAGE; read === PAGE;) {
    read = 0;
    for (const { asset, last_id, ...part } of readPage(store, filter, last)) {
      const [sum, unreadable] = JSON.parse(asset) as [string, number];
      yield { ...part, asset: sum, unreadable };
      read += part.orders;
      const id = Buffer.from(last_id);
      last = last === undefined || Buffer.compare(last, id) < 0 ? id : last;
    }
  }
}

function readPage(store: Pick<Store, 'snapshot'>, { account, from, to }: RowFilter, last: Buffer | undefined) {
  // With the sign no index of ages is used: the orders are read by their ids, so that a page reads no more than itself.
  const createdAt = sql<string>`+created_at`;
  let page = queries
    .selectFrom('merchant_orders')
    .select(['external_order_id', 'asset', ...LINE])
    .where('account', '=', account);
  if (last !== undefined) page = page.where('external_order_id', '>', sql<string>`cast(${last} as text)`);
  if (from !== undefined) page = page.where(createdAt, '>=', from);
  if (to !== undefined) page = page.where(createdAt, '<', to);
  const parts = queries
    .selectFrom(page.orderBy('external_order_id').limit(PAGE).as('page'))
    .select((select) => [
      ...LINE,
      select.fn.countAll<number>().as('orders'),
      sql<string>`exact_sum(asset)`.as('asset'),
      sql<Uint8Array>`cast(max(external_order_id) as blob)`.as('last_id'),
    ])
    .groupBy(LINE);
  using snapshot = store.snapshot();
  return [...snapshot.rows<PagePart>(parts)];
}
