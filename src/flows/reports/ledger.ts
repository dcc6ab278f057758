import type { Readable } from 'node:stream';
import { quote } from '../../domain/text.ts';
import type { LedgerStage } from '../../store/stage/ledger.ts';
import { csvRecords } from '../orders/import-lines.ts';

/** The names of the columns of a ledger; currencies are compared only where their column is named. */
export interface LedgerColumns {
  readonly id: string;
  readonly amount: string;
  readonly currency?: string | undefined;
}

/** Says that a ledger cannot be read. The message names the file and the line. */
export class LedgerError extends Error {
  override readonly name = 'LedgerError';
}

const PROGRESS_EVERY = 5_000;

/** Reads a ledger, a CSV file with a header, into the stage. Throws `LedgerError`. */
export async function readLedger(
  stage: LedgerStage,
  { name, input }: { readonly name: string; readonly input: Readable },
  columns: LedgerColumns,
  onProgress: (lines: number) => void,
): Promise<void> {
  let places: Places | undefined;
  let width = 0;
  for await (const read of csvRecords(input)) {
    const refuse = (problem: string) => new LedgerError(`${name}:${read.line}: ${problem}`);
    if ('problem' in read) throw refuse(read.problem);
    const { line, record } = read;
    if (places === undefined) {
      places = placesOf(record, columns, refuse);
      width = record.length;
      continue;
    }
    if (record.length !== width) throw refuse(`has ${record.length} fields, the header has ${width}`);
    const id = record[places.id] ?? '';
    const amount = record[places.amount]?.trim() ?? null;
    const currency = places.currency === undefined ? null : (record[places.currency]?.trim() ?? null);
    stage.addLine({ id, amount, currency, file: name, line });
    if (stage.lines % PROGRESS_EVERY === 0) onProgress(stage.lines);
  }
  if (places === undefined) throw new LedgerError(`${name}: is empty; the first line names the columns`);
}

interface Places {
  readonly id: number;
  readonly amount: number;
  readonly currency: number | undefined;
}

function placesOf(
  header: readonly string[],
  { id, amount, currency }: LedgerColumns,
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
