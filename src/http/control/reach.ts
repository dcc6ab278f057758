import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { lstatSync, readdirSync, readlinkSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import { ConfigError, type Config } from '../../config/config.ts';
import { relayRequests, type RelayDeps } from './relay.ts';
import { newKeyPair } from './seal.ts';
import { controlSocketOf, socketFolder, unusableSocket } from './socket-path.ts';

/** A socket that was made just now may not listen yet. */
const NEW_MS = 60_000;
/** Of so many files a start looks whether they were left. */
const MOST_LOOKED_AT = 200;

const MOST_NAMING = 3;
const UNNAMED: Disposable = { [Symbol.dispose]: () => {} };

/** How commands reach a process that drives accounts. */
export interface Reach {
  /** The path on which it may serve its control socket. */
  readonly socket: string;
  /** Has `control.socket` lead to the socket that is served, unless it leads to that of another worker; until it is disposed of. */
  publish(): Promise<Disposable>;
  /** With which commands on other machines seal what they ask it for; undefined on SQLite, where there are none. */
  readonly publicKey: string | undefined;
  /** Answers what commands on other machines ask, until `stop` aborts. */
  relay(deps: Omit<RelayDeps, 'keys' | 'socketPath'>, stop: AbortSignal): Promise<void>;
}

/**
 * Prepares how this process is reached. The workers of a PostgreSQL database may be several on one machine: each has a socket
 * of its own, of which commands learn from the database, and the path that the settings name leads to one of them. What workers
 * that were killed have left is removed.
 */
export async function reachOf(config: Pick<Config, 'control' | 'database'>, clock: Clock): Promise<Reach> {
  if (config.database.kind === 'sqlite') {
    const publish = async () => UNNAMED;
    return { socket: controlSocketOf(config), publish, publicKey: undefined, relay: async () => {} };
  }
  const folder = socketFolder();
  await removeLeft(folder, clock);
  const socketPath = join(folder, `${randomUUID()}.sock`);
  const { socket: name } = config.control;
  const keys = newKeyPair();
  return {
    socket: socketPath,
    publish: async () => (name === undefined ? UNNAMED : await nameSocket(socketPath, name)),
    publicKey: keys.publicKey,
    relay: (deps, stop) => relayRequests({ ...deps, keys, socketPath }, stop),
  };
}

/** Workers that start together may take the name from each other: each is still found by its own path. */
async function nameSocket(socketPath: string, name: string): Promise<Disposable> {
  for (let tries = 1; tries <= MOST_NAMING; tries += 1) {
    try {
      symlinkSync(socketPath, name);
      return {
        [Symbol.dispose]() {
          if (leadsTo(name, socketPath)) rmSync(name, { force: true });
        },
      };
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw unusableSocket(name, error);
    }
    if (await isListenedTo(name)) break;
    const found = lstatSync(name, { throwIfNoEntry: false });
    if (found !== undefined && !found.isSocket() && !found.isSymbolicLink()) {
      throw new ConfigError(`control.socket: ${name} is there and is no socket; name another path`);
    }
    rmSync(name, { force: true });
  }
  return UNNAMED;
}

function leadsTo(name: string, socketPath: string): boolean {
  return lstatSync(name, { throwIfNoEntry: false })?.isSymbolicLink() === true && readlinkSync(name) === socketPath;
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
