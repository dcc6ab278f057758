import { sql } from 'kysely';
import { isInPeriod } from '../../operate/tables/listed.ts';
import type { OldestOrder, Ages } from '../ageing.ts';
import type { SummaryPart } from '../summary.ts';
import { allOf, bytesOf, exactSum, textOf, unindexed, type Query } from '../../../store/dialect.ts';
import { pagesAfter, rowsAtOnce } from '../../../store/pages.ts';
import type { Store } from '../../../store/port.ts';
import type { ReportScope } from './reconciliation.ts';

const PAGE = 20_000;

const LINE = ['from_currency', 'to_currency', 'state', 'order_status', 'outcome', 'asset_position'] as const;

export type RowFilter = Omit<ReportScope, 'asOf' | 'ignore'>;

type Part = Omit<SummaryPart, 'account'>;
type LinePart = Omit<Part, 'unreadable'>;

export async function* summaryParts(store: Pick<Store, 'snapshot'>, filter: RowFilter): AsyncGenerator<SummaryPart> {
  const { account, by } = filter;
  const parts = by === 'completion' ? completedParts(store, filter) : insertedParts(store, filter);
  for await (const part of parts) yield { account, ...part };
}

async function* insertedParts(store: Pick<Store, 'snapshot'>, { account, from, to }: RowFilter): AsyncGenerator<Part> {
  const line = sql.join(LINE.map((column) => sql.ref(column)));
  let last: Buffer | undefined;
  for (let read = PAGE; read === PAGE;) {
    read = 0;
    const conditions = allOf(
      sql`account = ${account}`,
      last === undefined ? undefined : sql`external_order_id > ${textOf(last)}`,
      // With the index of `created_at`, SQLite would read and sort the whole period for each page.
      isInPeriod(unindexed('created_at'), from, to),
    );
    const parts = sql<LinePart & { readonly last_id: Uint8Array }>`select ${line}, count(*) as orders,
        ${exactSum('asset')} as asset, ${bytesOf(sql`max(external_order_id)`)} as last_id
      from (select external_order_id, asset, ${line} from merchant_orders where ${conditions}
        order by external_order_id limit ${PAGE}) as page
      group by ${line}`;
    for (const { asset, last_id, ...part } of await rowsAtOnce(store, parts)) {
      yield partOf(part, asset);
      read += part.orders;
      const id = Buffer.from(last_id);
      last = last === undefined || Buffer.compare(last, id) < 0 ? id : last;
    }
  }
}

/** Reads the period in one query, because the index of `completed_at` finds only orders of the period. */
async function* completedParts(store: Pick<Store, 'snapshot'>, { account, from, to }: RowFilter): AsyncGenerator<Part> {
  const line = sql.join(LINE.map((column) => sql.ref(`o.${column}`)));
  const at = sql.ref('record.completed_at');
  const parts = sql<LinePart>`select ${line}, count(*) as orders, ${exactSum('o.asset')} as asset
    from order_records record
    join merchant_orders o on o.account = record.account and o.external_order_id = record.external_order_id
    where record.account = ${account} and ${allOf(isInPeriod(at, from ?? '', to))} group by ${line}`;
  for (const { asset, ...part } of await rowsAtOnce(store, parts)) yield partOf(part, asset);
}

/** `sum` is the JSON of `exactSum`: `[sum, number of unreadable amounts]`. */
export function partOf<Line>(part: Line & { readonly state?: string | null; readonly orders?: number }, sum: string) {
  const [asset, unreadable] = JSON.parse(sum) as [string, number];
  // Invalid rows are in no sum, because their amounts may be below zero.
  if (part.state === 'invalid') return { ...part, asset: '0', unreadable: part.orders ?? unreadable };
  return { ...part, asset, unreadable };
}

export type AgeingScope = Pick<ReportScope, 'account' | 'from' | 'to' | 'asOf'>;

export async function readAges(store: Pick<Store, 'snapshot'>, scope: AgeingScope, ages: Ages): Promise<void> {
  const pages = pagesAfter<OldestOrder>(PAGE, (last) => rowsAtOnce(store, agesPage(scope, last?.id)));
  for await (const page of pages) for (const order of page) ages.add(order);
}

/**
 * Reads the state and status that each order had at `asOf`: from the row if unchanged since, else from the events.
 * `since` is the time of the newest event of either, else `created_at`. A row of revision 0 has no events of its own.
 */
function agesPage({ account, from, to, asOf }: AgeingScope, last: string | undefined): Query<OldestOrder> {
  const createdAt = unindexed('o.created_at');
  const isAsItWas = sql`o.updated_at <= ${asOf}`;
  const newest = (column: 'new_value' | 'observed_at', ...fields: readonly string[]) =>
    sql`(select ${sql.ref(`e.${column}`)} from order_events e
      where e.account = o.account and e.external_order_id = o.external_order_id and e.observed_at <= ${asOf}
        and o.revision > 0 and e.field in (${sql.join(fields)}) order by e.id desc limit 1)`;
  const conditions = allOf(
    sql`o.account = ${account} and ${createdAt} <= ${asOf}`,
    // An id may be an empty text, so only `undefined` means the first page.
    last === undefined ? undefined : sql`o.external_order_id > ${last}`,
    isInPeriod(createdAt, from, to),
  );
  return sql<OldestOrder>`select o.account, o.external_order_id as id,
      coalesce(o.from_currency, '?') || '/' || coalesce(o.to_currency, '?') as pair,
      case when ${isAsItWas} then o.state else coalesce(${newest('new_value', 'state')}, 'pending') end as state,
      case when ${isAsItWas} then o.order_status else ${newest('new_value', 'order.status')} end as status,
      coalesce(${newest('observed_at', 'state', 'order.status')}, o.created_at) as since
    from merchant_orders o where ${conditions} order by o.external_order_id limit ${PAGE}`;
}
