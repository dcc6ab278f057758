import { sql } from 'kysely';
import { indexedBy } from '../../../store/dialect.ts';
import type { Database } from '../../../store/port.ts';
import { DECIDABLE, isDecided } from '../../reports/story/story.ts';
import type { StoryEvent, StoryFinding } from '../../reports/tables/story.ts';

/** Open findings that are looked at; further ones count as not decided. */
const MOST_LOOKED_AT = 1_000;

type Row = Pick<StoryFinding, 'class' | 'first_seen_at'> & StoryEvent;

/**
 * Counts, by class, the open findings that a person has settled by a decision about the order: acknowledging them is left. Each is
 * judged by the last event that brought its order into the doubtful state or out of it.
 */
export async function countDecided(db: Database, accounts: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (accounts.length === 0) return new Map();
  const listOf = (texts: readonly string[]) => sql.join(texts.map((text) => sql.lit(text)));
  const isOf = (states: readonly string[]) =>
    sql`(old_value in (${listOf(states)}) or new_value in (${listOf(states)}))`;
  const last = sql`select id from events where events.account = few.account and type = 'order'
    and subject = external_order_id and field = 'state'
    and case when class = 'CREATE_UNKNOWN' then ${isOf(['unknown', 'held'])} else ${isOf(['disputed'])} end
    order by id desc limit 1`;
  const { rows } = await sql<Row>`with few as materialized (select account, external_order_id, class, first_seen_at
      from findings ${indexedBy('findings_open')} where account in (${sql.join(accounts)}) and status = 'open' and class in (${listOf(DECIDABLE)})
      limit ${MOST_LOOKED_AT}),
    judged as materialized (select few.*, (${last}) as event_id from few)
    select class, first_seen_at, field, old_value, new_value, observed_at, exchange_time, source, reason, actor
    from judged join events on events.account = judged.account and events.id = event_id`.execute(db);
  const decided = rows.filter((row) => isDecided(row, { events: [row] }));
  return new Map([...Map.groupBy(decided, (row) => row.class)].map(([name, all]) => [name, all.length]));
}
