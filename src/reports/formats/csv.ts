import { stringify } from 'csv-stringify/sync';
import { readDecimal } from '../../domain/decimal.ts';
import type { Column, Row, Section } from './document.ts';
import { noFormula } from './text.ts';

/** Rows may be long: those of an export have the answers of the exchange. */
const ROWS_A_CHUNK = 100;

/** Writes a section as CSV with a header. */
export async function* csvText({ columns, rows }: Section): AsyncGenerator<string> {
  let records: (string | number | null)[][] = [columns.map(({ key }) => key)];
  for await (const row of rows) {
    records.push(columns.map((column) => cell(row, column)));
    if (records.length < ROWS_A_CHUNK) continue;
    yield stringify(records);
    records = [];
  }
  yield stringify(records);
}

function cell(row: Row, { key, kind }: Column): string | number | null {
  const value = row[key] ?? null;
  if (typeof value !== 'string' || (kind === 'digits' && readDecimal(value).ok)) return value;
  return noFormula(value);
}
