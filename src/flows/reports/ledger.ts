import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { quote } from '../../domain/text.ts';
import type { LedgerStage } from '../../store/stage/ledger.ts';
import { csvRecords } from '../orders/import-lines.ts';

/** A ledger of another system: CSV files with a header, and the names of its columns. */
export interface Ledger {
  readonly files: readonly string[];
  readonly id: string;
  readonly amount: string;
  /** Currencies are compared only where their column is named. */
  readonly currency?: string | undefined;
}

export class LedgerError extends Error {
  override readonly name = 'LedgerError';
}

const PROGRESS_EVERY = 5_000;

/** Reads the files of a ledger into the stage. Throws `LedgerError`. */
export async function readLedger(
  stage: LedgerStage,
  ledger: Ledger,
  onProgress: (text: string) => Promise<void>,
): Promise<void> {
  for (const path of ledger.files) {
    const file = basename(path);
    let header: readonly string[] | undefined;
    let places: Places = { id: 0, amount: 0, currency: undefined };
    await using handle = await open(path);
    if ((await handle.stat()).isDirectory()) throw new LedgerError(`${path} is a folder; name a CSV file`);
    for await (const read of csvRecords(handle.createReadStream())) {
      const refuse = (problem: string) => new LedgerError(`${file}:${read.line}: ${problem}`);
      if ('problem' in read) throw refuse(read.problem);
      const { line, record } = read;
      if (header === undefined) {
        places = placesOf(record, ledger, refuse);
        header = record;
        continue;
      }
      if (record.length !== header.length) throw refuse(`has ${record.length} fields, the header has ${header.length}`);
      const id = record[places.id] ?? '';
      const amount = record[places.amount]?.trim() ?? null;
      const currency = places.currency === undefined ? null : (record[places.currency]?.trim() ?? null);
      stage.addLine({ id, amount, currency, file, line });
      if (stage.lines % PROGRESS_EVERY === 0) await onProgress(`${stage.lines} lines of the ledger read`);
    }
    if (header === undefined) throw new LedgerError(`${file}: is empty; the first line names the columns`);
  }
}

interface Places {
  readonly id: number;
  readonly amount: number;
  readonly currency: number | undefined;
}

function placesOf(
  header: readonly string[],
  { id, amount, currency }: Ledger,
  refuse: (problem: string) => Error,
): Places {
  const placeOf = (column: string) => {
    const place = header.indexOf(column);
    if (place < 0) throw refuse(`has no column ${quote(column)}; it has ${header.map(quote).join(', ')}`);
    if (header.lastIndexOf(column) !== place) throw refuse(`has the column ${quote(column)} twice`);
    return place;
  };
  return { id: placeOf(id), amount: placeOf(amount), currency: currency === undefined ? undefined : placeOf(currency) };
}
