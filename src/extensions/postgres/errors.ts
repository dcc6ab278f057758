import pg from 'pg';
import { StoreError, UnlistedError, type StoreProblem } from '../../store/errors.ts';

export const READ_ONLY = 'set database.url to the primary server, or default_transaction_read_only to off';
const DENIED = 'refuses what the user may not do';

type Meaning = readonly [said: RegExp, problem: StoreProblem, meaning: string, advice: string];

/** By code and message; the first that fits counts. `$1` is a part of the text, `ROLE` the user; 08P01 is PgBouncer. */
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
    'is behind a pooler that takes not this user, password or database',
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
  [/^(40|55P03|57014)/, 'busy', 'is locked by another program for too long', 'find its open transaction'],
  [
    /^(26000|42P05)/,
    'unusable',
    'is behind a pooler that loses prepared statements, as PgBouncer does with pool_mode = transaction',
    'do that again, or set its pool_mode to session',
  ],
  [/^(42P01|42703|42883|42P07)/, 'unusable', 'has other tables than this version', 'run: order-sync db status'],
];

/** Refusals of a row's values. `P0` and the classes that PostgreSQL leaves free come from a merchant's own triggers. */
const REFUSED = /^(2[23]|44|P0|(?!5[3-8]|72|XX)[5-9I-Z])/;

/** Codes that speak of the server, the connection or a lock, even in a function, and not of the row. */
const NOT_OF_FUNCTIONS = /^(08|25006|28|40|53|55P03|57P|58|XX00[12])/;

/** Codes of a connection that cannot be encrypted in the way that is set. */
const TLS = /^(CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|ERR_TLS|ERR_SSL|EPROTO)/;

/** Codes after which the same work may be done again at once, because nothing was written. */
const RETRIED = /^(40001|40P01|57P0|08|25P03|53300)/;

/** Says what an error of the driver means. Returns a `StoreError` as it is. Other errors must not come here. */
export function postgresError(error: unknown, address: string): StoreError {
  if (error instanceof StoreError) return error;
  const cause = { cause: error };
  const message = messageOf(error);
  const code = codeOf(error);
  const source = functionOf(error);
  if (source !== undefined) return new StoreError('refused', `${message} (in ${source})`, cause);
  if (isOfServer(error) && REFUSED.test(code)) return new StoreError('refused', message, cause);
  const text = `${code} ${message}`;
  const [said, problem, meaning, advice = ''] = MEANINGS.find(([one]) => one.test(text)) ?? [];
  if (said !== undefined && problem !== undefined) {
    const [, object = ''] = said.exec(text) ?? [];
    const [, role = ''] = /^postgres:\/\/([^@]+)@/.exec(address) ?? [];
    const name = pg.escapeIdentifier(decodeURIComponent(role));
    const remedy = advice.replace('$1', () => object).replace('ROLE', () => name);
    const words = isOfServer(error) ? `${code}: ${message}` : message;
    return new StoreError(problem, `${address} ${meaning} (${words}); ${remedy}`, cause);
  }
  if (isOfServer(error) && !isSessionEnded(error)) {
    return new UnlistedError(
      'unusable',
      `${address} cannot be used (${code}: ${message}); see the log of its server`,
      cause,
    );
  }
  if (TLS.test(code) || message.includes('SSL')) {
    const why = `${address} cannot be reached encrypted (${message}); see database.tls and database.tlsCaFile`;
    return new StoreError('denied', why, cause);
  }
  return new StoreError('disk', `${address} is out of reach (${message}); check database.url and its server`, cause);
}

/** Returns true if the connection is of no further use: it was lost, or the server ends it. */
export function isConnectionLost(error: unknown): boolean {
  const cause = error instanceof StoreError ? error.cause : error;
  return !isOfServer(cause) || cause.severity === 'FATAL' || cause.severity === 'PANIC';
}

/** True if the server ends the session for a reason of its own, as a server with a full disk does. */
function isSessionEnded(error: pg.DatabaseError): boolean {
  return codeOf(error).startsWith('XX') && (error.severity === 'FATAL' || error.severity === 'PANIC');
}

/** Returns true if the transaction was not committed and may succeed if run again; false for the store's own errors. */
export function isWorthRetry({ problem, cause }: StoreError): boolean {
  if (problem === 'refused' || cause === undefined || cause instanceof StoreError) return false;
  if (isStale(cause)) return true;
  return isOfServer(cause) ? RETRIED.test(codeOf(cause)) : !TLS.test(codeOf(cause));
}

/** Returns a function that is true for errors of the server with these codes, unless a function raised them. */
function withCode(codes: RegExp): (error: unknown) => boolean {
  return (error) => {
    const cause = error instanceof StoreError ? error.cause : error;
    return codes.test(codeOf(cause)) && functionOf(cause) === undefined;
  };
}

/** True if the session lacks the prepared statement of a name, or has one already: a pooler gave another session. */
export const isNameLost = withCode(/^(26000|42P05)/);
/** True if a prepared statement is stale, and did nothing: a table was changed, or a pooler gave another session. */
export const isStale = withCode(/^(26000|42P05|0A000)/);
export const isAborted = withCode(/^25P02/);
export const isReadOnly = withCode(/^25006/);
export const isLockedOut = withCode(/^55P03/);
export const isTwice = withCode(/^(23505|42P07|42710)/);

/** Ignores a failure of the database, which the caller's next statement reports. */
export function unlessOfDatabase(error: unknown): asserts error is StoreError {
  if (!(error instanceof StoreError)) throw error;
}

/** Returns the function in which a statement failed, such as a merchant's trigger, unless it is one of order-sync. */
function functionOf(error: unknown): string | undefined {
  if (!isOfServer(error)) return undefined;
  const { where = '', routine, code = '' } = error;
  const isRaised = routine === 'exec_stmt_raise';
  if (!isRaised && NOT_OF_FUNCTIONS.test(code)) return undefined;
  // The context quotes values and statements. In each language of the server a function has parentheses.
  const unquoted = where.replaceAll(/'[^']*'|"[^"]*[\s(][^"]*"(?!\()/g, '');
  const [, byCall, byName] = /((?:[\w.$]+|"[^"]+")\([^)]*\))|function "([^"]+)"/.exec(unquoted) ?? [];
  const name = byCall ?? byName;
  return name?.startsWith('order_sync_') === true ? undefined : name;
}

function isOfServer(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError;
}

/** Returns the driver's own words. If a host has several addresses, the error of the first address counts. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}

function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
