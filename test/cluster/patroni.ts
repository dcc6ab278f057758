import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import {
  etcdCommand,
  foldersOf,
  patroniYaml,
  type ClusterPlan,
  type Replication,
} from '../../src/extensions/sandbox/cluster/node.ts';
import { unprivileged } from '../../src/extensions/sandbox/cluster/machine.ts';
import { OWNER, PASSWORD } from '../support/postgres-server.ts';
import { mountDisk, type Disk } from '../windtunnel/machine.ts';
import { PORTS, type Network } from './network.ts';
import { Processes, programsWith, type ProcessName } from './processes.ts';

/** The machines of the database. */
export const DATABASES = ['db1', 'db2', 'db3'] as const;
/** One of them. */
export type DatabaseName = (typeof DATABASES)[number];

/** The port of PgBouncer on each machine. */
export const POOLER = 6432;
const POOLER_FILE = 'pgbouncer.ini';

const DISK_BYTES = 640 * 1_048_576;
/** Of 16 MiB, more than there are. */
const LOG_FILES = 24;
const HEALTHY_WITHIN_MS = 120_000;
const ASKED_EVERY_MS = 100;
const ANSWERS_WITHIN_MS = 1_500;

const PARAMETERS = {
  shared_buffers: '32MB',
  max_connections: 60,
  min_wal_size: '32MB',
  max_wal_size: '128MB',
  wal_keep_size: '64MB',
  wal_sender_timeout: '5s',
  wal_receiver_timeout: '5s',
  dynamic_shared_memory_type: 'mmap',
  authentication_timeout: '5s',
  log_min_messages: 'warning',
};

/** A server that takes writes. */
export interface Primary {
  readonly name: DatabaseName;
  readonly timeLine: number;
}

interface ClusterOptions {
  readonly network: Network;
  /** The folder of PostgreSQL's programs. */
  readonly bin: string;
  readonly replication: Replication;
  /** The database that order-sync uses. */
  readonly database: string;
  /** PgBouncer stands before each server. */
  readonly isPooled?: boolean | undefined;
  /** The environment of PostgreSQL on each machine. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

/** Three machines with etcd, Patroni and PostgreSQL. */
export class Cluster implements AsyncDisposable {
  readonly #options: ClusterOptions;
  readonly #plan: ClusterPlan;
  readonly #pools = new Map<string, pg.Pool>();
  readonly #disks = new Map<DatabaseName, Disk>();
  readonly #machines: ReadonlyMap<DatabaseName, Processes>;

  constructor(options: ClusterOptions) {
    const { network, replication, environment } = options;
    this.#options = options;
    const own = join(network.folder, 'bin');
    const bin = environment === undefined ? options.bin : programsWith(environment, options.bin, own);
    const plan: ClusterPlan = {
      machines: DATABASES.map((name) => network.machine(name)),
      bin,
      replication,
      password: PASSWORD,
      parameters: PARAMETERS,
    };
    this.#plan = plan;
    this.#machines = new Map(
      DATABASES.map((name) => {
        const [machine, folder] = [network.machine(name), this.folderOf(name)];
        const commands = new Map<ProcessName, readonly string[]>([
          ['etcd', etcdCommand(plan, machine, folder)],
          ['patroni', ['patroni', foldersOf(folder).yaml]],
        ]);
        if (options.isPooled === true) commands.set('pgbouncer', ['pgbouncer', join(folder, POOLER_FILE)]);
        return [name, new Processes(machine, folder, commands)];
      }),
    );
  }

  /** Starts all machines, and makes the database; resolves when both standbys receive. */
  async start(): Promise<this> {
    for (const name of DATABASES) this.#prepare(name);
    for (const name of DATABASES) this.bringBack(name);
    // A strict cluster takes no writes before it has a standby.
    const { name } = await this.healthy();
    const admin = new pg.Client({
      host: this.folderOf(name),
      port: PORTS.postgres,
      user: 'postgres',
      database: 'postgres',
    });
    await admin.connect();
    await admin.query(`create role ${OWNER} login createdb password '${PASSWORD}'`);
    await admin.query(`grant pg_read_all_stats to ${OWNER}`);
    await admin.query(`create database ${this.#options.database} owner ${OWNER}`);
    await admin.end();
    return this;
  }

