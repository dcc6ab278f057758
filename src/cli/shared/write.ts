import {
  closeSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
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

/** Writes to stdout, or to a file that is readable for the user alone. A file that is there already stays until the new one is whole. */
export async function writePieces(pieces: Pieces, out: string | undefined): Promise<void> {
  if (out === undefined) return await toStdout(pieces);
  const there = statSync(out, { throwIfNoEntry: false });
  // A pipe or a device is written to and not replaced.
  if (there === undefined || there.isFile()) await writeAll(dirname(out), [{ name: basename(out), pieces }]);
  else await writeTo(openSync(out, 'w'), pieces);
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
  const unfinished = mkdtempSync(join(folder, 'unfinished-'));
  try {
    for (const { name, pieces } of files) {
      await writeTo(openSync(join(unfinished, name), 'wx', 0o600), pieces, fsyncSync);
    }
    for (const { name } of files) renameSync(join(unfinished, name), join(folder, name));
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

async function writeTo(file: number, pieces: Pieces, beforeClose?: (file: number) => void): Promise<void> {
  try {
    for await (const chunk of gathered(pieces)) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
    }
    beforeClose?.(file);
  } finally {
    closeSync(file);
  }
}

async function toStdout(pieces: Pieces): Promise<void> {
  for await (const chunk of gathered(pieces)) {
    // An error is the stream's own event; a reader that has gone ends the report.
    const isGone = await new Promise<boolean>((resolve) => {
      process.stdout.write(chunk, (error) => resolve(error instanceof Error));
    });
    if (isGone) return;
  }
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
