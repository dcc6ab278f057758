import { dirname } from 'node:path';
import { CommanderError } from 'commander';
import { printableLines } from '../../base/words.ts';
import { StoreError, type StoreProblem } from '../../store/errors.ts';
import { fileFault, storeError } from '../../store/sqlite/errors.ts';
import { systemClock, type Clock } from '../../base/clock.ts';
import { pasteable } from '../../base/invocation.ts';

export const EXIT = {
  /** All is well. */
  ok: 0,
  /** The command did its work, and a person should look. Run order-sync status: it names what to look at and which command helps. */
  look: 1,
  /** An order, finding, link, pause or webhook that the command names does not exist. Check the id and --account. */
  absent: 2,
  /** The command line is wrong. The message, or --help of the command, says what is possible. */
  usage: 64,
  /** An import file or the database cannot be used. Correct the file; run order-sync db check for a database. */
  data: 65,
  /** The exchange is out of reach, or the time ran out. Run the command again later; order-sync doctor finds the cause. */
  unavailable: 69,
  /** A bug. Report it with the output of order-sync doctor --bundle FILE. Start again: what was sent is recorded. */
  bug: 70,
  /** The disk is full, a file cannot be read or written, or the database server is down. Make room or correct the permissions. */
  disk: 74,
  /** Another process owns this account or locks the database. End the process that the message names. */
  owned: 75,
  /** The exchange refuses the key. Put the right key into its file. */
  keyRefused: 77,
  /** The configuration is wrong, or the API refuses the token of --url. order-sync config check names all faults at once. */
  config: 78,
  /** A second signal ended the process at once. Start it again: requests that were in flight are looked up. */
  killed: 130,
} as const;

const STORE_EXIT: Readonly<Record<StoreProblem, number>> = {
  unusable: EXIT.data,
  denied: EXIT.data,
  refused: EXIT.data,
  disk: EXIT.disk,
  busy: EXIT.owned,
};

/** Errors are known by name, so that no command loads all modules that could throw them. */
const EXIT_OF_ERROR: Readonly<Record<string, number>> = {
  ConfigError: EXIT.config,
  OwnedError: EXIT.owned,
  LedgerError: EXIT.data,
  KeyRefusedError: EXIT.keyRefused,
  OwnerGoneError: EXIT.unavailable,
  UnusableIdError: EXIT.usage,
};

/** The error of a command that cannot do what was asked, for a reason that is no bug. The message says what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;
  constructor(exitCode: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

export function explainError(thrown: unknown): { code: number; message: string } {
  const { code, message } = explained(thrown);
  // The message may quote the text of another program.
  return { code, message: printableLines(pasteable(message)) };
}

function explained(thrown: unknown): { code: number; message: string } {
  const error = storeError(thrown, 'the database');
  // Commander has printed the fault already.
  if (error instanceof CommanderError) return { code: error.exitCode === 0 ? EXIT.ok : EXIT.usage, message: '' };
  if (!(error instanceof Error)) return bug(String(error));
  const { message } = error;
  if (error instanceof CommandError) return { code: error.exitCode, message };
  if (error instanceof StoreError) return { code: STORE_EXIT[error.problem], message };
  const code = EXIT_OF_ERROR[error.name];
  if (code !== undefined) return { code, message };
  // The error is of a path or a stream, not of a connection.
  const isOfFile = 'errno' in error && ('path' in error || ('syscall' in error && error.syscall === 'write'));
  if (!isOfFile) return bug(message);
  const { path = '', syscall } = error as NodeJS.ErrnoException;
  const place = syscall === 'mkdtemp' ? dirname(path) : path;
  const advice = `check ${place || 'the path'}, its permissions and the space`;
  return { code: EXIT.disk, message: `${fileFault(error, path)}; ${advice}` };
}

function bug(message: string): { code: number; message: string } {
  return { code: EXIT.bug, message: `this is a bug, please report it: ${message}` };
}

/** The launcher repeats a signal that the process group gets. Two signals within this time count as one. */
const SAME_SIGNAL_MS = 2_000;

/** Aborts at the first SIGINT or SIGTERM; a second signal, 2 s later or more, ends the process at once. */
export function stopSignal(clock: Pick<Clock, 'monotonic'> = systemClock()): AbortSignal {
  const stopping = new AbortController();
  let firstAt = Number.POSITIVE_INFINITY;
  const onSignal = () => {
    if (clock.monotonic() - firstAt >= SAME_SIGNAL_MS) process.exit(EXIT.killed);
    firstAt = Math.min(firstAt, clock.monotonic());
    stopping.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return stopping.signal;
}
