import { realpathSync } from 'node:fs';
import { userInfo } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { hostsText, type DatabaseHost } from './database-url.ts';
import { ConfigError, type Settings } from './settings.ts';
import { isLoopback } from './values.ts';

/** A SQLite file. `path` is absolute and without symbolic links, so that a file has only one path. */
export interface SqliteDatabase {
  readonly kind: 'sqlite';
  readonly path: string;
  readonly address: string;
}

/** Paths of files are absolute. The password in `passwordFile` may change while the program runs. */
export interface PostgresDatabase extends Omit<Settings['database'], 'url' | 'notify' | 'tls'> {
  readonly kind: 'postgres';
  readonly address: string;
  readonly hosts: readonly DatabaseHost[];
  readonly user: string;
  readonly name: string;
  /** True if `database.url` holds the password, which should stand in a file instead. */
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

/** Returns the file's path. Throws `ConfigError` with the advice `instead` if the database is PostgreSQL. */
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

/** Resolves the symbolic links of a path, or of its folder if the file does not exist yet. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(realPath(folder), basename(path));
  }
}
