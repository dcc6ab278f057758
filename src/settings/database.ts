import { realpathSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { hostsText, type DatabaseHost } from './database-url.ts';
import { ConfigError, type Settings } from './settings.ts';
import { readValueFile } from './settings-file.ts';
import { isLoopback, plainText, reader } from './values.ts';

/** A SQLite file. Its path is absolute, and the same one by whatever symbolic links it is named. */
export interface SqliteDatabase {
  readonly kind: 'sqlite';
  readonly path: string;
  readonly address: string;
}

/** Paths of files are absolute. `passwordFile` holds the password, which may change there while the program runs. */
export interface PostgresDatabase extends Omit<Settings['database'], 'url' | 'notify' | 'tls'> {
  readonly kind: 'postgres';
  readonly address: string;
  readonly hosts: readonly DatabaseHost[];
  readonly user: string;
  readonly name: string;
  /** A password should stand in a file instead. */
  readonly isPasswordInUrl: boolean;
  readonly notify: boolean;
  /** `require` encrypts and does not check who answers. */
  readonly tls: 'off' | 'require' | 'verify';
}

export type DatabaseConfig = SqliteDatabase | PostgresDatabase;

export function databaseOf({ url: place, ...settings }: Settings['database'], cwd: string): DatabaseConfig {
  if (place.kind === 'sqlite') {
    const path = realPath(resolve(cwd, place.file));
    return { kind: 'sqlite', path, address: path };
  }
  const { hosts, name } = place;
  const user = place.user ?? systemUser();
  const folder = hosts.map(({ host }) => host).find((host) => host.startsWith('/'));
  const authority = `${encodeURIComponent(user)}@${hostsText(hosts)}`;
  const address = `postgres://${authority}/${encodeURIComponent(name)}${folder === undefined ? '' : `?host=${folder}`}`;
  const isHere = folder !== undefined || hosts.every(({ host }) => isLoopback(host));
  return {
    kind: 'postgres',
    address,
    hosts,
    user,
    name,
    ...settings,
    password: settings.password ?? place.password,
    isPasswordInUrl: place.password !== undefined,
    notify: settings.notify === 'on',
    tls: settings.tls ?? (isHere ? 'off' : 'verify'),
    tlsCaFile: settings.tlsCaFile === undefined ? undefined : resolve(cwd, settings.tlsCaFile),
    marks: resolve(cwd, settings.marks),
  };
}

/** Reads the password of a database again from its file; undefined if there is none, or it cannot be read now. */
export function rereadPassword({ passwordFile }: Pick<PostgresDatabase, 'passwordFile'>): string | undefined {
  if (passwordFile === undefined) return undefined;
  try {
    // A pipe can be read only once.
    return statSync(passwordFile).isFile()
      ? reader(plainText)(readValueFile(passwordFile, 'database.password'))
      : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the path of the SQLite file. If the database is PostgreSQL, throws `ConfigError`, which names the command for it. */
export function sqlitePath({ database }: { readonly database: DatabaseConfig }, instead: string): string {
  if (database.kind === 'sqlite') return database.path;
  throw new ConfigError(`this is for SQLite, and database.url names ${database.address}: ${instead}`);
}

function systemUser(): string {
  try {
    return userInfo().username;
  } catch (cause) {
    throw new ConfigError('database.url names no user, and the user of this system has no name', { cause });
  }
}

/** The path without symbolic links; of a file that does not exist yet, its folder's without them. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(realPath(folder), basename(path));
  }
}
