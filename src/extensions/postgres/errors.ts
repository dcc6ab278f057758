import pg from 'pg';
import { StoreError, UnlistedError, type StoreProblem } from '../../store/errors.ts';

export const READ_ONLY = 'set database.url to the primary server, or default_transaction_read_only to off';
const DENIED = 'refuses what the user may not do';

type Meaning = readonly [said: RegExp, problem: StoreProblem, meaning: string, advice: string];

/** The first match of code and message counts. `$1` is the group in `said`, `ROLE` the user. PgBouncer sends 08P01. */
const MEANINGS: readonly Meaning[] = [
  [
    /^08P01 .*statement pooling/,
    'denied',
    'is behind a pooler that allows no transactions, as PgBouncer does with pool_mode = statement',
    'set its pool_mode to transaction or session, or database.url to the server',
  ],
  [
    /^08P01 .*(max_client_conn|_timeout$|no more connections)/,
    'busy',
    'is behind a pooler that has no free connection',
    'raise its max_client_conn and default_pool_size, lower database.poolSize, or end its PAUSE',
  ],
  [
    /^08P01 .*(authentication|password|no such|does not exist)/,
    'denied',
    'is behind a pooler that does not accept this user, password or database',
    'correct its [databases] and auth_file, or database.url and database.password',
  ],
  [/^08P01/, 'disk', 'is out of reach', 'see the logs of its pooler and its server'],
  [/^3D000/, 'unusable', 'is not there', 'make it with createdb, or correct database.url'],
  [
    /^28/,
    'denied',
    'takes neither this user nor this password',
    'correct database.url and database.password, or the rules of the server',
  ],
  [
    /^42501 permission denied for (?:table|view) (?!kysely_|migration_)(\S+)$/,
    'denied',
    DENIED,
    'run as the role that owns the tables: grant select, insert, update, delete on $1 to ROLE',
  ],
  [
    /^42501 permission denied for (sequence \S+)$/,
    'denied',
    DENIED,
    'run as the role that owns the tables: grant select, update on $1 to ROLE',
  ],
  [
    /^42501/,
    'denied',
    DENIED,
    'run order-sync db migrate as the role that owns the tables, or grant what docs/postgresql.md lists under "Setting it up"',
  ],
  [/^25006/, 'disk', 'is read-only, as a standby is', READ_ONLY],
  [/^(53300|53400)/, 'busy', 'takes no more connections', 'lower database.poolSize, or raise its max_connections'],
  [/^(53|58|XX00[12])/, 'disk', 'cannot be written', 'check the disk and the memory of the server'],
  [/^(57P0|08)/, 'disk', 'is out of reach', 'see that its server runs'],
  [/^(40|55P03|57014)/, 'busy', 'has been locked by another program for too long', 'find its open transaction'],
  [
    /^(26000|42P05)/,
    'unusable',
    'is behind a pooler that loses prepared statements, as PgBouncer does with pool_mode = transaction',
    'do that again, or set its pool_mode to session',
  ],
  [/^(42P01|42703|42883|42P07)/, 'unusable', 'has other tables than this version', 'run: order-sync db status'],
];

/** Codes that refuse a row's values. Merchants' triggers raise class `P0`, or classes that PostgreSQL does not use. */
const REFUSED = /^(2[23]|44|P0|(?!5[3-8]|72|XX)[5-9I-Z])/;

/** Codes about the server, the connection or a lock, and not about the row, even if a function failed with them. */
const NOT_OF_FUNCTIONS = /^(08|25006|28|40|53|55P03|57P|58|XX00[12])/;

/** Codes of failures to encrypt a connection as `database.tls` requires. */
const TLS = /^(CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|ERR_TLS|ERR_SSL|EPROTO)/;

/** Codes after which the same work may be done again at once, because nothing was written. */
const RETRIED = /^(40001|40P01|57P0|08|25P03|53300)/;

