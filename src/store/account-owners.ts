import { sql } from 'kysely';
import { HEARTBEAT_MS } from '../domain/accounts/heartbeats.ts';
import { FAIL_OVER_FACT } from './fail-overs.ts';
import type { Database } from './port.ts';

/** So many accounts are read or claimed by one statement. */
const BATCH = 1_000;

/** The owner of an account, as the database has it. */
export interface AccountOwner {
  readonly account: string;
  readonly generation: number;
  /** Null where its last owner has given it back. */
  readonly holder: string | null;
  /** The settings that its last owner worked with. */
  readonly settings: string | null;
}

/** A claim of an account that had the owner that was read. */
export interface Claim {
  readonly account: string;
  /** That of the last owner; 0 where there was none. */
  readonly generation: number;
  readonly settings: string;
}

/** Reads the owners of accounts; one that never had any has no row. */
export async function readOwners(db: Database, accounts: readonly string[]): Promise<Map<string, AccountOwner>> {
  const owners = new Map<string, AccountOwner>();
  for (const batch of batches(accounts)) {
    const { rows } = await sql<AccountOwner>`select o.account, o.generation, o.holder, o.settings
      from unnest(${batch}::text[]) as k (account) join account_owners o on o.account = k.account`.execute(db);
    for (const row of rows) owners.set(row.account, row);
  }
  return owners;
}

/** The time of the database's clock. */
const NOW = sql`to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** The last sign of life of an owner: it gave the account back, renewed its heartbeat, or claimed the account. */
const HEARD_AT = sql`case when o.holder is null then o.granted_at else coalesce(
    to_char((select max(seen.until) from (select w.seen_until::timestamptz as until from workers w where w.holder = o.holder
      union all select e.seen_until::timestamptz from ended_workers e where e.holder = o.holder) as seen)
      at time zone 'UTC' - ${HEARTBEAT_MS}::float8 * interval '1 millisecond', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    o.granted_at) end`;

/**
 * Claims accounts whose last owner has given them back or is over: each gets the next generation, unless another has claimed
 * it since it was read. An account whose row is locked is left out. Returns the claimed accounts, each with the server's
 * time-line. The claim records a fail-over if the server is on another time-line than at the account's last commit, or than
 * when the tables were made.
 */
export async function claimAccounts(
  db: Database,
  holder: string,
  claims: readonly Claim[],
): Promise<Map<string, string | null>> {
  const claimed = new Map<string, string | null>();
  for (const batch of batches(claims)) {
    const accounts = batch.map(({ account }) => account);
    const unknown = batch.flatMap(({ account, generation }) => (generation === 0 ? [account] : []));
    if (unknown.length > 0) {
      await sql`insert into account_owners (account, generation)
        select account, 0 from unnest(${unknown}::text[]) as k (account) order by account
        on conflict (account) do nothing`.execute(db);
    }
    const { rows } = await sql<{ account: string; line: string | null }>`with due as (
        select o.account, k.settings, o.generation + 1 as id, server.line, json_build_object(
          'id', o.generation + 1, 'fromTimeLine', coalesce(o.time_line, i.migrated_on), 'toTimeLine', server.line,
          'seenAt', ${NOW}, 'heardAt', ${HEARD_AT}, 'generation', o.generation, 'settings', o.settings, 'nextSettings', k.settings, 'walked', o.walked,
          'insertedUntil', case when o.time_line is null and i.time_line = server.line then i.time_line_since end)::text as fail_over,
          coalesce(o.time_line, i.migrated_on) is distinct from server.line as is_another
        from (select order_sync_time_line() as line) as server cross join database_identity i cross join account_owners o
        join unnest(${accounts}::text[], ${batch.map(({ generation }) => generation)}::bigint[],
          ${batch.map(({ settings }) => settings)}::text[]) as k (account, generation, settings)
        on o.account = k.account and o.generation = k.generation
        order by o.account for update of o skip locked),
      noticed as (insert into account_facts (account, name, value, first_seen_at)
        select account, ${FAIL_OVER_FACT} || id, fail_over, ${NOW} from due where is_another
        on conflict (account, name) do update set value = excluded.value)
      update account_owners o set generation = due.id, holder = ${holder}, last_commit = ${holder}, settings = due.settings, granted_at = ${NOW},
        time_line = due.line, walked = null
      from due where o.account = due.account returning o.account, due.line`.execute(db);
    for (const { account, line } of rows) claimed.set(account, line);
  }
  return claimed;
}

/**
 * Gives accounts back, of those that the worker still has. One that it has claimed again since, by a later generation, stays. One
 * whose row is locked is left out; gives those, for another try.
 */
export async function releaseAccounts(
  db: Database,
  holder: string,
  held: readonly Pick<AccountOwner, 'account' | 'generation'>[],
): Promise<ReadonlySet<string>> {
  const left = new Set<string>();
  for (const batch of batches(held)) {
    const { rows } = await sql<{ account: string }>`with had as (
        select o.account, o.generation from account_owners o
        join unnest(${batch.map(({ account }) => account)}::text[],
          ${batch.map(({ generation }) => generation)}::bigint[]) as k (account, generation)
        on o.account = k.account and o.generation = k.generation
        where o.holder = ${holder}),
      free as (select o.account from account_owners o join had on o.account = had.account
          and o.generation = had.generation
        where o.holder = ${holder} order by o.account for update of o skip locked),
      given as (update account_owners o set holder = null, granted_at = ${NOW} from free where o.account = free.account returning o.account)
      select account from had where account not in (select account from given)`.execute(db);
    for (const { account } of rows) left.add(account);
  }
  return left;
}

/** Gives back all that a worker still has. One whose row is locked stays: it is free once the worker has left. */
export async function releaseAll(db: Database, holder: string): Promise<void> {
  await sql`update account_owners o set holder = null, granted_at = ${NOW}
    from (select account from account_owners where holder = ${holder} order by account for update skip locked) given
    where o.account = given.account`.execute(db);
}

function* batches<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += BATCH) yield items.slice(from, from + BATCH);
}
