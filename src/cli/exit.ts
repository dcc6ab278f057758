import { CommanderError } from 'commander';
import { ConfigError } from '../config/config.ts';
import { UnusableIdError } from '../exchange/ids.ts';
import { KeyRefusedError } from '../exchange/refusals.ts';
import { OwnerGoneError } from '../http/control/client.ts';
import { OwnedError, StoreError, storeError, type StoreProblem } from '../store/errors.ts';

/** The exit codes of every command. */
export const EXIT = {
  ok: 0,
  /** Done, and a person should look. */
  look: 1,
  usage: 64,
  data: 65,
  /** The exchange is out of reach, or the time ran out. */
  unavailable: 69,
  bug: 70,
  disk: 74,
  owned: 75,
  keyRefused: 77,
  config: 78,
} as const;

const STORE_EXIT: Readonly<Record<StoreProblem, number>> = {
  unusable: EXIT.data,
  refused: EXIT.data,
  disk: EXIT.disk,
  busy: EXIT.owned,
};

/** A command cannot do what was asked, for a reason that is no bug. The message says what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;
  constructor(exitCode: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** The exit code of an error that ends a command, and the line that says what to do. */
export function explainError(thrown: unknown): { code: number; message: string } {
  const error = storeError(thrown, 'the database');
  // Commander has said by itself what is wrong with the usage.
  if (error instanceof CommanderError) return { code: error.exitCode === 0 ? EXIT.ok : EXIT.usage, message: '' };
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof CommandError) return { code: error.exitCode, message };
  if (error instanceof ConfigError) return { code: EXIT.config, message };
  if (error instanceof StoreError) return { code: STORE_EXIT[error.problem], message };
  if (error instanceof OwnedError) return { code: EXIT.owned, message };
  if (error instanceof KeyRefusedError) return { code: EXIT.keyRefused, message };
  if (error instanceof OwnerGoneError) return { code: EXIT.unavailable, message };
  if (error instanceof UnusableIdError) return { code: EXIT.usage, message };
  if (isFileError(error))
    return { code: EXIT.disk, message: `${message}; check the path, its permissions and the space` };
  return { code: EXIT.bug, message: `this is a bug, please report it: ${message}` };
}

/** Whether the system refused a path or a stream, rather than a connection. */
function isFileError(error: unknown): boolean {
  return (
    error instanceof Error && 'errno' in error && ('path' in error || ('syscall' in error && error.syscall === 'write'))
  );
}
