import { hash } from 'node:crypto';
import { lstatSync, mkdirSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { sqlitePath, type Config } from '../../../settings/config.ts';
import { apiSettings } from '../settings.ts';
import { messageOf } from '../../../base/text.ts';
import { StoreError } from '../../../store/errors.ts';
import { overNode } from '../../shop/socket.ts';
import { Route } from '../../shop/transport.ts';

/** A way to a process that drives accounts. If `send` rejects with `CommandError`, nothing was asked. */
export type Transport = Pick<Route, 'send'>;

export function socketTransport(socketPath: string): Transport {
  return new Route(overNode(socketPath), ['http://localhost']);
}

/** The shortest limit of a socket's path on any system is 104 bytes, with a zero at its end. */
const LONGEST_PATH_BYTES = 103;

export function unusableSocket(path: string, error: unknown): StoreError {
  const message = `no control socket can be made at ${path} (${messageOf(error)}); set control.socket to a path of at most ${LONGEST_PATH_BYTES} bytes, in a folder that this user can write to`;
  return new StoreError('disk', message, { cause: error });
}

export function controlSocketOf(config: Pick<Config, 'database'>): string {
  return apiSettings.of(config).control.socket ?? controlSocketPath(sqlitePath(config, 'use sqlite:PATH'));
}

/** Returns a path beside the database or, if that is too long for a socket, one in this user's temporary folder. */
export function controlSocketPath(databasePath: string): string {
  const beside = `${databasePath}.sock`;
  if (Buffer.byteLength(beside) <= LONGEST_PATH_BYTES) return beside;
  const name = hash('sha256', databasePath).slice(0, 24);
  return join(socketFolder(), `${name}.sock`);
}

export function socketFolder(): string {
  const { uid } = userInfo();
  const folder = join(tmpdir(), `order-sync-${uid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o077) !== 0) {
    throw new Error(
      `${folder} must be a folder that only this user can open; remove it, or shorten the database's path`,
    );
  }
  return folder;
}
