import { sql } from 'kysely';
import type { LostReach } from '../../reports/status/overview.ts';
import type { Database } from '../port.ts';

/** Reads of which accounts the exchange is out of reach: one look into an index each. */
export async function outOfReach(db: Database, account: string | undefined): Promise<readonly LostReach[]> {
  const ofAccount = account === undefined ? sql`` : sql`where account = ${account}`;
  const newest = sql`select id from events where account = event_heads.account and type = 'account' and subject = event_heads.account
    and field = 'exchange' order by account desc, type desc, subject desc, id desc limit 1`;
  const { rows } = await sql<LostReach>`
    with reach as (select account, (${newest}) as id from event_heads ${ofAccount})
    select reach.account, event.observed_at as since, event.reason from reach
    join events as event on event.account = reach.account and event.id = reach.id
    where event.new_value is not null order by reach.account`.execute(db);
  return rows;
}
