import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import type { Config } from '../../config/config.ts';
import { relayRequests, type RelayDeps } from './relay.ts';
import { newKeyPair } from './seal.ts';
import { controlSocketOf, socketFolder } from './socket-path.ts';

/** A socket that was made just now may not listen yet. */
const NEW_MS = 60_000;
/** Of so many files a start looks whether they were left. */
const MOST_LOOKED_AT = 200;

/** How commands reach a process that drives accounts. */
export interface Reach {
  /** The path on which it may serve its control socket. */
  readonly socket: string;
  /** With which commands on other machines seal what they ask it for; undefined on SQLite, where there are none. */
  readonly publicKey: string | undefined;
  /** Answers what commands on other machines ask, until `stop` aborts. */
  relay(deps: Omit<RelayDeps, 'keys' | 'socketPath'>, stop: AbortSignal): Promise<void>;
}

/**
 * Prepares how this process is reached. The workers of a PostgreSQL database may be several on one machine: the first has the
 * control socket that the settings name, each other one a socket of its own, of which commands learn from the database. What
 * workers that were killed have left there is removed.
 */
export async function reachOf(config: Pick<Config, 'control' | 'database'>, clock: Clock): Promise<Reach> {
  if (config.database.kind === 'sqlite') {
    return { socket: controlSocketOf(config), publicKey: undefined, relay: async () => {} };
  }
  const socketPath = await freePath(config.control.socket, clock);
  const keys = newKeyPair();
  return {
    socket: socketPath,
    publicKey: keys.publicKey,
    relay: (deps, stop) => relayRequests({ ...deps, keys, socketPath }, stop),
  };
}

async function freePath(wanted: string | undefined, clock: Clock): Promise<string> {
  if (wanted !== undefined && !(await isListenedTo(wanted))) return wanted;
  const folder = socketFolder();
  await removeLeft(folder, clock);
  return join(folder, `${randomUUID()}.sock`);
}

async function removeLeft(folder: string, clock: Clock): Promise<void> {
  const paths = readdirSync(folder).filter((name) => name.endsWith('.sock'));
  for (const path of paths.slice(0, MOST_LOOKED_AT).map((name) => join(folder, name))) {
    const found = statSync(path, { throwIfNoEntry: false });
    const isOld = found !== undefined && clock.now().getTime() - found.mtimeMs > NEW_MS;
    if (isOld && found.isSocket() && !(await isListenedTo(path))) rmSync(path, { force: true });
  }
}

async function isListenedTo(path: string): Promise<boolean> {
  const socket = createConnection(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    // Any other error is one of a process that is there.
    return !['ENOENT', 'ECONNREFUSED', 'ENOTDIR', 'ENOTSOCK'].includes((error as NodeJS.ErrnoException).code ?? '');
  } finally {
    socket.destroy();
  }
}
