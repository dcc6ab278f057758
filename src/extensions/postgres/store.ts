import { sql } from 'kysely';
import pg from 'pg';
import { MIGRATIONS } from '../../../migrations/postgres/index.ts';
import type { Clock } from '../../base/clock.ts';
import type { PostgresDatabase } from './place/settings.ts';
import { ConfigError } from '../../settings/settings.ts';
import { StoreError, unusable } from '../../store/errors.ts';
import { GroupWriter } from '../../store/group-writer.ts';
import { assertNotMoved } from '../../store/tables/moves.ts';
import { assertKnownVersion, foreignTables, isUpToDate, migrate, migrationStatus } from '../../store/migrations.ts';
import type { AppliedMigrations } from '../../store/migrations.ts';
import { NewEvents, type AccountLease, type Store, type Writer } from '../../store/port.ts';
import { MarksFile } from './marks/file.ts';
import type { OpenOptions } from '../../store/sqlite/store.ts';
import { openConnections, type Connections } from './connection.ts';
import { isTwice, postgresError, READ_ONLY } from './errors.ts';
import { Primary } from './hosts/primary.ts';
import { Readings } from './hosts/readings.ts';
import { AccountMarks, readIdentity } from './marks/marks.ts';
import { changesOf } from './sharing/notices.ts';
import { driverOf } from './sharing/workers.ts';
import { Standbys, standbysText, weaknessesOf } from './standbys.ts';
import { otherTables, takenNames } from './tables.ts';
import { AccountTransactions } from './writer.ts';

/** A server that does not answer for this time counts as lost. The `statement_timeout` of writers is shorter. */
const ANSWER_TIMEOUT_MS = 35_000;
/** A shorter limit, because the listening connection runs small statements only. */
const NOTICES_TIMEOUT_MS = 5_000;
const MOST_MIGRATION_TRIES = 5;
const OLDEST_VERSION = 14;

type Fence = Pick<AccountLease, 'generation' | 'claim' | 'walked'>;

export interface PostgresOptions extends Pick<OpenOptions, 'expect' | 'intoExisting' | 'warn'> {
  readonly instance?: string | undefined;
  readonly hurry?: AbortSignal | undefined;
  readonly primary?: Primary | undefined;
}

export async function openStore(place: PostgresDatabase, clock: Clock, options: PostgresOptions): Promise<Store> {
  const { address } = place;
  const { expect, instance, hurry, warn, intoExisting = false, primary = new Primary(place) } = options;
  await using undo = new AsyncDisposableStack();
  const limits = { max: place.poolSize, answerTimeoutMs: ANSWER_TIMEOUT_MS, hurry, primary };
  const connections = undo.use(openConnections(place, limits));
  await assertSound(connections, place, expect, clock);
  const applied = await appliedMigrations(connections);
  const others = applied.size > 0 || intoExisting ? [] : await otherTables(connections.db);
  assertKnownVersion({ migrations: MIGRATIONS, address }, applied, expect, others);
  if (!isUpToDate(MIGRATIONS, applied))
    await bringUpToDate(place, { applied, expect, hurry, primary, probed: connections });
  // A command that opens the store with `migrate` may be the one that completes the move.
  if (expect === 'current' || expect === 'upgrade') await assertNotMoved(connections.db, address);
  // Tables may be missing only with `any`, and commands that open the store with `any` need no identity for marks.
  const hasTables = applied.size > 0 || expect !== 'any';
  const identity = hasTables ? await readIdentity(connections.db, address) : '';
  const readings = undo.use(new Readings({ place, primary, clock, hurry, warn }));
  const notices = undo.use(listeningConnection(place, options, primary));
  const standbys = new Standbys(connections, clock, address, place.synchronousStandbys);
  const deps = { address, connections, clock, numbering: {}, standbys };
  const newEvents = new NewEvents();
  /** One writer a lease, because a second writer would not know the last commit of the first. */
  const writers = new WeakMap<Fence, Writer>();
  const writerOf = (account: string, lease?: Fence): Writer => {
    const known = lease && writers.get(lease);
    if (known !== undefined) return known;
    const owner = lease && { lease, mark: marks.of(account) };
    const writer = new GroupWriter(new AccountTransactions(deps, account, owner), clock, owner?.mark, newEvents);
    if (lease !== undefined) writers.set(lease, writer);
    return writer;
  };
  const marks = new AccountMarks({
    address,
    db: connections.db,
    clock,
    file: new MarksFile(place.marks, identity),
    write: async (account, work) => await writerOf(account).write(work),
  });
  undo.defer(() => marks.close());
  const disposal = undo.move();
  const migrations = async () => migrationStatus(MIGRATIONS, await appliedMigrations(connections));
  const forAccount = (account: string, lease?: Fence): Store => ({
    address,
    db: connections.db,
    writer: writerOf(account, lease),
    mark: marks.of(account),
    newEvents,
    snapshot: (of) => readings.snapshot(of),
    migrations,
    changes: (signal) => changesOf({ address, db: connections.db, clock, instance, notices, migrations }, signal),
    server: async () => [...primary.inUse, ...(await standbysText(connections.db))],
    weaknesses: () => weaknessesOf(connections.db, place.synchronousStandbys, primary),
    driverOf: (accounts, withSilent) => driverOf(connections.db, accounts, withSilent),
    isInPlace: () => true,
    forAccount,
    close: async () => {},
  });
  return { ...forAccount('default'), close: () => disposal.disposeAsync() };
}

