import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chownSync, existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { findPostgres, freePorts, unprivileged } from '../../src/extensions/sandbox/cluster/machine.ts';

/** The role that owns the databases of tests; it is no superuser, as it is none in production. */
export const OWNER = 'order_sync';
const SUPERUSER = 'postgres';
/** As a password in a URL may be: it is told nowhere. */
export const PASSWORD = 'test canary';
const ROOM_BYTES = 2 * 1024 ** 3;

/** A PostgreSQL server of a test's own, in a folder of its own. */
export interface PostgresServer extends AsyncDisposable {
  /** The folder of its socket, which lets anybody in who can open it, and its port on loopback, which asks for a password. */
  readonly folder: string;
  readonly port: number;
  /** The address of a database as its owner writes it in the settings. */
  url(database: string): string;
  /** Connections of the superuser. */
  admin(database?: string): pg.Pool;
  /** Starts it again after it was stopped. */
  start(): Promise<void>;
  /** `fast` ends the connections of clients, `immediate` is a crash. */
  stop(how?: 'fast' | 'immediate'): Promise<void>;
}

export { findPostgres };

/** As `findPostgres`; nothing if a machine with a server must show that the tests pass without one. */
export function postgresOfTests(): string | undefined {
  return process.env['TEST_POSTGRES'] === 'pglite' ? undefined : findPostgres();
}

/** Makes a new server in a folder of its own in `place`, and starts it. It ends with this process, however that ends. */
export async function startPostgres(
  bin: string,
  settings: Readonly<Record<string, string>> = {},
  place = fastFolder(),
): Promise<PostgresServer> {
  const files = await newServerFiles(bin, place);
  const { data, folder, port, user } = files;
  const options = ['--auth-local=trust', '--auth-host=scram-sha-256', '-E', 'UTF8', '--locale=C', '--no-sync'];
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', SUPERUSER, ...options], { ...user, cwd: folder, stdio: 'pipe' });
  // Writes are synced as in production: in a folder of memory that costs little.
  const configuration = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: folder,
    shared_buffers: '64MB',
    max_connections: '300',
    max_wal_size: '256MB',
    lc_messages: 'C',
    // A client that stops while it comes in keeps databases from being dropped.
    authentication_timeout: '5s',
    // Segments in the system's memory would outlive a server that is killed.
    dynamic_shared_memory_type: 'mmap',
    ...settings,
  };
  writeFileSync(join(data, 'postgresql.auto.conf'), linesOf(configuration));
  return await started(files, async (server) => {
    const admin = server.admin();
    await admin.query(`create role ${OWNER} login createdb password '${PASSWORD}'`);
    await admin.end();
  });
}

/** A standby of a server. */
export interface Standby extends PostgresServer {
  /** Receives nothing more from the primary. The data that it has received stays. */
  disconnect(): Promise<void>;
  /** Receives from the primary again; resolves when it does. */
  connect(): Promise<void>;
  /** Makes it a primary on a time-line of its own, with what it has received. */
  promote(): Promise<void>;
}

/**
 * Copies a running server and starts the copy as its streaming standby, under a name for `synchronous_standby_names`; resolves when
 * it receives.
 */
export async function startStandby(bin: string, primary: PostgresServer, name = 'standby'): Promise<Standby> {
  const files = await newServerFiles(bin, dirname(primary.folder));
  const { data, folder, port, user } = files;
  const from = ['-h', primary.folder, '-p', String(primary.port), '-U', SUPERUSER];
  const how = ['-X', 'stream', '-c', 'fast', '--no-sync', '-D', data];
  execFileSync(join(bin, 'pg_basebackup'), [...from, ...how], { ...user, cwd: folder, stdio: 'pipe' });
  const primaryInfo = `host=${primary.folder} port=${primary.port} user=${SUPERUSER} application_name=${name}`;
  const configuration = { port: String(port), unix_socket_directories: folder, primary_conninfo: primaryInfo };
  appendFileSync(join(data, 'postgresql.auto.conf'), linesOf(configuration));
  writeFileSync(join(data, 'standby.signal'), '');
  const query = async (sql: string) => {
    const admin = server.admin();
    try {
      return (await admin.query<{ is: boolean }>(sql)).rows[0]?.is === true;
    } finally {
      await admin.end();
    }
  };
  const until = async (sql: string) => {
    while (!(await query(sql))) await wait(20);
  };
  const receives = `select exists (select from pg_stat_wal_receiver where status = 'streaming') as is`;
  const receiveFrom = async (conninfo: string) => {
    await query(`alter system set primary_conninfo = '${conninfo}'`);
    await query('select pg_reload_conf()');
  };
  const server = await started(files, () => Promise.resolve());
  const standby: Standby = {
    ...server,
    async disconnect() {
      await receiveFrom('');
      await until('select not exists (select from pg_stat_wal_receiver) as is');
    },
    async connect() {
      await receiveFrom(primaryInfo);
      await until(receives);
    },
    async promote() {
      await query('select pg_promote()');
    },
  };
  await until(receives);
  return standby;
}

