import { sql } from 'kysely';
import type { AccountStop } from '../../domain/accounts/stops.ts';
import type { LostReach } from '../../reports/status/status.ts';
import type { AccountField } from '../events.ts';
import type { Database } from '../port.ts';

/** Reads of which accounts the exchange is out of reach. */
export async function outOfReach(db: Database, account: string | undefined): Promise<readonly LostReach[]> {
  return (await newestEvents(db, account, 'exchange')).map(withoutKind);
}

/** Reads of which accounts the order records cannot be read. */
export async function unreadableAnswers(db: Database, account: string | undefined): Promise<readonly LostReach[]> {
  return (await newestEvents(db, account, 'answers')).map(withoutKind);
}

/** Reads which accounts are stopped. */
export async function stoppedAccounts(db: Database, account: string | undefined): Promise<readonly AccountStop[]> {
  return await newestEvents(db, account, 'stopped');
}

/** Reads the newest event of a field for each account that is not well, by one index search an account. */
async function newestEvents(
  db: Database,
  account: string | undefined,
  field: AccountField,
): Promise<readonly AccountStop[]> {
  const ofAccount = account === undefined ? sql`` : sql`where account = ${account}`;
  const newest = sql`select id from events where account = event_heads.account and type = 'account' and subject = event_heads.account
    and field = ${field} order by account desc, type desc, subject desc, id desc limit 1`;
  const { rows } = await sql<AccountStop>`
    with reach as (select account, (${newest}) as id from event_heads ${ofAccount})
    select reach.account, event.new_value as kind, event.observed_at as since, event.reason from reach
    join events as event on event.account = reach.account and event.id = reach.id
    where event.new_value is not null order by reach.account`.execute(db);
  return rows;
}

function withoutKind({ account, since, reason }: AccountStop): LostReach {
  return { account, since, reason };
}
