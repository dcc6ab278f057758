import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';

/** Debian has a folder for each version of PostgreSQL here. These folders are not in PATH. */
const DEBIAN = '/usr/lib/postgresql';

export function findProgram(name: string, folders: readonly string[] = []): string | undefined {
  const script = 'PATH="$PATH${2:+:$2}"; command -v "$1"';
  try {
    const args = ['-c', script, 'sh', name, folders.join(':')];
    return execFileSync('sh', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
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
    try {
      const [uid, gid] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, name], { stdio: 'pipe' })));
      if (uid !== undefined && gid !== undefined) return { uid, gid };
    } catch {
      continue;
    }
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
