import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { ImportFormat } from '../../flows/orders/import.ts';
import { CommandError, EXIT } from '../shared/exit.ts';

/** Opens a file of orders, or standard input. Throws `CommandError`. */
export async function openInput(file: string): Promise<Readable> {
  if (file === '-') return process.stdin;
  const handle = await open(file).catch((error: Error) => {
    throw new CommandError(EXIT.disk, `the file cannot be read: ${error.message}`, { cause: error });
  });
  if (!(await handle.stat()).isDirectory()) return handle.createReadStream();
  await handle.close();
  throw new CommandError(EXIT.data, `${file} is a folder; name a file`);
}

/** The format that the name of a file tells. */
export function formatOf(file: string): ImportFormat | undefined {
  if (/\.csv$/i.test(file)) return 'csv';
  return /\.(ndjson|jsonl)$/i.test(file) ? 'ndjson' : undefined;
}