/** Converts an error of the driver; returns a `StoreError` unchanged. Callers must not pass other errors. */
export function postgresError(error: unknown, address: string): StoreError {
  if (error instanceof StoreError) return error;
  const cause = { cause: error };
  const message = messageOf(error);
  const code = codeOf(error);
  const source = functionOf(error);
  const isOfServer = error instanceof pg.DatabaseError;
  if (source !== undefined) return new StoreError('refused', `${message} (in ${source})`, cause);
  if (isOfServer && REFUSED.test(code)) return new StoreError('refused', message, cause);
  const text = `${code} ${message}`;
  const [said, problem, meaning, advice = ''] = MEANINGS.find(([one]) => one.test(text)) ?? [];
  if (said !== undefined && problem !== undefined) {
    const [, object = ''] = said.exec(text) ?? [];
    const [, role = ''] = /^postgres:\/\/([^@]+)@/.exec(address) ?? [];
    const name = pg.escapeIdentifier(decodeURIComponent(role));
    const remedy = advice.replace('$1', () => object).replace('ROLE', () => name);
    const words = isOfServer ? `${code}: ${message}` : message;
    return new StoreError(problem, `${address} ${meaning} (${words}); ${remedy}`, cause);
  }
  // A server with a full disk may end the session with a code XX, which means here that the server is out of reach.
  if (isOfServer && !(code.startsWith('XX') && isConnectionLost(error))) {
    const why = `${address} cannot be used (${code}: ${message}); see the log of its server`;
    return new UnlistedError('unusable', why, cause);
  }
  if (TLS.test(code) || message.includes('SSL')) {
    const why = `${address} cannot be reached encrypted (${message}); see database.tls and database.tlsCaFile`;
    return new StoreError('denied', why, cause);
  }
  return new StoreError('disk', `${address} is out of reach (${message}); check database.url and its server`, cause);
}

/** Returns true if the connection was lost, or if the server ends it with this error. */
export function isConnectionLost(error: unknown): boolean {
  const cause = error instanceof StoreError ? error.cause : error;
  return !(cause instanceof pg.DatabaseError) || cause.severity === 'FATAL' || cause.severity === 'PANIC';
}

/** Returns true if the transaction was not committed and may succeed if run again; false for the store's own errors. */
export function isWorthRetry({ problem, cause }: StoreError): boolean {
  if (problem === 'refused' || cause === undefined || cause instanceof StoreError) return false;
  if (isStale(cause)) return true;
  return cause instanceof pg.DatabaseError ? RETRIED.test(codeOf(cause)) : !TLS.test(codeOf(cause));
}

/** Returns a test for errors with these codes, unless a function of the merchant raised them. */
function withCode(codes: RegExp): (error: unknown) => boolean {
  return (error) => {
    const cause = error instanceof StoreError ? error.cause : error;
    return codes.test(codeOf(cause)) && functionOf(cause) === undefined;
  };
}

/** True if the session lacks a prepared statement, or has its name already, because a pooler changed the session. */
export const isNameLost = withCode(/^(26000|42P05)/);
/** True if a prepared statement did nothing, because a table was changed or a pooler changed the session. */
export const isStale = withCode(/^(26000|42P05|0A000)/);
export const isAborted = withCode(/^25P02/);
export const isReadOnly = withCode(/^25006/);
export const isLockedOut = withCode(/^55P03/);
export const isTwice = withCode(/^(23505|42P07|42710)/);

export function unlessOfDatabase(error: unknown): asserts error is StoreError {
  if (!(error instanceof StoreError)) throw error;
}

/** Returns the function in which a statement failed, such as a merchant's trigger; undefined for our own functions. */
function functionOf(error: unknown): string | undefined {
  if (!(error instanceof pg.DatabaseError)) return undefined;
  const { where = '', routine, code = '' } = error;
  const isRaised = routine === 'exec_stmt_raise';
  if (!isRaised && NOT_OF_FUNCTIONS.test(code)) return undefined;
  // Without quoted values and statements, the context names a function as `f(…)` or `function "f"`.
  const unquoted = where.replaceAll(/'[^']*'|"[^"]*[\s(][^"]*"(?!\()/g, '');
  const [, byCall, byName] = /((?:[\w.$]+|"[^"]+")\([^)]*\))|function "([^"]+)"/.exec(unquoted) ?? [];
  const name = byCall ?? byName;
  return name?.startsWith('order_sync_') === true ? undefined : name;
}

/** Returns the message of an error. If a host has several addresses, the error of the first address counts. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}

function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
