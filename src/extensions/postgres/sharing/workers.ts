import { sql, type RawBuilder } from 'kysely';
import { HEARTBEAT_MS, type SeenWorker } from './heartbeats.ts';
import { FAIL_OVER_FACT } from '../../../store/tables/fail-overs.ts';
import { partsOf } from '../../../store/pages.ts';
import type { WorkerOptions } from '../../../store/open.ts';
import type { Database, Driver } from '../../../store/port.ts';

export interface NewWorker extends Pick<WorkerOptions, 'socket' | 'advertise' | 'instance'> {
  readonly holder: string;
  readonly host: string;
  readonly listens: boolean;
  readonly units: string | undefined;
}

/** How long an ended worker's last heartbeat is kept, in ms. The next owners usually read it within seconds. */
const ENDED_KEPT_MS = 30 * 24 * 60 * 60_000;

function databaseTime(aheadMs = 0): RawBuilder<string> {
  return utcText(sql`clock_timestamp() + ${aheadMs}::float8 * interval '1 millisecond'`);
}

function utcText(time: RawBuilder<unknown>): RawBuilder<string> {
  return sql`to_char((${time}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

export async function enterWorker(db: Database, worker: NewWorker): Promise<string | null> {
  const { holder, host, listens, socket = null, advertise = null, instance = null, units = null } = worker;
  const { rows } = await sql<Pick<Claimed, 'timeLine'>>`insert into workers
      (holder, seen_until, host, socket, advertise, instance, started_at, units, listens)
    values (${holder}, ${databaseTime(HEARTBEAT_MS)}, ${host}, ${socket}, ${advertise}, ${instance}, ${databaseTime()}, ${units}, ${listens})
    returning order_sync_time_line() as "timeLine"`.execute(db);
  return rows[0]?.timeLine ?? null;
}

type Renewal = Pick<SeenWorker, 'host' | 'accounts'> &
  Readonly<Record<'now' | 'seenUntil', string> & Record<'renewed' | 'sharing', number>> &
  Readonly<Record<'timeLine' | 'holder', string | null>>;

/** Renews a worker's heartbeat, unless the worker is over or the time-line is another. Reads all heartbeats. */
export async function renewHeartbeat(db: Database, holder: string, accounts: number, timeLine: string | null) {
  const { rows } = await sql<Renewal>`with renewed as (
      update workers set seen_until = ${databaseTime(HEARTBEAT_MS)}, held = ${accounts}
      where holder = ${holder} and order_sync_time_line() is not distinct from ${timeLine}::text returning holder)
    select ${databaseTime()} as now, order_sync_time_line() as "timeLine", (select count(*) from renewed) as renewed, w.holder, w.host, w.held as accounts,
      w.seen_until as "seenUntil", w.units is not null as sharing
    from (select 1) one left join workers w on true`.execute(db);
  const workers = rows.flatMap(({ sharing, seenUntil, holder: other, ...row }) =>
    other === null ? [] : [{ ...row, holder: other, seenUntil: new Date(seenUntil), isSharing: sharing === 1 }],
  );
  const { now = '', timeLine: line = null, renewed = 0 } = rows[0] ?? {};
  return { isRenewed: renewed === 1, now: new Date(now), timeLine: line, workers };
}

/** Declares a worker over for good. Returns false if its row was renewed or deleted after `seenUntil` was read. */
export async function endWorker(db: Database, { holder, seenUntil }: Pick<SeenWorker, 'holder' | 'seenUntil'>) {
  // The delete waits for a renewal that is under way, and then finds no row. The next owner reads `ended_workers`.
  const { numAffectedRows } = await sql`with over as (delete from workers
      where holder = ${holder} and seen_until = ${seenUntil.toISOString()} returning holder, seen_until),
    old as (delete from ended_workers where seen_until < ${databaseTime(-ENDED_KEPT_MS)})
    insert into ended_workers select holder, seen_until from over on conflict do nothing`.execute(db);
  return numAffectedRows === 1n;
}

/** Reads the owner of the first account that has one. `withSilent` includes workers whose heartbeat has ended. */
export async function driverOf(db: Database, accounts: readonly string[], withSilent = false) {
  const { rows } =
    await sql<Driver>`select 'the worker ' || w.holder || ' on ' || w.host as name, w.host, w.socket, w.advertise
    from unnest(${accounts}::text[]) with ordinality as k (account, place)
    join account_owners o on o.account = k.account join workers w on w.holder = o.holder
    where ${withSilent} or w.seen_until > ${utcText(sql`statement_timestamp()`)} order by k.place limit 1`.execute(db);
  return rows[0];
}

export async function leaveWorkers(db: Database, holder: string): Promise<void> {
  await sql`delete from workers where holder = ${holder}`.execute(db);
}

/** `units` is null if the worker shares no accounts any more. */
export async function setUnits(db: Database, holder: string, units: string | null): Promise<void> {
  await sql`update workers set units = ${units} where holder = ${holder}`.execute(db);
}

export async function otherUnits(db: Database, holders: readonly string[], units: string) {
  if (holders.length === 0) return new Map();
  const { rows } = await sql<{ holder: string; units: string }>`select holder, units from workers
    where holder = any (${holders}::text[]) and units <> ${units}`.execute(db);
  return new Map(rows.map((row) => [row.holder, new Set(JSON.parse(row.units) as readonly string[])]));
}

const BATCH = 1_000;

export interface AccountOwner {
  readonly account: string;
  readonly generation: number;
  /** Null if no worker owns the account. */
  readonly holder: string | null;
}

type Claim = Omit<AccountOwner, 'holder'> & { readonly settings: string };

export interface Claimed {
  readonly timeLine: string | null;
  /** The settings of the last owner; null if they are the same, or not known. */
  readonly otherSettings: string | null;
}

export async function readOwners(db: Database, accounts: readonly string[]): Promise<Map<string, AccountOwner>> {
  const { rows } = await sql<AccountOwner>`select o.account, o.generation, o.holder
    from unnest(${accounts}::text[]) as k (account) join account_owners o on o.account = k.account`.execute(db);
  return new Map(rows.map((row) => [row.account, row]));
}

/** Reads the owners of all accounts. One row for each account would take ten times as long as one for each owner. */
export async function readAllOwners(db: Database): Promise<Map<string, AccountOwner>> {
  const { rows } = await sql<{ holder: string | null; owned: string }>`select holder,
    json_agg(json_build_array(account, generation)) as owned from account_owners group by holder`.execute(db);
  const owners = rows.flatMap(({ holder, owned }) =>
    (JSON.parse(owned) as [string, number][]).map(([account, generation]) => ({ account, generation, holder })),
  );
  return new Map<string, AccountOwner>(owners.map((owner) => [owner.account, owner]));
}

/** When the last owner was last active: it released the account, renewed its heartbeat, or claimed the account. */
const HEARD_AT = sql`case when o.holder is null then o.granted_at else coalesce(${utcText(sql`
    (select max(seen.until) from (select w.seen_until::timestamptz as until from workers w where w.holder = o.holder
      union all select e.seen_until::timestamptz from ended_workers e where e.holder = o.holder) as seen)
    - ${HEARTBEAT_MS}::float8 * interval '1 millisecond'`)}, o.granted_at) end`;

/**
 * Claims accounts with their next generation. Leaves out accounts with a locked row, a newer claim, or an owner that is
 * not over: a worker that stood still has not seen newer workers yet, and may be over itself. Records a fail-over if
 * the server is on another time-line than at the last commit.
 */
export async function claimAccounts(db: Database, holder: string, claims: readonly Claim[]) {
  const claimed = new Map<string, Claimed>();
  for (const batch of partsOf(claims, BATCH)) {
    const accounts = batch.map(({ account }) => account);
    const unknown = batch.flatMap(({ account, generation }) => (generation === 0 ? [account] : []));
    if (unknown.length > 0) {
      await sql`insert into account_owners (account, generation)
        select account, 0 from unnest(${unknown}::text[]) as k (account) order by account
        on conflict (account) do nothing`.execute(db);
    }
    const { rows } = await sql<Claimed & { account: string }>`with due as (
        select o.account, k.settings, nullif(o.settings, k.settings) as others, o.generation + 1 as id, server.line, json_build_object(
          'id', o.generation + 1, 'fromTimeLine', coalesce(o.time_line, i.migrated_on), 'toTimeLine', server.line,
          'seenAt', ${databaseTime()}, 'heardAt', ${HEARD_AT}, 'generation', o.generation, 'settings', o.settings, 'nextSettings', k.settings, 'walked', o.walked,
          'insertedUntil', case when o.time_line is null and i.time_line = server.line then i.time_line_since end)::text as fail_over,
          coalesce(o.time_line, i.migrated_on) is distinct from server.line as is_another
        from (select order_sync_time_line() as line) as server cross join database_identity i cross join account_owners o
        join unnest(${accounts}::text[], ${batch.map(({ generation }) => generation)}::bigint[],
          ${batch.map(({ settings }) => settings)}::text[]) as k (account, generation, settings)
        on o.account = k.account and o.generation = k.generation
        where exists (select from workers w where w.holder = ${holder})
          and (o.holder = ${holder} or not exists (select from workers w where w.holder = o.holder))
        order by o.account for update of o skip locked),
      noticed as (insert into account_facts (account, name, value, first_seen_at)
        select account, ${FAIL_OVER_FACT} || id, fail_over, ${databaseTime()} from due where is_another
        on conflict (account, name) do update set value = excluded.value)
      update account_owners o set generation = due.id, holder = ${holder}, last_commit = ${holder}, settings = due.settings, granted_at = ${databaseTime()},
        time_line = due.line, walked = null
      from due where o.account = due.account returning o.account, due.line as "timeLine", due.others as "otherSettings"`.execute(
      db,
    );
    for (const row of rows) claimed.set(row.account, row);
  }
  return claimed;
}

/** Releases accounts that the worker owns at these generations. Returns accounts with locked rows, for a retry. */
export async function releaseAccounts(db: Database, holder: string, owned: readonly Omit<AccountOwner, 'holder'>[]) {
  const left = new Set<string>();
  for (const batch of partsOf(owned, BATCH)) {
    const { rows } = await sql<{ account: string }>`with had as (
        select o.account, o.generation from account_owners o
        join unnest(${batch.map(({ account }) => account)}::text[],
          ${batch.map(({ generation }) => generation)}::bigint[]) as k (account, generation)
        on o.account = k.account and o.generation = k.generation
        where o.holder = ${holder}),
      free as (select o.account from account_owners o join had on o.account = had.account
          and o.generation = had.generation
        where o.holder = ${holder} order by o.account for update of o skip locked),
      released as (update account_owners o set holder = null, granted_at = ${databaseTime()} from free where o.account = free.account returning o.account)
      select account from had where account not in (select account from released)`.execute(db);
    for (const { account } of rows) left.add(account);
  }
  return left;
}

/** Releases all accounts of a worker. An account whose row is locked stays, and is free once the worker has left. */
export async function releaseAll(db: Database, holder: string): Promise<void> {
  await sql`update account_owners o set holder = null, granted_at = ${databaseTime()}
    from (select account from account_owners where holder = ${holder} order by account for update skip locked) released
    where o.account = released.account`.execute(db);
}
