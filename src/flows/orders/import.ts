import type { Readable } from 'node:stream';
import { quote } from '../../domain/text.ts';
import { COLUMN_OF, columnsOf, ORDER_COLUMNS } from '../../store/order-columns.ts';
import { ImportStage, InsertedMeanwhile, settleStage, type ImportRow } from '../../store/stage/import.ts';
import type { Store } from '../../store/port.ts';
import { checkFields } from './add.ts';
import { assumeStagedSent, type Assuming } from './assume-sent.ts';
import { csvLines, ndjsonLines, type ImportLine } from './import-lines.ts';

export type ImportFormat = 'csv' | 'ndjson';

interface ImportProblem {
  readonly line: number;
  /** Undefined: the line as a whole. */
  readonly column?: string | undefined;
  readonly reason: string;
}

/** The result of an import. With problems nothing was inserted; at most 50 are named, all are counted. */
export interface ImportResult {
  readonly read: number;
  readonly inserted: number;
  /** Rows whose order is there already, or earlier in the file, with the same content. */
  readonly alreadyPresent: number;
  readonly assumedSent: number;
  readonly problems: readonly ImportProblem[];
  readonly problemCount: number;
}

interface ImportOptions {
  readonly format: ImportFormat;
  /** Its orders may have been sent, by a database that is lost. */
  readonly assumeSent?: Assuming | undefined;
  readonly onProgress?: (read: number) => void;
}

const MAX_NAMED = 50;
const PROGRESS_ROWS = 1_000;
const MOST_TRIES = 10;
const COLUMNS = { known: ORDER_COLUMNS, required: ['external_order_id', 'asset', 'from_currency', 'to_currency'] };

/**
 * Reads a whole file into `merchant_orders`: all rows or none. A row that is there with the same content is skipped;
 * amounts are the same when their numbers are: `1.50` and `1.5`.
 */
export async function importOrders(
  store: Store,
  account: string,
  input: Readable,
  { format, assumeSent, onProgress }: ImportOptions,
): Promise<ImportResult> {
  using stage = new ImportStage();
  const problems = new Problems();
  let read = 0;
  for await (const line of readLines(input, format)) {
    read += 'fields' in line ? 1 : 0;
    const row = toRow(line, problems);
    if (row !== undefined) stage.add(row);
    if (read % PROGRESS_ROWS === 0) onProgress?.(read);
  }
  const isWanted = problems.count === 0;
  const { inserted, conflicts, conflictCount, assumedSent } = await repeatWhileInserted(() =>
    store.writer.write(async (tx) => {
      const settled = await settleStage(tx, stage, { account, isWanted, limit: MAX_NAMED });
      const isInserted = isWanted && settled.conflictCount === 0;
      const assumed = isInserted && assumeSent ? await assumeStagedSent(tx, stage, account, assumeSent) : 0;
      return { ...settled, assumedSent: assumed };
    }),
  );
  for (const { line, columns, externalOrderId, place } of conflicts) {
    const reason = `differs from ${place}, where ${quote(externalOrderId)} stands already`;
    problems.add({ line, column: columns, reason });
  }
  problems.count += conflictCount - conflicts.length;
  const alreadyPresent = problems.count === 0 ? read - inserted : 0;
  return { read, inserted, alreadyPresent, assumedSent, problems: problems.named, problemCount: problems.count };
}

/** Begins anew where the merchant inserted orders of the import meanwhile: they are compared with it then. */
async function repeatWhileInserted<Result>(settle: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await settle();
    } catch (error) {
      if (!(error instanceof InsertedMeanwhile) || tries === MOST_TRIES) throw error;
    }
  }
}

export function readLines(input: Readable, format: ImportFormat): AsyncGenerator<ImportLine> {
  return format === 'csv' ? csvLines(input, COLUMNS) : ndjsonLines(input, COLUMNS);
}

class Problems {
  readonly named: ImportProblem[] = [];
  count = 0;

  add(problem: ImportProblem): void {
    this.count += 1;
    if (this.named.length < MAX_NAMED) this.named.push(problem);
  }
}

function toRow(line: ImportLine, problems: Problems): ImportRow | undefined {
  if ('problem' in line) {
    problems.add({ line: line.line, column: line.column, reason: line.problem });
    return undefined;
  }
  const checked = checkFields(line.fields);
  if (!checked.ok) {
    for (const { field, reason } of checked.problems) {
      problems.add({ line: line.line, column: COLUMN_OF[field], reason });
    }
    return undefined;
  }
  return { ...columnsOf(checked.order), line: line.line };
}