function listeningConnection(place: PostgresDatabase, { instance, hurry }: PostgresOptions, primary: Primary) {
  if (!place.notify || instance === undefined) return undefined;
  return openConnections(place, { max: 1, hurry, primary, answerTimeoutMs: NOTICES_TIMEOUT_MS });
}

type Server = Readonly<Record<'encoding' | 'fsync' | 'commits' | 'reading' | 'role', string>> &
  Readonly<Record<'version' | 'readsStandbys' | 'numbersEvents' | 'now', number>>;

async function assertSound(
  connections: Connections,
  place: PostgresDatabase,
  expect: PostgresOptions['expect'],
  clock: Pick<Clock, 'follow' | 'monotonic'>,
): Promise<void> {
  using lent = await connections.lend();
  const from = clock.monotonic();
  // Reads in a transaction, because order-sync cannot use a pooler that refuses transactions.
  const begun = lent.exec('begin');
  const read = lent.exec<Server>(`select current_setting('server_version_num')::int / 10000 as version,
    current_setting('server_encoding') as encoding, current_setting('fsync') as fsync,
    current_setting('synchronous_commit') as commits, current_setting('transaction_read_only') as reading,
    pg_has_role('pg_read_all_stats', 'usage') as "readsStandbys", current_user as role,
    case when to_regclass('events') is null then true else has_sequence_privilege(pg_get_serial_sequence('events', 'id'), 'select')
      and has_sequence_privilege(pg_get_serial_sequence('events', 'id'), 'update') end as "numbersEvents",
    floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now`);
  const [, { rows }] = await Promise.all([begun, read, lent.exec('rollback')]);
  const server = rows[0]!;
  clock.follow?.(new Date(server.now), from, clock.monotonic());
  const fault = faultOf(server);
  if (fault !== undefined) throw unusable(`${place.address} ${fault}`);
  const role = pg.escapeIdentifier(server.role);
  if (place.synchronousStandbys > 0 && server.readsStandbys !== 1)
    throw new ConfigError(
      `database.synchronousStandbys needs a role that may read pg_stat_replication; run: grant pg_read_all_stats to ${role}`,
    );
  if (expect === 'upgrade' && server.numbersEvents !== 1)
    throw new ConfigError(
      `the role of database.url lacks the right to set the sequence of event ids, which a fail-over needs; run: grant select, update on all sequences in schema public to ${role}`,
    );
  if (server.reading === 'off' || expect === 'current' || expect === 'any') return;
  throw new StoreError('disk', `${place.address} is read-only, as a standby is; ${READ_ONLY}`);
}

function faultOf({ version, encoding, fsync, commits }: Server): string | undefined {
  if (version < OLDEST_VERSION) return `is PostgreSQL ${version}; order-sync needs ${OLDEST_VERSION} or newer`;
  if (encoding !== 'UTF8') return `has the encoding ${encoding}; create it again with: createdb -E UTF8`;
  if (fsync === 'off') return 'may lose what it has committed: its server has fsync = off; turn it on';
  if (commits === 'off')
    return 'may lose what it has committed: synchronous_commit is off for this user; set it to on for its server, user and database';
  return undefined;
}

async function bringUpToDate(
  place: PostgresDatabase,
  { applied, expect, hurry, primary, probed }: PostgresOptions & { applied: AppliedMigrations; probed: Connections },
): Promise<void> {
  const { address } = place;
  if (expect === 'upgrade' && applied.size === 0)
    throw unusable(`${address} has no tables of order-sync; make them with: order-sync db migrate`);
  if (expect !== 'migrate' && expect !== 'upgrade') return;
  const names = applied.size > 0 ? [] : await takenNames(probed.db);
  // The tables with these names belong to other programs, unless another process has just made ours.
  if (names.length > 0 && (await appliedMigrations(probed)).size === 0) throw foreignTables(address, names);
  // These connections have no time limit, because a change of a large table takes long.
  await using connections = openConnections(place, { max: 2, hurry, primary });
  const converted = (error: unknown) => postgresError(error, address);
  for (let tries = 1; ; tries += 1) {
    try {
      return await migrate(connections.db, { migrations: MIGRATIONS, address }, converted);
    } catch (error) {
      // Another process was making the same tables, so this process tries again.
      if (tries >= MOST_MIGRATION_TRIES || !isTwice(error)) throw error;
    }
  }
}

async function appliedMigrations({ db }: Connections): Promise<AppliedMigrations> {
  const tables = await sql<{ names: string | null; hashes: string | null }>`
    select to_regclass('kysely_migration')::text as names, to_regclass('migration_hashes')::text as hashes`.execute(db);
  const { names, hashes } = tables.rows[0] ?? {};
  if (names === null) return new Map();
  const hash = hashes === null ? sql`null` : sql`(select hash from migration_hashes h where h.name = m.name)`;
  const { rows } = await sql<{ name: string; hash: string | null }>`
    select name, ${hash} as hash from kysely_migration m order by name`.execute(db);
  return new Map(rows.map((row) => [row.name, row.hash]));
}
