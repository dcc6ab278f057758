import type { Selectable } from 'kysely';
import { unindexed } from '../dialect.ts';
import type { Database } from '../port.ts';
import type { OrderEventsView } from '../schema.ts';

/** So many events are read at a time: no read holds the write-ahead log for long. */
const PAGE = 500;
/** The ids that a read looks through: most may be those of other accounts. */
const MOST_IDS_A_READ = 50_000;

/** Selects events: observed at or after `from` and before `to`, and recorded up to `lastId`. */
export interface ChangesScope {
  /** Of all accounts where none is named. */
  readonly account: string | undefined;
  readonly from: string | null;
  readonly to: string | null;
  readonly lastId: number;
}

/** A line of the history. */
export type ChangeRow = Selectable<OrderEventsView>;

/** Reads the events of a period in the order in which they were recorded, some at a time. */
export async function* changesOf(db: Database, scope: ChangesScope): AsyncGenerator<ChangeRow> {
  const { account, from, to, lastId } = scope;
  for (let before = 0, ids = PAGE; before < lastId;) {
    const upTo = Math.min(before + ids, lastId);
    let events = db.selectFrom('order_events').selectAll().where('id', '>', before).where('id', '<=', upTo);
    // With the sign no index of accounts is used: the events are read in the order in which they stand.
    if (account !== undefined) events = events.where(unindexed('account'), '=', account);
    if (from !== null) events = events.where('observed_at', '>=', from);
    if (to !== null) events = events.where('observed_at', '<', to);
    const page = await events.orderBy('id').limit(PAGE).execute();
    yield* page;
    const isFull = page.length === PAGE;
    before = isFull ? (page.at(-1)?.id ?? upTo) : upTo;
    if (!isFull) ids = Math.min(2 * ids, MOST_IDS_A_READ);
  }
}
