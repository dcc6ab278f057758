import { dirname } from 'node:path';
import { CommanderError } from 'commander';
import { printableLines } from '../../base/words.ts';
import { StoreError, type StoreProblem } from '../../store/errors.ts';
import { fileFault, storeError } from '../../store/sqlite/errors.ts';
import { systemClock, type Clock } from '../../base/clock.ts';
import { pasteable } from '../../base/invocation.ts';

export const EXIT = {
  ok: 0,
  /** Done, and a person should look. */
  look: 1,
  /** What was asked for is not there. */
  absent: 2,
  usage: 64,
  data: 65,
  /** The exchange is out of reach, or the time ran out. */
  unavailable: 69,
  bug: 70,
  disk: 74,
  owned: 75,
  keyRefused: 77,
  config: 78,
  /** A second signal ended the process at once; the number is the shell's. */
  killed: 130,
} as const;

const STORE_EXIT: Readonly<Record<StoreProblem, number>> = {
  unusable: EXIT.data,
  denied: EXIT.data,
  refused: EXIT.data,
  disk: EXIT.disk,
  busy: EXIT.owned,
};

/** Errors of lower floors by name, so that no command loads all that could throw one. */
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
  // It may quote the text of another program.
  return { code, message: printableLines(pasteable(message)) };
}

function explained(thrown: unknown): { code: number; message: string } {
  const error = storeError(thrown, 'the database');
  // Commander has said by itself what is wrong with the usage.
  if (error instanceof CommanderError) return { code: error.exitCode === 0 ? EXIT.ok : EXIT.usage, message: '' };
  if (!(error instanceof Error)) return bug(String(error));
  const { message } = error;
  if (error instanceof CommandError) return { code: error.exitCode, message };
  if (error instanceof StoreError) return { code: STORE_EXIT[error.problem], message };
  const code = EXIT_OF_ERROR[error.name];
  if (code !== undefined) return { code, message };
  // An error of a path or a stream, and not one of a connection.
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

/** A signal to the whole process group comes twice through the launcher: within this time it is the first. */
const SAME_SIGNAL_MS = 2_000;

/** Aborts at the first SIGINT or SIGTERM; a second one, 2 s later or more, ends the process at once. */
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
