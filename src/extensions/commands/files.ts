import { fstatSync, mkdirSync, mkdtempDisposableSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { open, type FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { type Command, Option } from 'commander';
import { CommandError, EXIT } from '../../cli/shared/exit.ts';

export type ImportFormat = 'csv' | 'ndjson';

export type Pieces = AsyncIterable<string | Uint8Array>;

type NewFiles = readonly { readonly name: string; readonly pieces: Pieces }[];

/** In characters. Shorter texts are gathered before a write. */
const CHUNK = 64 * 1024;
const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Writes to stdout, or to the file `out` with mode 0600. A complete new file replaces an older file. */
export async function writePieces(pieces: Pieces, out: string | undefined): Promise<void> {
  if (out === undefined) {
    for await (const chunk of gathered(pieces)) if (!(await isWritten(chunk))) return;
    return;
  }
  const there = statSync(out, { throwIfNoEntry: false });
  const outputs = [1, 2].map((own) => fstatSync(own));
  // Output is appended to a pipe, a device, or a file to which the shell redirects this process.
  const isOwn = outputs.some(({ dev, ino }) => dev === there?.dev && ino === there.ino);
  if (there === undefined || (there.isFile() && !isOwn))
    await writeAll(dirname(out), [{ name: basename(out), pieces }]);
  else await writeTo(() => open(out, 'a'), pieces);
}

/** Writes files into a folder, and makes the folder if needed. Older files stay until all new files are complete. */
export async function writeFolder(folder: string, files: NewFiles): Promise<void> {
  const isNew = statSync(folder, { throwIfNoEntry: false }) === undefined;
  if (isNew) mkdirSync(folder, { mode: 0o700 });
  try {
    await writeAll(folder, files);
  } catch (error) {
    if (isNew) rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Writes to a temporary folder first, because two reports may write files of the same names at the same time. */
async function writeAll(folder: string, files: NewFiles): Promise<void> {
  for (const { name } of files) {
    const path = join(folder, name);
    // All paths are checked before the first write, because a file cannot replace a folder.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
      throw new CommandError(EXIT.disk, `${path} is a folder: remove it, or use another --out`);
    }
  }
  using unfinished = temporaryFolder(join(folder, 'unfinished-'));
  for (const { name, pieces } of files) {
    await writeTo(() => open(join(unfinished.path, name), 'wx', 0o600), pieces, true);
  }
  for (const { name } of files) renameSync(join(unfinished.path, name), join(folder, name));
}

/** Makes a folder. Disposing of the result, or a signal that ends the program, removes the folder. */
function temporaryFolder(prefix: string) {
  const folder = mkdtempDisposableSync(prefix);
  const remove = () => {
    folder.remove();
    for (const signal of ENDING_SIGNALS) process.off(signal, onSignal);
  };
  // `remove` also removes this listener, so the signal that is sent again ends the program.
  const onSignal = (signal: NodeJS.Signals) => {
    remove();
    process.kill(process.pid, signal);
  };
  for (const signal of ENDING_SIGNALS) process.once(signal, onSignal);
  return { path: folder.path, [Symbol.dispose]: remove };
}

/** Opens the file when the first text is ready, so that an earlier failure makes no file. */
async function writeTo(openNew: () => Promise<FileHandle>, pieces: Pieces, isSynced = false): Promise<void> {
  await using chunks = gathered(pieces);
  const first = await chunks.next();
  await using file = await openNew();
  if (first.done !== true) await file.appendFile(first.value);
  for await (const chunk of chunks) await file.appendFile(chunk);
  if (isSynced) await file.sync();
}

/** Writes to stdout. Returns false if the write fails, for example because the reader has ended. */
export function isWritten(chunk: string | Uint8Array): Promise<boolean> {
  return new Promise((resolve) => {
    process.stdout.write(chunk, (error) => resolve(!(error instanceof Error)));
  });
}

async function* gathered(pieces: Pieces): AsyncGenerator<string | Uint8Array> {
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

export function addFileOptions(command: Command): Command {
  const when = 'required unless the name of the file ends in .csv, .ndjson or .jsonl';
  return command
    .argument('<file>', 'CSV with a header, or NDJSON; - for standard input')
    .addOption(new Option('--format <format>', when).choices(['csv', 'ndjson']));
}

export async function openFile(command: Command, file: string, given: ImportFormat | undefined) {
  const format = given ?? formatOf(file);
  if (format !== undefined) return { format, input: await openInput(file) };
  return command.error(`error: the name ${file} does not say the format: use --format csv or --format ndjson`);
}

export async function openInput(file: string): Promise<Readable> {
  if (file === '-') return process.stdin;
  const handle = await open(file).catch((error: Error) => {
    throw new CommandError(EXIT.disk, `the file cannot be read: ${error.message}`, { cause: error });
  });
  if (!(await handle.stat()).isDirectory()) return handle.createReadStream();
  await handle.close();
  throw new CommandError(EXIT.data, `${file} is a folder; name a file`);
}

export function formatOf(file: string): ImportFormat | undefined {
  if (/\.csv$/i.test(file)) return 'csv';
  return /\.(ndjson|jsonl)$/i.test(file) ? 'ndjson' : undefined;
}
