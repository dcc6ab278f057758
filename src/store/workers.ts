import { sql, type RawBuilder } from 'kysely';
import { HEARTBEAT_MS } from '../domain/accounts/heartbeats.ts';
import type { Database } from './port.ts';

/** What a process tells others of itself, where it drives accounts on PostgreSQL. */
export interface WorkerOptions {
  /** Where commands on its host reach it. */
  readonly socket?: string | undefined;
  /** That with which commands elsewhere close what they ask of it. */
  readonly publicKey?: string | undefined;
  /** The settings with which it drives an account, by path, of secrets a hash: its next owner is warned where it has others. */
  readonly settingsOf?: ((account: string) => Readonly<Record<string, string>>) | undefined;
}

/** A worker as it presents itself to others. */
export interface NewWorker extends Pick<WorkerOptions, 'socket' | 'publicKey'> {
  readonly holder: string;
  readonly host: string;
  /** True if it listens for notices of new rows. */
  readonly listens: boolean;
  /** The units that it shares, as text; undefined where it takes only what it is told. */
  readonly units: string | undefined;
}

/** A worker whose heartbeat stands in the database. */
export interface SeenWorker {
  readonly holder: string;
  readonly host: string;
  readonly seenUntil: Date;
  /** The number of its accounts at its last heartbeat. */
  readonly held: number;
  readonly isSharing: boolean;
}

/** What a heartbeat tells the worker of itself and the others. */
export interface Heartbeat {
  /** False where the worker is not there any more: others have declared it over. */
  readonly isRenewed: boolean;
  /** The time of the database. */
  readonly now: Date;
  /** Those that nobody has declared over, this worker too. */
  readonly workers: readonly SeenWorker[];
}

/** How long the last heartbeat of an ended worker is kept, in milliseconds: its accounts are claimed within seconds. */
const ENDED_KEPT_MS = 30 * 24 * 60 * 60_000;

/** The time of the database's clock, so many milliseconds from now. */
function databaseTime(aheadMs = 0): RawBuilder<string> {
  return sql`to_char((clock_timestamp() + ${aheadMs}::float8 * interval '1 millisecond') at time zone 'UTC',
    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/** Enters a worker, with its first heartbeat. */
export async function enterWorker(db: Database, worker: NewWorker): Promise<void> {
  const { holder, host, listens, socket = null, publicKey = null, units = null } = worker;
  await sql`insert into workers (holder, seen_until, host, socket, public_key, started_at, units, listens)
    values (${holder}, ${databaseTime(HEARTBEAT_MS)}, ${host}, ${socket}, ${publicKey}, ${databaseTime()}, ${units}, ${listens})`.execute(
    db,
  );
}

/** Renews the heartbeat of a worker. One statement, however many accounts there are. */
export async function renewHeartbeat(db: Database, holder: string, held: number): Promise<Heartbeat> {
  interface Row extends Pick<SeenWorker, 'host' | 'held'> {
    readonly seenUntil: string;
    readonly now: string;
    readonly renewed: number;
    readonly holder: string | null;
    readonly sharing: number;
  }
  const { rows } = await sql<Row>`with renewed as (
      update workers set seen_until = ${databaseTime(HEARTBEAT_MS)}, held = ${held} where holder = ${holder} returning holder)
    select ${databaseTime()} as now, (select count(*) from renewed) as renewed, w.holder, w.host, w.held,
      w.seen_until as "seenUntil", w.units is not null as sharing
    from (select 1) one left join workers w on true`.execute(db);
  const workers = rows.flatMap(({ sharing, holder: other, host, held: count, seenUntil }) =>
    other === null
      ? []
      : [{ holder: other, host, seenUntil: new Date(seenUntil), held: count, isSharing: sharing === 1 }],
  );
  return { isRenewed: rows[0]?.renewed === 1, now: new Date(rows[0]?.now ?? ''), workers };
}

/** Declares a worker over, unless it has renewed its heartbeat since it was seen. It does not come back. */
export async function endWorker(
  db: Database,
  { holder, seenUntil }: Pick<SeenWorker, 'holder' | 'seenUntil'>,
): Promise<boolean> {
  // The delete waits for a renewal under way, and then finds another time. The next owner counts from the heartbeat.
  const { numAffectedRows } = await sql`with over as (delete from workers
      where holder = ${holder} and seen_until = ${seenUntil.toISOString()} returning holder, seen_until),
    old as (delete from ended_workers where seen_until < ${databaseTime(-ENDED_KEPT_MS)})
    insert into ended_workers select holder, seen_until from over on conflict do nothing`.execute(db);
  return numAffectedRows === 1n;
}

/** Removes a worker that has given back its accounts. */
export async function leaveWorkers(db: Database, holder: string): Promise<void> {
  await sql`delete from workers where holder = ${holder}`.execute(db);
}

/** Changes the units that a worker shares; null where it shares none any more. */
export async function setUnits(db: Database, holder: string, units: string | null): Promise<void> {
  await sql`update workers set units = ${units} where holder = ${holder}`.execute(db);
}

/** Reads the keys of the units of those of the workers that share others than `units`. */
export async function otherUnits(
  db: Database,
  holders: readonly string[],
  units: string,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  if (holders.length === 0) return new Map();
  const { rows } = await sql<{ holder: string; units: string }>`select holder, units from workers
    where holder = any (${holders}::text[]) and units <> ${units}`.execute(db);
  return new Map(rows.map((row) => [row.holder, new Set(JSON.parse(row.units) as readonly string[])]));
}
