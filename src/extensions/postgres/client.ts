import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { deadline } from '../../base/clock.ts';
import { storable } from '../../base/text.ts';
import type { PostgresDatabase } from '../../settings/database.ts';
import { StoreError } from '../../store/errors.ts';

const CONNECT_TIMEOUT_MS = 5_000;
/** How long an answer is waited for when the process has no time left. */
export const LAST_ANSWER_MS = 2_000;

/** One connection. Waiting for one of the pool has no limit, making one has. */
export class Client extends pg.Client {
  constructor(config: pg.ClientConfig) {
    // The pool hides the password from whoever lists its options.
    super({ ...config, password: config.password, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
    // A server that waits for an answer which never comes would keep the connection, and that this process, for a minute.
    this.connection.on('error', () => this.breakOff());
  }

  breakOff(): void {
    this.connection.stream.destroy();
  }
}

/** Has what is asked for by the time when `hurry` aborts end soon: the connections of the pool are closed then. */
export function breakOffLate(pool: pg.Pool, hurry: AbortSignal): void {
  const clients = new Set<Client>();
  pool.on('connect', (client) => clients.add(client as unknown as Client));
  pool.on('remove', (client) => clients.delete(client as unknown as Client));
  const begin = () => {
    const late = [...clients];
    deadline(LAST_ANSWER_MS).addEventListener('abort', () => late.forEach((client) => client.breakOff()));
  };
  hurry.addEventListener('abort', begin, { once: true });
}

/** Texts of the exchange or other programs may contain NUL. */
export function storableValues(values: readonly unknown[]): unknown[] {
  return values.map((value) => (typeof value === 'string' && value.includes('\0') ? storable(value) : value));
}

/** A number, or its text if a number would lose digits. */
function exactNumber(text: string): number | string {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : text;
}

/** Reads values of each type as SQLite does. All other types are read as text. */
export const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  [pg.types.builtins.BYTEA]: (text) => Buffer.from(text.slice('\\x'.length), 'hex'),
  [pg.types.builtins.BOOL]: (text) => (text === 't' ? 1 : 0),
  [pg.types.builtins.INT2]: Number,
  [pg.types.builtins.INT4]: Number,
  [pg.types.builtins.INT8]: exactNumber,
  [pg.types.builtins.NUMERIC]: exactNumber,
  [pg.types.builtins.FLOAT4]: Number,
  [pg.types.builtins.FLOAT8]: Number,
};

/** How connections are encrypted, as the driver takes it. Throws `StoreError` if the file of the authorities is of no use. */
export function tlsOf({ tls, tlsCaFile }: PostgresDatabase) {
  if (tls === 'off') return false;
  if (tls === 'require') return { rejectUnauthorized: false };
  if (tlsCaFile === undefined) return { rejectUnauthorized: true };
  let ca = readAuthorities(tlsCaFile);
  return {
    rejectUnauthorized: true,
    /** Read by the driver for each new connection: a file that was replaced holds for the next. */
    get ca() {
      try {
        ca = readAuthorities(tlsCaFile);
      } catch {
        // The last that could be used stays.
      }
      return ca;
    },
  };
}

/** Throws `StoreError` if the file cannot be read, or has no certificate in it. */
function readAuthorities(file: string): string {
  try {
    const authorities = readFileSync(file, 'utf8');
    // TLS passes over what is no certificate, or half of one.
    const [first = '', ...more] = authorities.split(/(?<=-----END CERTIFICATE-----\s+)(?=\S)/);
    [first, ...more.filter((part) => part.includes('-----BEGIN'))].forEach((part) => new X509Certificate(part));
    return authorities;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const advice = 'correct database.tlsCaFile';
    throw new StoreError('unusable', `${file} cannot be used (${why}); ${advice}`, { cause });
  }
}
