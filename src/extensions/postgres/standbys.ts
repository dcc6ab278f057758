import { sql } from 'kysely';
import pg from 'pg';
import type { Clock } from '../../base/clock.ts';
import { StoreError } from '../../store/errors.ts';
import type { Database, Weakness } from '../../store/port.ts';
import type { Connections, Lent } from './connection.ts';
import type { Primary } from './hosts/primary.ts';

const FIRST_LOOK_MS = 5;
const LOOK_MS = 250;
const SLOW_MS = 2_000;

/** A commit with intents. `judge` sets `position`, a place in the server's log that is not before the commit. */
export interface ReplicatedCommit {
  readonly account: string;
  /** True if `name` may name the owner's last commit. A server with another last commit may lack the intents. */
  readonly isLast: (name: string) => boolean;
  position?: bigint;
  timeLine?: string | null;
  isProved?: boolean;
}

/** Proves that `database.synchronousStandbys` standbys have flushed an intent before its request leaves. */
export class Standbys {
  readonly #connections: Pick<Connections, 'lend'>;
  readonly #clock: Clock;
  readonly #address: string;
  readonly #required: number;
  readonly #waits = new Set<number[]>();

  constructor(connections: Pick<Connections, 'lend'>, clock: Clock, address: string, required: number) {
    this.#connections = connections;
    this.#clock = clock;
    this.#address = address;
    this.#required = required;
  }

  get areRequired(): boolean {
    return this.#required > 0;
  }

  /** Why nothing is sent, once a commit or a proof has waited for `SLOW_MS`. Needs no answer of the server. */
  get failure(): StoreError | undefined {
    const since = Math.min(...[...this.#waits].flat());
    const waitedMs = this.#clock.monotonic() - since;
    if (waitedMs < SLOW_MS) return undefined;
    const few = `too few synchronous standbys (${this.#required} needed) have confirmed the last change`;
    const advice = 'see that they run and stand in synchronous_standby_names';
    const seconds = Math.floor(waitedMs / 1_000);
    return new StoreError('busy', `${this.#address} is unreplicated: ${few} for ${seconds} s; ${advice}`);
  }

  /** Measures how long a commit or a proof waits, until the returned object is disposed of. */
  waiting(): Disposable {
    const wait = [this.#clock.monotonic()];
    if (this.areRequired) this.#waits.add(wait);
    return { [Symbol.dispose]: () => this.#waits.delete(wait) };
  }

  async prove(commit: ReplicatedCommit, signal: AbortSignal): Promise<boolean> {
    using _ = this.waiting();
    for (let waitMs = FIRST_LOOK_MS; !signal.aborted; waitMs = Math.min(waitMs * 2, LOOK_MS)) {
      try {
        using lent = await this.#connections.lend();
        if (await this.judge(lent, commit)) return true;
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
      }
      await this.#clock.sleep(waitMs, signal).catch(() => undefined);
    }
    return false;
  }

  /** Returns true if enough standbys have flushed the commit. Throws `StoreError` if the statement fails. */
  async judge(lent: Lent, commit: ReplicatedCommit): Promise<boolean> {
    // The insert position is after all commits, flushed or not. One statement, because standbys may change at any time.
    const { rows } = await lent.exec<Reading>(`select pg_current_wal_insert_lsn() - '0/0' as position,
      order_sync_time_line() as "timeLine",
      (select last_commit from account_owners where account = ${pg.escapeLiteral(commit.account)}) as "lastCommit",
      (select flush_lsn - '0/0' from pg_stat_replication
        where state = 'streaming' and sync_state in ('sync', 'quorum') and flush_lsn is not null
        order by pg_stat_replication.flush_lsn desc offset ${this.#required - 1} limit 1) as flushed`);
    const { position, timeLine, lastCommit, flushed } = rows[0]!;
    if (commit.position === undefined || timeLine === null || timeLine !== commit.timeLine) {
      if (lastCommit === null || !commit.isLast(lastCommit)) return false;
      Object.assign(commit, { position: BigInt(position), timeLine });
    }
    commit.isProved = commit.position !== undefined && flushed !== null && BigInt(flushed) >= commit.position;
    return commit.isProved;
  }
}

/** Positions are bytes of the log. Enough standbys have flushed the log up to `flushed`; null if there are too few. */
type Reading = Readonly<Record<'timeLine' | 'lastCommit', string | null>> &
  Readonly<{ position: number | string; flushed: number | string | null }>;

export const NO_TIME_LINE =
  'the server does not report its time-line, so order-sync does not notice the promotion of a standby that lacks commits: grant execute on pg_control_system to the role, or stop all workers before each fail-over and run db accept-restore';

/** `state` and `kind` are null for a role without pg_read_all_stats. */
type AttachedStandby = Readonly<Record<'name' | 'state' | 'kind', string | null>>;

async function readStandbys(db: Database): Promise<readonly AttachedStandby[]> {
  const { rows } = await sql<AttachedStandby>`select application_name as name, state, sync_state as kind
    from pg_stat_replication order by application_name`.execute(db);
  return rows;
}

export async function standbysText(db: Database): Promise<readonly string[]> {
  const standbys = await readStandbys(db);
  const setting = sql<{ names: string }>`select current_setting('synchronous_standby_names') as names`;
  const names = (await setting.execute(db)).rows[0]?.names ?? '';
  if (standbys.length === 0 && names === '') return [];
  const seen = standbys
    .map(({ name, state, kind }) => `${name || 'one without a name'} (${state}, ${kind})`)
    .join(', ');
  const isHidden = standbys.some(({ state }) => state === null);
  const which = isHidden ? `${standbys.length} (only a role with pg_read_all_stats sees their states)` : seen || 'none';
  return [`standbys: ${which}; synchronous_standby_names: ${names || 'empty'}`];
}

const UNPROVED_STANDBYS =
  'standbys are attached and database.synchronousStandbys is 0: orders that were sent just before a fail-over may need a person; set it to 1 with synchronous_standby_names and grant pg_read_all_stats to the role';
const QUORUM_STANDBYS =
  'with ANY in synchronous_standby_names a standby that is promoted may lack the newest orders, which may be sent twice then: use FIRST, or promote only the standby that has received most (pg_last_wal_receive_lsn())';

export function weaknessesOfStandbys(standbys: readonly AttachedStandby[], required: number): readonly Weakness[] {
  const confirming = standbys.filter(({ kind }) => kind === 'sync' || kind === 'quorum').length;
  const few = `nothing is sent: ${confirming} of the standbys are synchronous, and database.synchronousStandbys is ${required}; see that they run and stand in synchronous_standby_names`;
  return [
    required === 0 && standbys.length > 0 && UNPROVED_STANDBYS,
    confirming < required && few,
    standbys.some(({ kind }) => kind === 'quorum') && QUORUM_STANDBYS,
  ].flatMap((text) => (text === false ? [] : [{ name: 'standbys', text }]));
}

export async function weaknessesOf(db: Database, synchronousStandbys: number, primary: Pick<Primary, 'weaknesses'>) {
  const { rows } = await sql<{ line: string | null }>`select order_sync_time_line() as line`.execute(db);
  const ofStandbys = weaknessesOfStandbys(await readStandbys(db), synchronousStandbys);
  const ofServer = rows[0]?.line === null ? [{ name: 'fail-overs', text: NO_TIME_LINE }] : [];
  return [...ofServer, ...ofStandbys, ...(await primary.weaknesses())];
}
