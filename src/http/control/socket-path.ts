import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { sqlitePath, type Config } from '../../config/config.ts';
import { messageOf } from '../../domain/text.ts';
import { StoreError } from '../../store/errors.ts';

/** The shortest limit of a socket's path on any system is 104 bytes, with a zero at its end. */
const LONGEST_PATH_BYTES = 103;

/** The error where the system makes no control socket at a path. */
export function unusableSocket(path: string, error: unknown): StoreError {
  const message = `no control socket can be made at ${path} (${messageOf(error)}); set control.socket to a path of at most ${LONGEST_PATH_BYTES} bytes, in a folder that this user can write to`;
  return new StoreError('disk', message, { cause: error });
}

/** The path of the control socket that the settings name, or else that of their database. */
export function controlSocketOf({ control, database }: Pick<Config, 'control' | 'database'>): string {
  return control.socket ?? controlSocketPath(sqlitePath({ database }, 'use sqlite:PATH'));
}

/**
 * The path of the control socket of a database: beside it, or, where that path is too long for a socket, in a folder of
 * this user in the system's temporary folder, with a name made from the database's path.
 */
export function controlSocketPath(databasePath: string): string {
  const beside = `${databasePath}.sock`;
  if (Buffer.byteLength(beside) <= LONGEST_PATH_BYTES) return beside;
  const name = createHash('sha256').update(databasePath).digest('hex').slice(0, 24);
  return join(socketFolder(), `${name}.sock`);
}

/** The folder of this user in the system's temporary folder, made where it is not there. */
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
