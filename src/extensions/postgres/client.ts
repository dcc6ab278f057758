import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import pg from 'pg';
import { readValueFile } from '../../settings/settings-file.ts';
import { plainText, reader } from '../../settings/values.ts';
import { messageOf, storable } from '../../base/text.ts';
import type { PostgresDatabase } from './place/settings.ts';
import type { DatabaseHost } from './place/url.ts';
import { StoreError, unusable } from '../../store/errors.ts';

/** After this time without traffic, TCP checks that the other side still answers. */
const KEEP_ALIVE_MS = 10_000;

/** Each new connection reads the destination again, because another server may have become the primary. */
type Destination = Readonly<{ server: DatabaseHost; connectTimeoutMs: number }>;

/** A connection with a time limit for connecting. A limit of the pool would include the wait for a free connection. */
export class Client extends pg.Client {
  readonly server: DatabaseHost;

  constructor(config: pg.ClientConfig & { readonly destination: Destination }) {
    const { server, connectTimeoutMs } = config.destination;
    // The pool hides the password from enumeration, so the spread does not copy it.
    super({ ...config, ...server, password: config.password, connectionTimeoutMillis: connectTimeoutMs });
    this.server = server;
    // After an error, the server may wait a minute for a password. The open socket would keep this process alive.
    this.connection.on('error', () => this.breakOff());
  }

  breakOff(): void {
    this.connection.stream.destroy();
  }
}

/** Replaces NUL in texts, because PostgreSQL refuses it. */
export function storableValues(values: readonly unknown[]): unknown[] {
  return values.map((value) => (typeof value === 'string' && value.includes('\0') ? storable(value) : value));
}

function exactNumber(text: string): number | string {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : text;
}

/** Parsers that return values as SQLite does. Values of all other types stay text. */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  [pg.types.builtins.BYTEA]: (text) => Buffer.from(text.slice('\\x'.length), 'hex'),
  [pg.types.builtins.BOOL]: (text) => (text === 't' ? 1 : 0),
  [pg.types.builtins.INT2]: Number,
  [pg.types.builtins.INT4]: Number,
  [pg.types.builtins.INT8]: exactNumber,
  [pg.types.builtins.NUMERIC]: exactNumber,
  [pg.types.builtins.FLOAT4]: Number,
  [pg.types.builtins.FLOAT8]: Number,
};

/** Returns the settings of each connection. Throws `StoreError` if the certificates cannot be read. */
export function clientConfig(place: PostgresDatabase): pg.ClientConfig {
  return {
    user: place.user,
    database: place.name,
    // Without a function, the driver would look for a password in the environment and in a file of the user.
    password: passwordsOf(place),
    ssl: tlsOf(place),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    application_name: 'order-sync',
    client_encoding: 'UTF8',
    types: { getTypeParser: (oid: number) => PARSERS[oid] ?? ((text: string) => text) },
  };
}

/** Returns a function that reads the password for each new connection, so that a changed file counts. */
function passwordsOf(place: PostgresDatabase): () => string {
  let { password = '' } = place;
  return () => {
    password = rereadPassword(place) ?? password;
    // The driver sends no empty password.
    if (password !== '') return password;
    throw new StoreError('denied', `${place.address} asks for a password and none is set; set database.passwordFile`);
  };
}

function tlsOf({ tls, tlsCaFile }: PostgresDatabase) {
  if (tls === 'off') return false;
  if (tls === 'require') return { rejectUnauthorized: false };
  if (tlsCaFile === undefined) return { rejectUnauthorized: true };
  let ca = readAuthorities(tlsCaFile);
  return {
    rejectUnauthorized: true,
    /** The driver reads this for each new connection, so that a replaced file counts. */
    get ca() {
      try {
        ca = readAuthorities(tlsCaFile);
      } catch {}
      return ca;
    },
  };
}

/** Throws `StoreError` if the file cannot be read, has no certificate, or has a broken certificate. */
function readAuthorities(file: string): string {
  try {
    const authorities = readFileSync(file, 'utf8');
    // TLS ignores a broken certificate without an error, so each certificate is parsed here.
    const [first = '', ...more] = authorities.split(/(?<=-----END CERTIFICATE-----\s+)(?=\S)/);
    [first, ...more.filter((part) => part.includes('-----BEGIN'))].forEach((part) => new X509Certificate(part));
    return authorities;
  } catch (cause) {
    throw unusable(`${file} cannot be used (${messageOf(cause)}); correct database.tlsCaFile`, { cause });
  }
}

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