  folderOf(name: DatabaseName): string {
    return join(this.#options.network.folder, name);
  }

  /** Connections over the socket of a machine, which no packet filter cuts. */
  pool(name: DatabaseName, user: string): pg.Pool {
    const database = user === OWNER ? this.#options.database : 'postgres';
    const key = `${name} ${user}`;
    const known = this.#pools.get(key);
    if (known !== undefined) return known;
    const pool = new pg.Pool({
      host: foldersOf(this.folderOf(name)).socket,
      port: PORTS.postgres,
      user,
      database,
      max: 4,
      connectionTimeoutMillis: ANSWERS_WITHIN_MS,
      query_timeout: ANSWERS_WITHIN_MS,
    });
    pool.on('error', () => undefined);
    this.#pools.set(key, pool);
    return pool;
  }

  /** The server that takes writes, on the newest time-line if there are two; undefined if there is none. */
  async primary(): Promise<Primary | undefined> {
    const found = await Promise.all(DATABASES.map((name) => this.#asPrimary(name)));
    return found.filter((one) => one !== undefined).toSorted((one, other) => other.timeLine - one.timeLine)[0];
  }

  /** Resolves when there is a primary with two streaming standbys, one of them synchronous if that is wanted; returns the primary. */
  async healthy(): Promise<Primary> {
    const wanted = this.#options.replication === 'asynchronous' ? 0 : 1;
    const query = `select count(*) = 2 and count(*) filter (where sync_state in ('sync', 'quorum')) >= ${wanted} as is
      from pg_stat_replication where state = 'streaming' and application_name like 'db%'`;
    return await this.#until('two standbys that receive', async () => {
      // As systemd does: Patroni may end when etcd is out of its reach.
      for (const processes of this.#machines.values()) processes.startAll();
      const primary = await this.primary();
      if (primary === undefined || !(await this.#isKnownToPatroni(primary.name, wanted))) return undefined;
      const { rows } = await this.pool(primary.name, 'postgres').query<{ is: boolean }>(query);
      return rows[0]?.is === true ? primary : undefined;
    });
  }

  /** The machine that is the synchronous standby of a primary, or else any. */
  async standbyOf(primary: DatabaseName, wanted: 'sync' | 'async'): Promise<DatabaseName> {
    const query = `select application_name as name from pg_stat_replication where application_name like 'db%'
      order by (sync_state in ('sync', 'quorum')) = $1 desc, application_name`;
    const { rows } = await this.pool(primary, 'postgres').query<{ name: DatabaseName }>(query, [wanted === 'sync']);
    return rows[0]?.name ?? DATABASES.find((name) => name !== primary) ?? 'db1';
  }

  /** The processes of a machine. */
  on(name: DatabaseName): Processes {
    const processes = this.#machines.get(name);
    if (processes === undefined) throw new Error(`no machine is called ${name}`);
    return processes;
  }

  /** The machine is lost: no packet leaves it any more, and everything on it ends at once. */
  async lose(name: DatabaseName): Promise<void> {
    this.#options.network.unplug(name);
    await this.on(name).killAll();
  }

  /** Starts what does not run on the machine, with the disk that it had. */
  bringBack(name: DatabaseName): void {
    this.#options.network.plug(name);
    // In a new space of processes its number may be that of another one.
    if (!this.on(name).has('patroni'))
      rmSync(join(foldersOf(this.folderOf(name)).data, 'postmaster.pid'), { force: true });
    this.on(name).startAll();
  }

  /** Has another machine be the primary, as an operator does; returns what Patroni answers if it refuses. */
  async switchOver(from: DatabaseName, to: DatabaseName): Promise<string | undefined> {
    const url = `http://${this.#options.network.machine(from).address}:${PORTS.patroni}/switchover`;
    const body = JSON.stringify({ leader: from, candidate: to });
    const answer = await fetch(url, { method: 'POST', body });
    return answer.ok ? undefined : await answer.text();
  }

  /** Has a server need new files for its log from now on. */
  async useUpLog(name: DatabaseName): Promise<void> {
    for (let file = 0; file < LOG_FILES; file += 1) {
      await this.pool(name, 'postgres')
        .query(`select pg_logical_emit_message(false, 'uses', 'up'), pg_switch_wal()`)
        .catch(() => undefined);
    }
  }

  /** The disk of a machine, with its log and its tables. */
  diskOf(name: DatabaseName): Disk {
    const disk = this.#disks.get(name);
    if (disk === undefined) throw new Error(`${name} has no disk`);
    return disk;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#machines.values()].map((processes) => processes.killAll()));
    await Promise.all([...this.#pools.values()].map((pool) => pool.end()));
    for (const disk of this.#disks.values()) disk.unmount();
  }

  #prepare(name: DatabaseName): void {
    const folder = this.folderOf(name);
    const disk = join(folder, 'disk');
    mkdirSync(disk, { recursive: true });
    const mounted = mountDisk(disk, DISK_BYTES);
    if (mounted === undefined) throw new Error('this process may mount no disk');
    this.#disks.set(name, mounted);
    const { yaml } = foldersOf(folder);
    writeFileSync(yaml, patroniYaml(this.#plan, this.#options.network.machine(name), folder), { mode: 0o600 });
    const { uid = 0, gid = 0 } = unprivileged();
    const pooler = this.#writePooler(name);
    for (const path of [folder, disk, yaml, ...pooler]) chownSync(path, uid, gid);
  }

  #writePooler(name: DatabaseName): readonly string[] {
    const folder = this.folderOf(name);
    const [settings, users] = [join(folder, POOLER_FILE), join(folder, 'users.txt')];
    const lines = [
      '[databases]',
      `* = host=${foldersOf(folder).socket} port=${PORTS.postgres}`,
      '[pgbouncer]',
      `listen_addr = ${this.#options.network.machine(name).address}`,
      `listen_port = ${POOLER}`,
      'unix_socket_dir =',
      'auth_type = scram-sha-256',
      `auth_file = ${users}`,
      'max_client_conn = 200',
      'default_pool_size = 40',
    ];
    writeFileSync(settings, `${lines.join('\n')}\n`, { mode: 0o600 });
    writeFileSync(users, `"${OWNER}" "${PASSWORD}"\n`, { mode: 0o600 });
    return [settings, users];
  }

  async #asPrimary(name: DatabaseName): Promise<Primary | undefined> {
    if (!this.on(name).has('patroni')) return undefined;
    const query = `select ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int as "timeLine"
      where not pg_is_in_recovery()`;
    try {
      const { rows } = await this.pool(name, 'postgres').query<{ timeLine: number }>(query);
      return rows[0] && { name, ...rows[0] };
    } catch {
      return undefined;
    }
  }

  /** Patroni promotes a synchronous standby only when it has written down which one that is. */
  async #isKnownToPatroni(primary: DatabaseName, synchronous: number): Promise<boolean> {
    const url = `http://${this.#options.network.machine(primary).address}:${PORTS.patroni}/cluster`;
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) });
    const { members } = (await answer.json()) as { members: readonly { name: string; role: string; state: string }[] };
    const roles = members.map(({ role }) => role);
    return (
      members.length === DATABASES.length &&
      members.some(({ name, role }) => name === primary && role === 'leader') &&
      roles.filter((role) => role === 'sync_standby').length === synchronous
    );
  }

  async #until<Is>(what: string, is: () => Promise<Is | undefined>): Promise<Is> {
    for (const late = performance.now() + HEALTHY_WITHIN_MS; performance.now() < late; await wait(ASKED_EVERY_MS)) {
      const found = await is().catch(() => undefined);
      if (found !== undefined) return found;
    }
    throw new Error(`waited too long for ${what}: ${this.#log()}`);
  }

  #log(): string {
    const logs = DATABASES.map((name) => join(this.folderOf(name), 'patroni.log'));
    return execFileSync('tail', ['-n', '12', ...logs], { encoding: 'utf8' });
  }
}
