import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { openStore } from '../../../src/extensions/postgres/store.ts';
import { newPostgresDatabase } from '../../support/postgres.ts';
import { placeOf } from '../../support/postgres-store.ts';
import { freePort } from '../../support/postgres-server.ts';
import { temporaryFolder } from '../../support/folders.ts';

const isThere = spawnSync('pgbouncer', ['--version']).status === 0;

/** Starts PgBouncer before a database; resolves to the address of the database behind it once it listens. */
async function poolerBefore(url: string, mode: 'session' | 'transaction'): Promise<string> {
  const place = new URL(url);
  const [folder, port] = [temporaryFolder(), await freePort()];
  const users = join(folder, 'users.txt');
  writeFileSync(users, `"${place.username}" "${decodeURIComponent(place.password)}"\n`, { mode: 0o644 });
  const settings = join(folder, 'pgbouncer.ini');
  const lines = [
    '[databases]',
    `* = host=${place.hostname} port=${place.port}`,
    '[pgbouncer]',
    `listen_addr = 127.0.0.1`,
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = plain',
    `auth_file = ${users}`,
    `pool_mode = ${mode}`,
    'ignore_startup_parameters = extra_float_digits',
  ];
  writeFileSync(settings, lines.join('\n'), { mode: 0o644 });
  const pooler = spawn('pgbouncer', [...(process.getuid?.() === 0 ? ['-u', 'nobody'] : []), settings]);
  onTestFinished(() => void pooler.kill('SIGKILL'));
  for await (const line of pooler.stderr) if (String(line).includes('process up')) break;
  return Object.assign(new URL(url), { port: String(port) }).href;
}

const open = async (url: string) => await openStore(placeOf(url), systemClock(), { expect: 'upgrade' });

it.skipIf(!isThere)('an owner behind PgBouncer works in session mode', async () => {
  const { url } = await newPostgresDatabase();
  const store = await open(await poolerBefore(url, 'session'));
  onTestFinished(() => store.close());
  expect((await store.migrations()).pending).toEqual([]);
});

it.skipIf(!isThere)(
  'an owner behind PgBouncer in transaction mode begins nothing, and is told of the pooler',
  async () => {
    const { url } = await newPostgresDatabase();
    const pooled = await poolerBefore(url, 'transaction');
    for (let times = 0; times < 3; times += 1) {
      await expect(open(pooled)).rejects.toMatchObject({
        problem: 'unusable',
        message: expect.stringContaining('pool_mode'),
      });
    }
  },
);
