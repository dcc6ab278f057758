/** What is known of an account that this process drives or owns. */
export interface AccountReadiness {
  readonly account: string;
  /** False while another process may drive it: its lease could not be renewed. */
  readonly isTrusted: boolean;
  readonly isKeyRefused: boolean;
  /** Why no worker can drive it, and what to do; undefined if one can. */
  readonly stopped: string | undefined;
  /** Why the exchange is out of its reach; undefined where it is not. */
  readonly outOfReach: string | undefined;
  /** The time for which there has been work for a pass, none has ended well and no request was answered, in ms. */
  readonly stalledMs: number;
}

/** What is known of a process. */
export interface ProcessReadiness {
  readonly isStopping: boolean;
  /** Why the database cannot be read; undefined where it can. */
  readonly databaseFailure: string | undefined;
  /** Why nothing can be written, so that nothing is sent. */
  readonly unwritten?: string | undefined;
  /** Migrations that the database has and this version does not know, or the reverse. */
  readonly otherMigrations: readonly string[];
  /** Accounts that it owns. */
  readonly owned: number;
  /** Other processes may own accounts of the database. */
  readonly isShared: boolean;
  readonly accounts: readonly AccountReadiness[];
  /** Undefined where it cannot be told. */
  readonly freeBytes: number | undefined;
}

/** One thing that has to be well for a process to do its work. */
export interface ReadinessCheck {
  readonly check:
    | 'process'
    | 'database'
    | 'migrations'
    | 'ownership'
    | 'stopped'
    | 'exchange'
    | 'key'
    | 'passes'
    | 'disk';
  readonly ok: boolean;
  /** What is wrong, and what to do. */
  readonly reason?: string;
}

/** Work that has waited for so long without a sign of life is stalled. */
export const STALLED_AFTER_MS = 10 * 60_000;
/** With less the database soon takes nothing more. */
export const LEAST_FREE_BYTES = 256 * 1_024 ** 2;
/** A reason names so many accounts. */
const MOST_NAMED = 5;

/** Checks whether a process does its work. */
export function readinessChecks(process: ProcessReadiness): readonly ReadinessCheck[] {
  const { isStopping, databaseFailure, otherMigrations, owned, isShared, accounts, freeBytes } = process;
  const naming = (isWrong: (one: AccountReadiness) => boolean, textOf: (names: string) => string) => {
    const names = accounts.filter(isWrong).map(({ account }) => account);
    if (names.length === 0) return undefined;
    return textOf(names.slice(0, MOST_NAMED).join(', ') + (names.length > MOST_NAMED ? ', …' : ''));
  };
  const why = accounts.find(({ outOfReach }) => outOfReach !== undefined)?.outOfReach ?? '';
  const reasons: Readonly<Record<ReadinessCheck['check'], string | undefined>> = {
    process: isStopping ? 'the daemon stops' : undefined,
    database:
      databaseFailure === undefined
        ? process.unwritten && `nothing is sent: ${process.unwritten}`
        : `the database cannot be read: ${databaseFailure}; see whether it is in its place and its server runs`,
    migrations:
      otherMigrations.length === 0
        ? undefined
        : `the database is of another version (${otherMigrations.join(', ')}): start the version that migrated it`,
    ownership:
      owned === 0 && !isShared
        ? 'the daemon does not drive its accounts yet: wait, or look into its log'
        : naming(
            ({ isTrusted }) => !isTrusted,
            (names) =>
              `the lease of ${names} could not be renewed: another worker may take over; see whether the database answers`,
          ),
    stopped: naming(
      ({ stopped }) => stopped !== undefined,
      (names) => `nothing is done in ${names}: ${accounts.find(({ stopped }) => stopped !== undefined)?.stopped ?? ''}`,
    ),
    exchange: naming(
      ({ outOfReach }) => outOfReach !== undefined,
      (names) =>
        `the exchange is out of reach of ${names} (${why}); orders wait: check exchange.baseUrl and the network, or wait`,
    ),
    key: naming(
      ({ isKeyRefused }) => isKeyRefused,
      (names) =>
        `the exchange refuses the key of ${names}: put another one into its file; it is read again each minute`,
    ),
    passes: naming(
      ({ stalledMs }) => stalledMs > STALLED_AFTER_MS,
      (names) =>
        `work of ${names} has waited for more than ${STALLED_AFTER_MS / 60_000} min and nothing was done: look into the log, then start the daemon anew`,
    ),
    disk:
      freeBytes === undefined || freeBytes >= LEAST_FREE_BYTES
        ? undefined
        : `${Math.floor(freeBytes / 1_024 ** 2)} MiB of the disk with the database are free: make room, at least ${LEAST_FREE_BYTES / 1_024 ** 2} MiB`,
  };
  return Object.entries(reasons).map(([check, reason]) => ({
    check: check as ReadinessCheck['check'],
    ok: reason === undefined,
    ...(reason !== undefined && { reason }),
  }));
}
