import pg from 'pg';
import { deadline, type Clock } from '../../../base/clock.ts';
import type { PostgresDatabase } from '../place/settings.ts';
import { hostsText, type DatabaseHost } from '../place/url.ts';
import { durationText } from '../../../settings/values.ts';
import { StoreError } from '../../../store/errors.ts';
import type { Snapshot } from '../../../store/port.ts';
import { openConnections, type Connections, type Lent } from '../connection.ts';
import { openSnapshot } from '../snapshot.ts';
import type { Primary } from './primary.ts';

/** The size of each pool of snapshots. Writes use another pool, because a caller may write during a snapshot. */
const MOST_SNAPSHOTS = 4;
const LOOK_MS = 20;
/** How long snapshots read the primary after no standby could be read. */
const LEFT_MS = 60_000;

interface ReadingsDeps {
  readonly place: PostgresDatabase;
  readonly primary: Primary;
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  readonly hurry: AbortSignal | undefined;
  /** `snapshot` calls this when no standby can be read, and again only after a standby was read. */
  readonly warn: ((text: string) => void) | undefined;
}

/** The end of the primary's log. `timeLine` is null if the role cannot read it. */
type Position = Readonly<{ log: string; timeLine: string | null }>;

/** Opens snapshots on the primary, or on a standby whose log position proves that the standby has all commits. */
export class Readings implements AsyncDisposable {
  readonly #ofPrimary: Connections;
  readonly #deps: ReadingsDeps;
  readonly #standbys: ReadonlyMap<DatabaseHost, Connections>;
  #leftUntil = Number.NEGATIVE_INFINITY;
  #isWarned = false;

  constructor(deps: ReadingsDeps) {
    const { place, hurry, primary } = deps;
    this.#deps = deps;
    const options = { max: MOST_SNAPSHOTS, hurry, areNamed: false };
    this.#ofPrimary = openConnections(place, { ...options, primary });
    const hosts = place.readFrom === 'primary' ? [] : place.hosts;
    this.#standbys = new Map(hosts.map((one) => [one, openConnections({ ...place, hosts: [one] }, options)]));
  }

  async snapshot(of?: 'primary'): Promise<Snapshot> {
    const standby = of === 'primary' ? undefined : await this.#standby();
    return await openSnapshot(standby ?? (await this.#ofPrimary.lend()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const connections of [this.#ofPrimary, ...this.#standbys.values()]) await connections[Symbol.asyncDispose]();
  }

  async #standby(): Promise<Lent | undefined> {
    const { place, primary, clock, warn } = this.#deps;
    if (place.readFrom === 'primary' || clock.monotonic() < this.#leftUntil) return undefined;
    const position = await this.#position();
    const reasons = new Map(place.hosts.flatMap((one) => (one === primary.server ? [] : [[one, 'does not answer']])));
    const { promise, resolve, reject } = Promise.withResolvers<Lent | undefined>();
    const stop = new AbortController();
    const end = (lent?: Lent) => {
      stop.abort();
      resolve(lent);
    };
    deadline(place.readBehind).addEventListener('abort', () => end());
    const asked = [...reasons.keys()].map((server) => this.#ask(server, position, { reasons, end, stop: stop.signal }));
    Promise.all(asked).then(() => end(), reject);
    const lent = await promise;
    if (lent === undefined) this.#leftUntil = clock.monotonic() + LEFT_MS;
    if (lent === undefined && !this.#isWarned) {
      const why = [...reasons].map(([server, reason]) => `${hostsText([server])} ${reason}`).join('; ');
      warn?.(`reports read the primary: no standby has its commits within ${durationText(place.readBehind)} (${why})`);
    }
    this.#isWarned = lent === undefined;
    return lent;
  }

  async #position(): Promise<Position> {
    using lent = await this.#ofPrimary.lend();
    const text = 'select pg_current_wal_insert_lsn()::text as log, order_sync_time_line() as "timeLine"';
    return (await lent.exec<Position>(text)).rows[0]!;
  }

  /** Asks a standby until it has all commits, is unusable or `stop` aborts. Calls `end`, or releases the connection. */
  async #ask(
    server: DatabaseHost,
    position: Position,
    to: { readonly reasons: Map<DatabaseHost, string>; readonly end: (lent: Lent) => void; readonly stop: AbortSignal },
  ): Promise<void> {
    let lent: Lent | undefined;
    try {
      lent = await this.#standbys.get(server)!.lend();
      while (!to.stop.aborted) {
        const state = await stateOf(lent, position);
        if (to.stop.aborted) break;
        if (state === 'ready') return to.end(lent);
        to.reasons.set(server, state);
        if (state !== BEHIND) break;
        await this.#deps.clock.sleep(LOOK_MS, to.stop).catch(() => undefined);
      }
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      to.reasons.set(server, `fails: ${error.message}`);
    }
    lent?.release();
  }
}

const BEHIND = 'is behind';

/** Must run before the snapshot begins, so that the snapshot has all commits up to the position. */
async function stateOf(lent: Lent, { log, timeLine }: Position): Promise<string> {
  if (timeLine === null) return 'cannot be compared with the primary, because the role cannot read its time-line';
  const { rows } = await lent.exec<Record<'standby' | 'ready', number | null>>(`select pg_is_in_recovery() as standby,
    pg_last_wal_replay_lsn() >= ${pg.escapeLiteral(log)}::pg_lsn as ready`);
  const { standby, ready } = rows[0] ?? {};
  if (standby !== 1) return 'is no standby';
  if (ready !== 1) return BEHIND;
  // A standby of an old primary that lives on follows another log, and may have a higher position in it.
  const follows = `select time_line = ${pg.escapeLiteral(timeLine)} as follows from database_identity`;
  const { rows: noted } = await lent.exec<{ follows: number | null }>(follows);
  return noted[0]?.follows === 1 ? 'ready' : 'has no commit of the time-line of the primary';
}
