import type { Readable } from 'node:stream';
import { isLosslessNumber, parse } from 'lossless-json';
import { assumeOrderSent } from '../operate/decide-orders.ts';
import type { ImportFormat } from '../commands/files.ts';
import { quote } from '../../base/text.ts';
import { COLUMN_OF } from '../../orders/rules/record.ts';
import type { Assuming } from '../../orders/fail-over.ts';
import { StoreError } from '../../store/errors.ts';
import { insertMissing, ordersById, type ColumnsAndState } from './tables/inserted-orders.ts';
import { columnsOf, ORDER_COLUMNS, type OrderColumns } from '../../store/orders/order-columns.ts';
import type { Store, Transaction } from '../../store/port.ts';
import { hasFormulaGuard } from '../documents/words.ts';
import { csvRecords, MAX_RECORD_LENGTH, STOPPED, TOO_LONG } from '../documents/csv.ts';
import { checkFields, differences } from './add.ts';
import { ImportTables, type ImportRow } from './tables/import-rows.ts';

type ImportProblem = Readonly<{ line: number; column?: string | undefined; problem: string }>;

/** If there are problems, nothing was inserted. `problems` names at most 50 of them, `problemCount` counts all. */
export type ImportResult = Awaited<ReturnType<typeof importOrders>>;

interface ImportOptions {
  readonly format: ImportFormat;
  /** Set if a process whose database is lost may have sent these orders. */
  readonly assumeSent?: Assuming | undefined;
  readonly onProgress?: (read: number) => void;
}

const MAX_NAMED = 50;
const PROGRESS_ROWS = 1_000;

/** Imports a whole file or nothing. Skips a row if its order is known with the same content; `1.50` equals `1.5`. */
export async function importOrders(store: Store, account: string, input: Readable, options: ImportOptions) {
  const { format, assumeSent, onProgress } = options;
  using tables = new ImportTables();
  const [problems, contradictions] = [new Problems(), new Problems()];
  let read = 0;
  for await (const line of readLines(input, format)) {
    read += 'fields' in line ? 1 : 0;
    const row = toRow(line, problems);
    if (row !== undefined) contradictions.compare(row, tables.add(row));
    if (read % PROGRESS_ROWS === 0) onProgress?.(read);
  }
  const isWanted = problems.count + contradictions.count === 0;
  const settled = await store.writer
    .write((tx) => settle(tx, tables, { account, isWanted, assumeSent }))
    .catch((error: unknown) => {
      if (error instanceof DifferentOrders) return { inserted: 0, assumedSent: 0, different: error.different };
      throw error;
    });
  const conflicts = [contradictions, settled.different];
  for (const one of conflicts.flatMap(({ named }) => named).toSorted((a, b) => a.line - b.line)) problems.add(one);
  for (const { count, named } of conflicts) problems.count += count - named.length;
  return {
    read,
    inserted: settled.inserted,
    /** Rows whose order is in the table or earlier in the file with the same content; 0 if there are problems. */
    alreadyPresent: problems.count === 0 ? read - settled.inserted : 0,
    assumedSent: settled.assumedSent,
    problems: problems.named,
    problemCount: problems.count,
  };
}

class Problems {
  readonly named: ImportProblem[] = [];
  count = 0;

  add(problem: ImportProblem): void {
    this.count += 1;
    if (this.named.length < MAX_NAMED) this.named.push(problem);
  }

  /** Adds a problem if a row differs from the order of the same id, which is in the table or in an earlier line. */
  compare(row: ImportRow, other: (OrderColumns & { readonly line?: number }) | undefined): void {
    const columns = other === undefined ? [] : differences(row, other);
    const place = other?.line === undefined ? 'merchant_orders' : `line ${other.line}`;
    const problem = `differs from ${place}, which has ${quote(row.external_order_id)} too`;
    if (columns.length > 0) this.add({ line: row.line, column: columns.join(', '), problem });
  }
}

class DifferentOrders extends StoreError {
  readonly different: Problems;

  constructor(different: Problems) {
    super('refused', 'orders of the import are in the table with other content');
    this.different = different;
  }
}

type Settling = Readonly<{ account: string; isWanted: boolean; assumeSent: Assuming | undefined }>;

/**
 * Compares all rows with the table, and returns the differences. If `isWanted`, first inserts the missing rows; then
 * a difference throws `DifferentOrders`, which undoes the inserts. Throws `StoreError` if an inserted row is missing.
 */
async function settle(tx: Transaction, tables: ImportTables, { account, isWanted, assumeSent }: Settling) {
  const different = new Problems();
  let [inserted, assumedSent] = [0, 0];
  for (const rows of tables.pages()) {
    if (isWanted) inserted += await insertMissing(tx, account, rows);
    const orders = await ordersById(tx, account, [...new Set(rows.map((row) => row.external_order_id))]);
    const there = new Map(orders.map((order) => [order.external_order_id, order]));
    for (const row of rows) {
      const order = there.get(row.external_order_id);
      if (isWanted && order === undefined) throw new StoreError('refused', KEPT_OUT);
      different.compare(row, order);
    }
    if (isWanted && assumeSent !== undefined) assumedSent += await assumeWaitingSent(tx, account, orders, assumeSent);
  }
  if (isWanted && different.count > 0) throw new DifferentOrders(different);
  return { inserted, assumedSent, different };
}

const KEPT_OUT =
  'orders of the import could not be inserted: another program inserts them too, or keeps them out of the table; import the file again';

