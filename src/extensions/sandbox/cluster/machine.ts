import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';

/** Debian has a folder for each version of PostgreSQL here. These folders are not in PATH. */
const DEBIAN = '/usr/lib/postgresql';

export function findProgram(name: string, folders: readonly string[] = []): string | undefined {
  const script = 'PATH="$PATH${2:+:$2}"; command -v "$1"';
  const { status, stdout } = spawnSync('sh', ['-c', script, 'sh', name, folders.join(':')], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

export function findPostgres(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).toSorted((one, other) => Number(other) - Number(one)) : [];
  const folders = versions.map((version) => join(DEBIAN, version, 'bin'));
  const initdb = findProgram('initdb', folders);
  if (initdb === undefined) return undefined;
  // The `initdb` in PATH may be a link into the folder that has the other programs.
  const bin = dirname(realpathSync(initdb));
  return ['postgres', 'pg_ctl'].every((name) => existsSync(join(bin, name))) ? bin : undefined;
}

/** Returns a user for PostgreSQL, which refuses root; {} if this process is not root or neither user exists. */
export function unprivileged(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  for (const name of ['postgres', 'nobody']) {
    const [user, group] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }));
    if (user?.status === 0 && group?.status === 0) return { uid: Number(user.stdout), gid: Number(group.stdout) };
  }
  return {};
}

export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}
