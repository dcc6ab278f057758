import {
  closeSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
  type Stats,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { systemClock } from '../../clock.ts';
import { CommandError, EXIT } from './exit.ts';

/** What is written, piece by piece. */
export type Pieces = AsyncIterable<string | Uint8Array>;

/** A file of a folder. */
export interface NewFile {
  readonly name: string;
  readonly pieces: Pieces;
}

/** Texts are gathered into writes of about so many characters. */
const CHUNK = 64 * 1024;
const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Writes to stdout, or to a file that is readable for the user alone. A file that is there already stays until the new one is whole. */
export async function writePieces(pieces: Pieces, out: string | undefined): Promise<void> {
  if (out === undefined) return await toStdout(pieces);
  const there = statSync(out, { throwIfNoEntry: false });
  // A pipe or a device is written to and not replaced, nor is /dev/stdout where the shell made it a file.
  const isReplaced = there === undefined || (there.isFile() && !isOwnOutput(there));
  if (isReplaced) await writeAll(dirname(out), [{ name: basename(out), pieces }]);
  else await writeTo(() => openSync(out, 'a'), pieces);
}

/** Tells whether standard output or standard error goes to this file. */
function isOwnOutput({ dev, ino }: Stats): boolean {
  return [1, 2].map((own) => fstatSync(own)).some((own) => own.dev === dev && own.ino === ino);
}

/** Writes files into a folder, which is made unless it is there. Files that are there stay until all of the new ones are whole. */
export async function writeFolder(folder: string, files: readonly NewFile[]): Promise<void> {
  const isNew = statSync(folder, { throwIfNoEntry: false }) === undefined;
  if (isNew) mkdirSync(folder, { mode: 0o700 });
  try {
    await writeAll(folder, files);
  } catch (error) {
    if (isNew) rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Another report may write to the same names at the same time: each writes in a folder of its own until it is whole. */
async function writeAll(folder: string, files: readonly NewFile[]): Promise<void> {
  for (const { name } of files) {
    const path = join(folder, name);
    // Found before any of the files has taken its place.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
      throw new CommandError(EXIT.disk, `${path} is a folder: remove it, or give another --out`);
    }
  }
  using unfinished = new TemporaryFolder(join(folder, 'unfinished-'));
  for (const { name, pieces } of files) {
    await writeTo(() => openSync(join(unfinished.path(), name), 'wx', 0o600), pieces, fsyncSync);
  }
  for (const { name } of files) renameSync(join(unfinished.path(), name), join(folder, name));
}

/** A folder that is made when it is first asked for, and is gone at the end, also where a signal ends the program. */
class TemporaryFolder implements Disposable {
  readonly #prefix: string;
  #path: string | undefined;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  path(): string {
    if (this.#path !== undefined) return this.#path;
    for (const signal of ENDING_SIGNALS) process.once(signal, this.#onSignal);
    this.#path = mkdtempSync(this.#prefix);
    return this.#path;
  }

  [Symbol.dispose](): void {
    if (this.#path !== undefined) rmSync(this.#path, { recursive: true, force: true });
    for (const signal of ENDING_SIGNALS) process.off(signal, this.#onSignal);
  }

  /** Without a listener the signal ends the program. */
  readonly #onSignal = (signal: NodeJS.Signals): void => {
    this[Symbol.dispose]();
    process.kill(process.pid, signal);
  };
}

/** The file is opened when there is something to write: what is gathered before may take long, and leaves nothing behind. */
async function writeTo(open: () => number, pieces: Pieces, beforeClose?: (file: number) => void): Promise<void> {
  let file: number | undefined;
  try {
    for await (const chunk of gathered(pieces)) {
      file ??= open();
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
      // A signal is heard between two turns.
      await systemClock().turn();
    }
    file ??= open();
    beforeClose?.(file);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

async function toStdout(pieces: Pieces): Promise<void> {
  for await (const chunk of gathered(pieces)) if (!(await isWritten(chunk))) return;
}

/** Writes to stdout; false where the reader has gone. Any other error is the stream's own event. */
export function isWritten(chunk: string | Uint8Array): Promise<boolean> {
  return new Promise((resolve) => {
    process.stdout.write(chunk, (error) => resolve(!(error instanceof Error)));
  });
}

async function* gathered(pieces: Pieces): Pieces {
  let text = '';
  for await (const piece of pieces) {
    if (typeof piece === 'string') text += piece;
    else yield piece;
    if (text.length < CHUNK) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}
