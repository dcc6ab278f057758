import { stringify } from 'csv-stringify/sync';
import { readDecimal } from '../../domain/decimal.ts';
import { factSection, type Column, type ReportDocument, type Row, type Section } from './document.ts';
import { noFormula } from './text.ts';

/** Rows may be long: those of an export have the answers of the exchange. */
const ROWS_A_CHUNK = 100;

/** One CSV file of a report. */
export interface CsvPart {
  /** Null where the report is this file alone. */
  readonly name: string | null;
  readonly text: AsyncIterable<string>;
}

/** Makes one CSV file with a header for each section, and one for the facts. */
export function csvParts(document: ReportDocument): readonly CsvPart[] {
  const [only, ...others] = document.sections;
  if (only !== undefined && others.length === 0 && document.facts.length === 0) {
    return [{ name: null, text: sectionText(only) }];
  }
  return [factSection(document), ...document.sections].map((section) => ({
    name: section.name,
    text: sectionText(section),
  }));
}

/** Writes the parts one after the other, each below its name. */
export async function* csvText(document: ReportDocument): AsyncGenerator<string> {
  let isFirst = true;
  for (const { name, text } of csvParts(document)) {
    if (name !== null) yield isFirst ? `${name}\n` : `\n${name}\n`;
    isFirst = false;
    yield* text;
  }
}

async function* sectionText({ columns, rows }: Section): AsyncGenerator<string> {
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
