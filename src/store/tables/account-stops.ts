import { sql } from 'kysely';
import type { AccountStop, StopKind } from '../../accounts/rules/restraints.ts';
import { insertHappenings, newestOfAccount, type AccountField } from './events.ts';
import type { Database, Transaction } from '../port.ts';

/** Records that no worker can own the account, or that one can again (`kind` null). Only people end `older-state`. */
export async function recordStop(
  tx: Transaction,
  account: string,
  stop: { readonly kind: StopKind | null; readonly reason: string; readonly actor: string | null; readonly now: Date },
): Promise<void> {
  const { kind, reason, actor, now } = stop;
  const known = await newestOfAccount(tx, account, 'stopped');
  if (known === kind || (known === 'older-state' && actor === null)) return;
  const event = { account, type: 'account', subject: account, field: 'stopped', reason, actor } as const;
  const source = actor === null ? 'daemon' : 'operator';
  await insertHappenings(tx, [{ ...event, source, old_value: known, new_value: kind }], now);
}

export async function stoppedAccounts(db: Database, account: string | undefined): Promise<readonly AccountStop[]> {
  return (await newestTroubles(account, 'stopped').execute(db)).rows;
}

/** Selects each account's newest event of a field, if the new value is not null. Makes one index search per account. */
export function newestTroubles(account: string | undefined, field: AccountField) {
  const ofAccount = account === undefined ? sql`` : sql`where account = ${account}`;
  const newest = sql`select id from events where account = event_heads.account and type = 'account' and subject = event_heads.account
    and field = ${field} order by account desc, type desc, subject desc, id desc limit 1`;
  return sql<AccountStop>`
    with reach as (select account, (${newest}) as id from event_heads ${ofAccount})
    select reach.account, event.new_value as kind, event.observed_at as since, event.reason from reach
    join events as event on event.account = reach.account and event.id = reach.id
    where event.new_value is not null order by reach.account`;
}
