import type { Selectable } from 'kysely';
import { unindexed } from '../dialect.ts';
import type { Database } from '../port.ts';
import type { OrderEventsView } from '../schema.ts';

/** So many ids are read at a time: no read holds the write-ahead log for long. */
const IDS_A_READ = 500;

/** Selects events: observed at or after `from` and before `to`, and recorded up to `lastId`. */
export interface ChangesScope {
  readonly account: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly lastId: number;
}

/** A line of the history. */
export type ChangeRow = Selectable<OrderEventsView>;

/** Reads the events of a period in the order in which they were recorded, some at a time. */
export async function* changesOf(db: Database, scope: ChangesScope): AsyncGenerator<ChangeRow> {
  const { account, from, to, lastId } = scope;
  for (let before = 0; before < lastId; before += IDS_A_READ) {
    let events = db
      .selectFrom('order_events')
      .selectAll()
      .where('id', '>', before)
      .where('id', '<=', Math.min(before + IDS_A_READ, lastId))
      // With the sign no index of accounts is used: the events are read in the order in which they stand.
      .where(unindexed('account'), '=', account);
    if (from !== null) events = events.where('observed_at', '>=', from);
    if (to !== null) events = events.where('observed_at', '<', to);
    yield* await events.orderBy('id').execute();
  }
}
