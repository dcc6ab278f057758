import type { Blob } from 'node:buffer';
import type { Stream } from 'node:stream';
import type { CellObject, Options, Row as SheetRow } from 'write-excel-file/node';
import { readDecimal } from '../../domain/decimal.ts';
import { factSection, type CellKind, type Column, type ReportDocument, type Row, type Section } from './document.ts';
import { printable } from './text.ts';
import { fixZipTimes } from './zip-times.ts';

/** The workbook is made in memory. */
const MOST_ROWS = 20_000;
/** A spreadsheet keeps 15 digits of a number and replaces the others by zeros. */
const EXACT_DIGITS = 15;
const MOST_CHARACTERS = 32_000;
const WIDTHS: Readonly<Record<CellKind, number>> = {
  text: 20,
  severity: 12,
  state: 12,
  outcome: 16,
  time: 26,
  decimal: 22,
  digits: 22,
  count: 12,
  percent: 10,
};

type Feature = NonNullable<Options<Buffer | Blob | Stream>['features']>[number];

/** Makes a workbook with one sheet for each section: fixed header, filters, numbers only where they are exact, no formulas. */
export async function xlsxBytes(document: ReportDocument): Promise<Buffer> {
  const sheets = [];
  for (const section of [factSection(document), ...document.sections]) sheets.push(await sheetOf(section));
  // The library takes time to load, and only this form needs it.
  const { default: writeExcelFile } = await import('write-excel-file/node');
  const workbook = await writeExcelFile(sheets, { features: [FILTERS] }).toBuffer();
  return fixZipTimes(workbook);
}

async function sheetOf({ name, columns, rows }: Section) {
  const data: SheetRow[] = [columns.map(({ label }) => ({ value: label, type: String, fontWeight: 'bold' }))];
  let more = 0;
  for await (const row of rows) {
    if (data.length > MOST_ROWS) more += 1;
    else data.push(columns.map((column) => cell(row, column)));
  }
  if (more > 0) data.push([{ value: `${more} more; the forms csv and json have them all`, type: String }]);
  return { sheet: name, data, columns: columns.map(({ kind }) => ({ width: WIDTHS[kind] })), stickyRowsCount: 1 };
}

function cell(row: Row, { key, kind }: Column): CellObject | null {
  const value = row[key] ?? null;
  if (value === null) return null;
  if (typeof value === 'number') return { value, type: Number };
  const isDecimal = kind === 'decimal' || kind === 'digits';
  const number = isDecimal ? exactNumber(value, kind === 'digits') : undefined;
  if (number !== undefined) return { value: number, type: Number };
  return { value: text(value), type: String, ...(isDecimal && { align: 'right' as const }) };
}

/** Undefined where a spreadsheet would lose digits, or show others. */
function exactNumber(decimal: string, isAsWritten: boolean): number | undefined {
  const reading = readDecimal(decimal);
  if (!reading.ok || reading.value.c.length > EXACT_DIGITS) return undefined;
  if (isAsWritten && reading.value.toFixed() !== decimal) return undefined;
  return Number(reading.text);
}

/** Removes characters that XML cannot contain, and masks what a spreadsheet would read as an escape. */
function text(value: string): string {
  return printable(value)
    .toWellFormed()
    .replace(/_x(?=[0-9a-f]{4}_)/gi, '_x005F_x')
    .slice(0, MOST_CHARACTERS);
}

/** The letters of a column by its number, from 1: A to Z, then AA. */
function columnName(number: number): string {
  const rest = (number - 1) % 26;
  return (number > 26 ? columnName((number - 1 - rest) / 26) : '') + String.fromCodePoint(65 + rest);
}

const FILTERS: Feature = {
  files: {
    transform: {
      'xl/worksheets/sheet{id}.xml': {
        transform(content, { columns = [] }) {
          const [, lastRow = '1'] = /^<row r="(\d+)"/.exec(content.slice(content.lastIndexOf('<row '))) ?? [];
          const range = `A1:${columnName(columns.length)}${lastRow}`;
          return content.replace('</sheetData>', `</sheetData><autoFilter ref="${range}"/>`);
        },
      },
    },
  },
};
