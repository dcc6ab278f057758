import { sql } from 'kysely';
import { bytesOf, exactSum, textOf, unindexed } from '../dialect.ts';
import type { SummaryPart } from '../../reports/summary.ts';
import type { Store } from '../port.ts';
import { rowsAtOnce } from '../snapshot.ts';
import { queries } from '../statement.ts';
import type { OrderTime } from './reconciliation.ts';

/** So many orders are read at a time: no read holds the write-ahead log for long. */
const PAGE = 20_000;

/** What a line of the summary is of. */
const LINE = ['from_currency', 'to_currency', 'state', 'order_status', 'outcome', 'asset_position'] as const;

/** Selects rows by the time of their insertion or of their completion. */
export interface RowFilter {
  readonly account: string;
  /** Insertion unless given. */
  readonly by?: OrderTime | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

type Part = Omit<SummaryPart, 'account'>;

interface PagePart extends Omit<Part, 'asset' | 'unreadable'> {
  /** As `exact_sum` gives it. */
  readonly asset: string;
  /** Bytes: an id need not be text that can be read, and may be empty. */
  readonly last_id: Uint8Array;
}

/** Counts and sums every row that matches the filter, by what a line of the summary is of. */
export async function* summaryParts(store: Pick<Store, 'snapshot'>, filter: RowFilter): AsyncGenerator<SummaryPart> {
  const { account, by } = filter;
  const parts = by === 'completion' ? completedParts(store, filter) : insertedParts(store, filter);
  for await (const part of parts) yield { account, ...part };
}

/** Reads the orders by their ids, a page of rows at a time. */
async function* insertedParts(store: Pick<Store, 'snapshot'>, filter: RowFilter): AsyncGenerator<Part> {
  let last: Buffer | undefined;
  for (let read = PAGE; read === PAGE;) {
    read = 0;
    for (const { asset, last_id, ...part } of await readPage(store, filter, last)) {
      yield partOf(part, asset);
      read += part.orders;
      const id = Buffer.from(last_id);
      last = last === undefined || Buffer.compare(last, id) < 0 ? id : last;
    }
  }
}

async function readPage(store: Pick<Store, 'snapshot'>, { account, from, to }: RowFilter, last: Buffer | undefined) {
  // With the sign no index of ages is used: the orders are read by their ids, so that a page reads no more than itself.
  const createdAt = unindexed('created_at');
  let page = queries
    .selectFrom('merchant_orders')
    .select(['external_order_id', 'asset', ...LINE])
    .where('account', '=', account);
  if (last !== undefined) page = page.where('external_order_id', '>', textOf(last));
  if (from !== undefined) page = page.where(createdAt, '>=', from);
  if (to !== undefined) page = page.where(createdAt, '<', to);
  const parts = queries
    .selectFrom(page.orderBy('external_order_id').limit(PAGE).as('page'))
    .select((select) => [
      ...LINE,
      select.fn.countAll<number>().as('orders'),
      exactSum('asset').as('asset'),
      bytesOf(sql`max(external_order_id)`).as('last_id'),
    ])
    .groupBy(LINE);
  return await rowsAtOnce<PagePart>(store, parts);
}

/** Reads the orders of a period of the index of completions, at once: it has those orders alone. */
async function* completedParts(store: Pick<Store, 'snapshot'>, { account, from, to }: RowFilter): AsyncGenerator<Part> {
  const completed = queries
    .selectFrom('order_records as record')
    .innerJoin('merchant_orders', (join) =>
      join
        .onRef('merchant_orders.account', '=', 'record.account')
        .onRef('merchant_orders.external_order_id', '=', 'record.external_order_id'),
    )
    .where('record.account', '=', account)
    .where('record.completed_at', '>=', from ?? '');
  const within = to === undefined ? completed : completed.where('record.completed_at', '<', to);
  const columns = LINE.map((column) => `merchant_orders.${column}` as const);
  const parts = within
    .select((select) => [
      ...columns,
      select.fn.countAll<number>().as('orders'),
      exactSum('merchant_orders.asset').as('asset'),
    ])
    .groupBy(columns);
  for (const { asset, ...part } of await rowsAtOnce<Omit<PagePart, 'last_id'>>(store, parts)) yield partOf(part, asset);
}

function partOf(part: Omit<Part, 'asset' | 'unreadable'>, sum: string): Part {
  const [asset, unreadable] = JSON.parse(sum) as [string, number];
  return { ...part, asset, unreadable };
}
