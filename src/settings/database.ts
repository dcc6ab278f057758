import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { text } from './values.ts';

/** A SQLite file. `path` is absolute and without symbolic links, so that a file has only one path. */
export interface SqliteDatabase {
  readonly kind: 'sqlite';
  readonly path: string;
  readonly address: string;
}

/** A database on a server, which the settings of an extension describe. */
export interface ServerDatabase {
  readonly kind: 'postgres';
  readonly address: string;
  /** True if `database.url` holds the password, which should stand in a file instead. */
  readonly isPasswordInUrl: boolean;
  readonly passwordFile?: string | undefined;
  readonly marks: string;
  /** Loads the driver, a `DatabaseDriver`, only when it is used, because loading slows the start of a command. */
  readonly driver: () => Promise<unknown>;
}

export type DatabaseConfig = SqliteDatabase | ServerDatabase;

export const SQLITE_FORM = 'sqlite:PATH, such as sqlite:data/order-sync.db';

type SqliteUrl = { readonly kind: 'sqlite'; readonly file: string };

/** An extension for another kind of database replaces this field. */
export const databaseUrl = text((value): SqliteUrl | Pick<ServerDatabase, 'kind'> => {
  const url = readSqliteUrl(value);
  if (url !== undefined) return url;
  throw new Error(`must be ${SQLITE_FORM}: the extension of another database is not installed`);
});

export function readSqliteUrl(value: string): SqliteUrl | undefined {
  const [, file] = /^sqlite:(?!\/\/)([^\p{Cc}]+)$/u.exec(value) ?? [];
  return file === undefined ? undefined : { kind: 'sqlite', file };
}

export function withoutPassword(url: string): string {
  return url.replace(/^(postgres(?:ql)?:\/\/[^:@/?#]*):[^@/?#]*@/i, '$1@');
}

export function sqliteAt(file: string, cwd: string): SqliteDatabase {
  const path = realPath(resolve(cwd, file));
  return { kind: 'sqlite', path, address: path };
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