interface ServerFiles {
  readonly bin: string;
  readonly user: { uid?: number; gid?: number };
  readonly folder: string;
  readonly data: string;
  readonly port: number;
}

async function newServerFiles(bin: string, place: string): Promise<ServerFiles> {
  const user = unprivileged();
  const folder = mkdtempSync(join(place, 'order-sync-pg-'));
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
  return { bin, user, folder, data: join(folder, 'data'), port: await freePort() };
}

function linesOf(configuration: Readonly<Record<string, string>>): string {
  return Object.entries(configuration)
    .map(([name, value]) => `${name} = '${value}'\n`)
    .join('');
}

/** Starts a server, and does what must be done before anybody uses it. */
async function started(
  { bin, user, folder, port }: ServerFiles,
  prepare: (server: PostgresServer) => Promise<void>,
): Promise<PostgresServer> {
  let running: ChildProcess | undefined;
  const server: PostgresServer = {
    folder,
    port,
    url: (database) => `postgres://${OWNER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${database}`,
    admin(database = 'postgres') {
      const pool = new pg.Pool({ host: folder, port, user: SUPERUSER, database, max: 4 });
      // An unused connection ends with the server.
      return pool.on('error', () => undefined);
    },
    async start() {
      running = await spawnServer(join(bin, 'postgres'), folder, user);
    },
    async stop(how = 'fast') {
      if (running === undefined) return;
      running.ref();
      const ended = once(running, 'exit');
      running.stdin?.end(how === 'fast' ? 'INT\n' : 'QUIT\n');
      running = undefined;
      await ended;
    },
    async [Symbol.asyncDispose]() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await server.start();
    await prepare(server);
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
  return server;
}

/**
 * A shell stands between: it stops the server when it is told to. When the process that started it is gone, it also takes the
 * folder away.
 */
const KEEPER = `folder=$1; shift
  "$@" 2>&1 </dev/null &
  read -r signal || signal=
  kill -s "\${signal:-INT}" $!
  wait $!
  test -n "$signal" || rm -rf "$folder"`;

async function spawnServer(
  postgres: string,
  folder: string,
  user: { uid?: number; gid?: number },
): Promise<ChildProcess> {
  const child = spawn('sh', ['-c', KEEPER, 'sh', folder, postgres, '-D', join(folder, 'data')], {
    ...user,
    cwd: folder,
    // A Ctrl-C is for the tests, which then stop it.
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const said: string[] = [];
  const lines = createInterface({ input: child.stdout });
  await new Promise<void>((resolve, reject) => {
    lines.on('line', (line) => {
      said.push(line);
      if (/ready to accept (read-only )?connections/.test(line)) resolve();
    });
    lines.once('close', () =>
      reject(new Error(`the PostgreSQL server of the tests did not start: ${said.join('\n')}`)),
    );
  });
  // Its log is read on, so that it never waits for that.
  lines.removeAllListeners('line').resume();
  child.unref();
  return child;
}

/** A folder in memory if there is one with enough room. */
export function fastFolder(): string {
  const memory = '/dev/shm';
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize >= ROOM_BYTES ? memory : tmpdir();
}

/** Finds a port of this machine that nothing listens on. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}