/** Treats pending and invalid orders as sent, even if they were in the table before. Returns their number. */
async function assumeWaitingSent(tx: Transaction, account: string, orders: readonly ColumnsAndState[], deps: Assuming) {
  const how = { source: 'import', reason: 'a database that is lost may have sent it' } as const;
  let assumed = 0;
  for (const { state, external_order_id: id } of orders) {
    if (state === 'pending' || state === 'invalid')
      assumed += await assumeOrderSent(tx, { account, id: id ?? '', how }, deps);
  }
  return assumed;
}

function toRow(line: ImportLine, problems: Problems): ImportRow | undefined {
  if ('problem' in line) problems.add(line);
  else {
    const checked = checkFields(line.fields);
    const { line: at } = line;
    if (checked.ok) return { ...columnsOf(checked.order), external_order_id: checked.order.externalOrderId, line: at };
    for (const { field, reason } of checked.problems)
      problems.add({ line: at, column: COLUMN_OF[field], problem: reason });
  }
  return undefined;
}

/** A line of an import file: its fields by column, or its problem. `line` is the first line of the record. */
export type ImportLine = Readonly<{ line: number; fields: Readonly<Record<string, unknown>> }> | ImportProblem;

const COLUMNS: readonly string[] = ORDER_COLUMNS;
const NO_HEADER = `names no column; fields are separated by commas, the columns are ${COLUMNS.join(', ')}`;
const REQUIRED = ['external_order_id', 'asset', 'from_currency', 'to_currency'];

export const readLines = (input: Readable, format: ImportFormat) =>
  format === 'csv' ? csvLines(input) : ndjsonLines(input);

/** Reads CSV with a header. An empty field is null. A wrong header or an unreadable record ends the reading. */
async function* csvLines(input: Readable): AsyncGenerator<ImportLine> {
  let header: readonly string[] | undefined;
  for await (const read of csvRecords(input)) {
    if ('problem' in read) return yield read;
    if (header !== undefined) yield csvLine(read.line, header, read.record);
    else {
      header = read.record;
      const problems = headerProblems(header);
      for (const problem of problems) yield { line: read.line, ...problem };
      if (problems.length > 0) return;
    }
  }
  if (header === undefined) yield { line: 1, problem: 'is empty; the first line names the columns' };
}

function headerProblems(header: readonly string[]): { column?: string; problem: string }[] {
  // The cells are not shown, because a first row of an order may have a token.
  if (!header.some((column) => COLUMNS.includes(column))) return [{ problem: NO_HEADER }];
  const unknown = header.filter((column) => !COLUMNS.includes(column));
  const twice = header.filter((column, index) => COLUMNS.includes(column) && header.indexOf(column) < index);
  const missing = REQUIRED.filter((column) => !header.includes(column));
  return [
    ...unknown.map(unknownColumn),
    ...twice.map((column) => ({ column, problem: 'is in the header twice' })),
    ...missing.map((column) => ({ column, problem: 'is missing in the header' })),
  ];
}

/** The text without the apostrophe, or with it, might be the id of another order. */
const GUARDED =
  'has an apostrophe before a formula, as orders export writes it into CSV for spreadsheets; use NDJSON (orders export --format ndjson)';

function csvLine(line: number, header: readonly string[], record: readonly string[]): ImportLine {
  if (record.length !== header.length)
    return { line, problem: `has ${record.length} fields, the header has ${header.length}` };
  const nul = record.findIndex((field) => field.includes('\0'));
  if (nul >= 0) return { line, column: header[nul] ?? '', problem: 'contains a NUL byte; save the file as UTF-8 text' };
  const guarded = record.findIndex(hasFormulaGuard);
  if (guarded >= 0) return { line, column: header[guarded] ?? '', problem: GUARDED };
  const fields = header.map((column, index) => [column, record[index] === '' ? null : record[index]] as const);
  return { line, fields: Object.fromEntries(fields) };
}

/** Reads NDJSON, a line at a time. Numbers keep every digit, as `LosslessNumber`. */
async function* ndjsonLines(input: Readable): AsyncGenerator<ImportLine> {
  for await (const { line, text } of textLines(input)) {
    if (text === undefined) return yield { line, problem: `${TOO_LONG}; ${STOPPED}` };
    if (text.trim() === '') continue;
    const read = readObject(text);
    const unknown = 'problem' in read ? [] : Object.keys(read.fields).filter((name) => !COLUMNS.includes(name));
    for (const name of unknown) yield { line, ...unknownColumn(name) };
    if (unknown.length === 0) yield { line, ...read };
  }
}

/** Yields lines. A too long line is the last and has no `text`. `node:readline` has no limit, and splits at U+2028. */
async function* textLines(input: Readable): AsyncGenerator<{ line: number; text?: string }> {
  const decoder = new TextDecoder();
  let line = 0;
  let rest = '';
  for await (const chunk of input as AsyncIterable<Uint8Array | string>) {
    rest += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const text of lines) yield { line: ++line, text };
    if (rest.length > MAX_RECORD_LENGTH) return yield { line: line + 1 };
  }
  yield { line: line + 1, text: rest + decoder.decode() };
}

function readObject(text: string): { fields: Readonly<Record<string, unknown>> } | { problem: string } {
  try {
    const value = parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
    return isObject ? { fields: value as Record<string, unknown> } : { problem: 'is not a JSON object' };
  } catch (error) {
    return { problem: error instanceof SyntaxError ? `is not JSON: ${error.message}` : 'is nested too deep' };
  }
}

function unknownColumn(name: string): { column: string; problem: string } {
  return { column: quote(name), problem: `is not a column; the columns are ${COLUMNS.join(', ')}` };
}
