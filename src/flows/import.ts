import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { CsvError, parse as parseCsv } from 'csv-parse';
import { isLosslessNumber, parse as parseJson } from 'lossless-json';
import { checkOrder } from '../domain/check-order.ts';
import type { MerchantOrder, UncheckedOrder } from '../domain/order.ts';
import { IMPORT_COLUMNS, ImportStage, type ImportRow } from '../store/import.ts';
import type { Store } from '../store/store.ts';

/** The forms an import file may have. */
export type ImportFormat = 'csv' | 'ndjson';

/** What an import did. With problems, nothing was inserted; at most 50 are named, all are counted. */
export interface ImportResult {
  readonly read: number;
  readonly inserted: number;
  readonly alreadyPresent: number;
  /** `17: asset: must be positive, is "0"`: line, column, reason. */
  readonly problems: readonly string[];
  readonly problemCount: number;
}

const MAX_NAMED = 50;
const BATCH = 1_000;
const COLUMN_OF: Readonly<Record<keyof MerchantOrder, (typeof IMPORT_COLUMNS)[number]>> = {
  externalOrderId: 'external_order_id',
  asset: 'asset',
  assetPosition: 'asset_position',
  fromCurrency: 'from_currency',
  toCurrency: 'to_currency',
  orderType: 'order_type',
  limit: 'order_limit',
  paymentToken: 'payment_token',
  providerType: 'provider_type',
  cryptoAddress: 'crypto_address',
  bonus: 'bonus',
};

/** A line of the file: its fields by column, or why it cannot be read. */
type Line = { line: number; fields: Readonly<Record<string, unknown>> } | { line: number; problem: string };

/** Reads a whole file into `merchant_orders`: all rows or none. A row that is there with the same content is passed over. */
export async function importOrders(
  store: Store,
  account: string,
  input: Readable,
  format: ImportFormat,
  onProgress: (read: number) => void = () => {},
): Promise<ImportResult> {
  const stage = await ImportStage.open(store);
  const problems = new Problems();
  let batch: ImportRow[] = [];
  let read = 0;
  for await (const line of format === 'csv' ? csvLines(input) : ndjsonLines(input)) {
    const row = toRow(line, problems);
    if (row !== undefined) batch.push(row);
    read += 1;
    if (batch.length < BATCH) continue;
    await stage.take(batch);
    batch = [];
    onProgress(read);
  }
  await stage.take(batch);
  for (const conflict of await stage.conflicts(account, MAX_NAMED + 1)) {
    problems.add(
      conflict.line,
      'external_order_id',
      `${JSON.stringify(conflict.external_order_id)} has other content in ${conflict.other}`,
    );
  }
  const inserted = problems.count === 0 ? await stage.insert(account) : 0;
  const alreadyPresent = problems.count === 0 ? read - inserted : 0;
  return { read, inserted, alreadyPresent, problems: problems.named, problemCount: problems.count };
}

class Problems {
  readonly named: string[] = [];
  count = 0;

  add(line: number, column: string, reason: string): void {
    this.count += 1;
    if (this.named.length < MAX_NAMED) this.named.push(`${line}: ${column}: ${reason}`);
  }
}

function toRow(line: Line, problems: Problems): ImportRow | undefined {
  if ('problem' in line) {
    problems.add(line.line, 'line', line.problem);
    return undefined;
  }
  const unknown = Object.keys(line.fields).filter((name) => !(IMPORT_COLUMNS as readonly string[]).includes(name));
  for (const name of unknown)
    problems.add(line.line, name, `is not a column; the columns are ${IMPORT_COLUMNS.join(', ')}`);
  const checked = checkOrder(uncheckedOf(line.fields));
  if (!checked.ok) for (const { field, reason } of checked.problems) problems.add(line.line, COLUMN_OF[field], reason);
  if (!checked.ok || unknown.length > 0) return undefined;
  const columns = Object.entries(COLUMN_OF).map(([field, column]) => [
    column,
    checked.order[field as keyof MerchantOrder],
  ]);
  return { ...Object.fromEntries(columns), line: line.line } as ImportRow;
}

function uncheckedOf(fields: Readonly<Record<string, unknown>>): UncheckedOrder {
  const value = (column: string) => {
    const found = fields[column];
    return isLosslessNumber(found) ? found.value : (found ?? null);
  };
  const columns = Object.entries(COLUMN_OF).map(([field, column]) => [field, value(column)]);
  const order = Object.fromEntries(columns) as Record<keyof MerchantOrder, unknown>;
  return { ...order, assetPosition: order.assetPosition ?? 'INPUT', orderType: order.orderType ?? 'DEPOSIT' };
}

/** An empty CSV field is no value: CSV cannot tell it from an empty text. */
async function* csvLines(input: Readable): AsyncGenerator<Line> {
  const parser = input.pipe(
    parseCsv({
      columns: true,
      bom: true,
      info: true,
      skip_empty_lines: true,
      cast: (text) => (text === '' ? null : text),
      max_record_size: 1_000_000,
    }),
  );
  input.on('error', (error) => parser.destroy(error));
  try {
    for await (const { record, info } of parser as AsyncIterable<{
      record: Record<string, unknown>;
      info: { lines: number };
    }>) {
      yield { line: info.lines, fields: record };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    yield { line: (error as unknown as { lines?: number }).lines ?? 0, problem: error.message };
  }
}

async function* ndjsonLines(input: Readable): AsyncGenerator<Line> {
  let line = 0;
  for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    line += 1;
    if (text.trim() === '') continue;
    yield { line, ...readObject(text) };
  }
}

function readObject(text: string): { fields: Record<string, unknown> } | { problem: string } {
  try {
    const value = parseJson(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
    return isObject ? { fields: value as Record<string, unknown> } : { problem: 'is not a JSON object' };
  } catch {
    return { problem: 'is not JSON' };
  }
}
