import type { Selectable } from 'kysely';
import { unindexed } from '../../../store/dialect.ts';
import type { Database } from '../../../store/port.ts';
import type { OrderEventsView } from '../../../store/schema.ts';
import type { ReportScope } from '../../documents/sections.ts';

export type Change = Selectable<OrderEventsView>;

/** The most events of one read, because the write-ahead log grows during a long read. */
const PAGE = 500;
/** One read searches at most this number of ids, because most of them may belong to other accounts. */
const MOST_IDS_A_READ = 50_000;

export type ChangesScope = ReportScope & { readonly lastId: number };

export async function* changesOf(db: Database, scope: ChangesScope): AsyncGenerator<Change> {
  const { account, from, to, lastId } = scope;
  for (let before = 0, ids = PAGE; before < lastId;) {
    const upTo = Math.min(before + ids, lastId);
    let events = db.selectFrom('order_events').selectAll().where('id', '>', before).where('id', '<=', upTo);
    // `unindexed` keeps SQLite from an index by account, so that events are read in the order of their ids.
    if (account !== undefined) events = events.where(unindexed('account'), '=', account);
    if (from !== undefined) events = events.where('observed_at', '>=', from);
    if (to !== undefined) events = events.where('observed_at', '<', to);
    const page = await events.orderBy('id').limit(PAGE).execute();
    yield* page;
    const isFull = page.length === PAGE;
    before = isFull ? (page.at(-1)?.id ?? upTo) : upTo;
    if (!isFull) ids = Math.min(2 * ids, MOST_IDS_A_READ);
  }
}
