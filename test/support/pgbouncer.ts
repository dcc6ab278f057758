import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from './folders.ts';
import { freePort } from './postgres-server.ts';
import { endWithUs } from './supervisor.ts';

/** True if PgBouncer is installed on this machine. */
export const hasPgbouncer = spawnSync('pgbouncer', ['--version']).status === 0;

export type PoolMode = 'session' | 'transaction' | 'statement';

/** PgBouncer before a database of a test, until the test is finished. */
export interface Pooler {
  /** The address of the database behind it. */
  readonly url: string;
  /** Ends it as a crash does. */
  kill(): Promise<void>;
  /** Starts it again after that, with other lines of its settings in place of its own. */
  start(settings?: Readonly<Record<string, string | number>>): Promise<void>;
  /** Has it read other lines of its settings while it runs. */
  reload(settings: Readonly<Record<string, string | number>>): Promise<void>;
  /** Runs a command of its console, such as PAUSE. */
  command(text: string): Promise<void>;
}

/** Starts PgBouncer before a database, with more lines of its settings. */
export async function poolerBefore(
  url: string,
  mode: PoolMode,
  settings: Readonly<Record<string, string | number>> = {},
): Promise<Pooler> {
  const place = new URL(url);
  const [folder, port] = [temporaryFolder(), await freePort()];
  const [users, file] = [join(folder, 'users.txt'), join(folder, 'pgbouncer.ini')];
  const password = decodeURIComponent(place.password);
  writeFileSync(users, `"${place.username}" "${password}"\n`, { mode: 0o644 });
  let now: Readonly<Record<string, string | number>> = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'plain',
    auth_file: users,
    admin_users: place.username,
    pool_mode: mode,
    ...settings,
  };
  const write = (more: typeof now) => {
    now = { ...now, ...more };
    const { database = '', ...lines } = now;
    const head = ['[databases]', `* = host=${place.hostname} port=${place.port} ${database}`, '[pgbouncer]'];
    const text = [...head, ...Object.entries(lines).map(([name, value]) => `${name} = ${value}`)].join('\n');
    writeFileSync(file, text, { mode: 0o644 });
  };
  let running: ChildProcess | undefined;
  const pooler: Pooler = {
    url: Object.assign(new URL(url), { port: String(port) }).href,
    async kill() {
      if (running === undefined) return;
      const ended = once(running, 'exit');
      running.kill('SIGKILL');
      running = undefined;
      await ended;
    },
    async start(more = {}) {
      write(more);
      const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
      const child = endWithUs(spawn('pgbouncer', [...user, file], { stdio: ['ignore', 'ignore', 'pipe'] }));
      running = child;
      await new Promise<void>((resolve, reject) => {
        child.once('exit', () => reject(new Error('PgBouncer did not start')));
        child.stderr.on('data', (data) => String(data).includes('process up') && resolve());
      });
    },
    async reload(more) {
      write(more);
      await pooler.command('RELOAD');
    },
    async command(text) {
      const { username: user } = place;
      const console = new pg.Client({ host: '127.0.0.1', port, user, password, database: 'pgbouncer' });
      await console.connect();
      try {
        await console.query(text);
      } finally {
        await console.end();
      }
    },
  };
  onTestFinished(() => pooler.kill());
  await pooler.start();
  return pooler;
}
