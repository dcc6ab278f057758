import { type Readable, pipeline } from 'node:stream';
import { quote } from '../../base/text.ts';
import { COLUMN_OF, columnsOf, ORDER_COLUMNS } from '../../store/orders/order-columns.ts';
import { ImportTables, InsertedMeanwhile, ordersOf, settleImport, type ImportRow } from './tables/import-rows.ts';
import type { Store, Transaction } from '../../store/port.ts';
import { checkFields } from './add.ts';
import { assumeOrderSent, type Assuming } from '../../orders/assume-sent.ts';
import { CsvError, parse as parseCsv, type CsvErrorCode, type Info } from 'csv-parse';
import { isLosslessNumber, parse as parseJson } from 'lossless-json';

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

/** Imports a whole file or nothing. Rows with the same content are skipped; `1.50` and `1.5` are the same. */
export async function importOrders(
  store: Store,
  account: string,
  input: Readable,
  { format, assumeSent, onProgress }: ImportOptions,
): Promise<ImportResult> {
  using tables = new ImportTables();
  const problems = new Problems();
  let read = 0;
  for await (const line of readLines(input, format)) {
    read += 'fields' in line ? 1 : 0;
    const row = toRow(line, problems);
    if (row !== undefined) tables.add(row);
    if (read % PROGRESS_ROWS === 0) onProgress?.(read);
  }
  const isWanted = problems.count === 0;
  const { inserted, conflicts, conflictCount, assumedSent } = await repeatWhileInserted(() =>
    store.writer.write(async (tx) => {
      const settled = await settleImport(tx, tables, { account, isWanted, limit: MAX_NAMED });
      const isInserted = isWanted && settled.conflictCount === 0;
      const assumed = isInserted && assumeSent ? await assumeImportSent(tx, tables, account, assumeSent) : 0;
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

/** Assumes that the waiting orders of an import were sent, also if the merchant inserted them. Returns their number. */
async function assumeImportSent(
  tx: Transaction,
  tables: ImportTables,
  account: string,
  deps: Assuming,
): Promise<number> {
  const how = { source: 'import', reason: 'it may have been sent by a database that is lost' } as const;
  let orders = 0;
  for await (const page of ordersOf(tx, tables, account)) {
    const waiting = page.filter(({ state }) => state === 'pending' || state === 'invalid');
    for (const { external_order_id: id } of waiting)
      orders += await assumeOrderSent(tx, { account, id: id ?? '', how }, deps);
  }
  return orders;
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

/** A line of an import file: its fields by column, or its problem. `line` is the one on which the record begins. */
export type ImportLine =
  | { readonly line: number; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly line: number; readonly column?: string; readonly problem: string };

interface ImportColumns {
  readonly known: readonly string[];
  readonly required: readonly string[];
}

/** Longer than any sound record: a file without line ends must not fill the memory. */
const MAX_RECORD_LENGTH = 1_000_000;
const TOO_LONG = `is longer than ${MAX_RECORD_LENGTH} bytes; reading stopped here`;
const CSV_PROBLEMS: Partial<Record<CsvErrorCode | 'INVALID_OPENING_QUOTE', string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is opened and never closed',
  CSV_INVALID_CLOSING_QUOTE: 'a quoted field goes on after its closing quote; write a quote within a field twice',
  INVALID_OPENING_QUOTE: 'a quote stands inside a field; quote the whole field and write the quote twice',
  CSV_MAX_RECORD_SIZE: TOO_LONG,
};

/** Reads CSV with a header. An empty field is no value. A wrong header, or a misplaced quote, ends the reading. */
export async function* csvLines(input: Readable, columns: ImportColumns): AsyncGenerator<ImportLine> {
  let header: readonly string[] | undefined;
  for await (const read of csvRecords(input)) {
    if ('problem' in read) {
      yield read;
      return;
    }
    if (header !== undefined) {
      yield csvLine(read.line, header, read.record);
      continue;
    }
    header = read.record;
    const problems = headerProblems(header, columns);
    for (const problem of problems) yield { line: read.line, ...problem };
    if (problems.length > 0) return;
  }
  if (header === undefined) yield { line: 1, problem: 'is empty; the first line names the columns' };
}

type CsvRecord = { readonly line: number; readonly record: readonly string[] };

/** Reads the records of a CSV file, the header among them; one that cannot be read is the last. */
export async function* csvRecords(input: Readable): AsyncGenerator<CsvRecord | { line: number; problem: string }> {
  const place = new CsvPlace();
  // The parser forgets rows that it has read but not passed on when it throws.
  const ahead: CsvRecord[] = [];
  const parser = parseCsv({
    bom: true,
    skip_empty_lines: true,
    // Counted by us, so that each line is named.
    relax_column_count: true,
    // Guessed from the first line otherwise, and then a carriage return could become part of the last field.
    record_delimiter: ['\r\n', '\n', '\r'],
    max_record_size: MAX_RECORD_LENGTH,
    on_record: (record: string[], { empty_lines }) => {
      ahead.push({ line: place.next(record, empty_lines), record });
      return record;
    },
  });
  // Ends both when one ends; an error of the input comes out of the parser.
  pipeline(input, parser, () => {});
  try {
    for await (const record of parser as AsyncIterable<string[]>) {
      yield { line: ahead.shift()?.line ?? 0, record };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    yield* ahead;
    const { empty_lines } = error as CsvError & Info;
    yield { line: place.next([], empty_lines), problem: CSV_PROBLEMS[error.code] ?? error.message };
  }
}

/** Counts the lines on which records begin. The parser counts a line end within quotes differently from one between records. */
class CsvPlace {
  #end = 0;
  #emptyLines = 0;

  next(record: readonly string[], emptyLines: number): number {
    const line = this.#end + 1 + emptyLines - this.#emptyLines;
    const within = record.reduce((sum, field) => sum + (field.match(/\r\n|\n|\r/g)?.length ?? 0), 0);
    this.#end = line + within;
    this.#emptyLines = emptyLines;
    return line;
  }
}

function headerProblems(header: readonly string[], columns: ImportColumns): { column: string; problem: string }[] {
  const missing = columns.required.filter((column) => !header.includes(column));
  return [
    ...header
      .filter((column) => !columns.known.includes(column))
      .map((column) => ({
        column: quote(column),
        problem: unknownColumn(columns, 'fields are separated by commas, '),
      })),
    ...header
      .filter((column, index) => columns.known.includes(column) && header.indexOf(column) < index)
      .map((column) => ({ column, problem: 'stands twice in the header' })),
    ...missing.map((column) => ({ column, problem: 'is missing in the header' })),
  ];
}

function csvLine(line: number, header: readonly string[], record: readonly string[]): ImportLine {
  if (record.length !== header.length) {
    return { line, problem: `has ${record.length} fields, the header has ${header.length}` };
  }
  const nul = record.findIndex((field) => field.includes('\0'));
  if (nul >= 0) return { line, column: header[nul] ?? '', problem: 'holds a NUL byte; save the file as UTF-8 text' };
  const fields = header.map((column, index) => [column, record[index] === '' ? null : record[index]] as const);
  return { line, fields: Object.fromEntries(fields) };
}

/** Reads NDJSON, a line at a time. Numbers keep every digit, as `LosslessNumber`. */
export async function* ndjsonLines(input: Readable, columns: ImportColumns): AsyncGenerator<ImportLine> {
  for await (const { line, text } of textLines(input)) {
    if (text === undefined) {
      yield { line, problem: TOO_LONG };
      return;
    }
    if (text.trim() === '') continue;
    const read = readObject(text);
    if ('problem' in read) {
      yield { line, ...read };
      continue;
    }
    const unknown = Object.keys(read.fields).filter((name) => !columns.known.includes(name));
    for (const name of unknown) yield { line, column: quote(name), problem: unknownColumn(columns) };
    if (unknown.length === 0) yield { line, fields: read.fields };
  }
}

/** Reads lines of UTF-8; a line without text is too long. `node:readline` has no limit, and splits at U+2028. */
async function* textLines(input: Readable): AsyncGenerator<{ line: number; text?: string }> {
  const decoder = new TextDecoder();
  let line = 0;
  let rest = '';
  for await (const chunk of input as AsyncIterable<Uint8Array | string>) {
    rest += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const text of lines) yield { line: ++line, text };
    if (rest.length > MAX_RECORD_LENGTH) {
      yield { line: line + 1 };
      return;
    }
  }
  yield { line: line + 1, text: rest + decoder.decode() };
}

function readObject(text: string): { fields: Readonly<Record<string, unknown>> } | { problem: string } {
  try {
    const value = parseJson(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
    return isObject ? { fields: value as Record<string, unknown> } : { problem: 'is not a JSON object' };
  } catch (error) {
    return { problem: error instanceof SyntaxError ? `is not JSON: ${error.message}` : 'is nested too deep' };
  }
}

function unknownColumn(columns: ImportColumns, hint = ''): string {
  return `is not a column; ${hint}the columns are ${columns.known.join(', ')}`;
}
