import type Big from 'big.js';
import type { CellObject, Row as SheetRow } from 'write-excel-file/node';
import { readDecimal } from '../../../domain/decimal.ts';
import { toneOf, type Cell, type CellKind, type Column, type Row, type Section } from '../document.ts';
import { printable } from '../text.ts';
import { COLORS, LINE_HEIGHT, textCell, widthOf, wrappedCell, type Sheet } from './workbook.ts';

/** The workbook is made in memory. */
const MOST_ROWS = 20_000;
/** A spreadsheet keeps 15 digits of a number and replaces the others by zeros. */
const EXACT_DIGITS = 15;
const MOST_DECIMALS = 20;
/** In characters; longer texts go on in lines below, and numbers are never cut. */
const WIDEST_TEXT = 44;
const WIDEST_KEYS = 70;
const MOST_LINES = 4;
const LEAST_WIDTH = 6;
/** The button of a filter, and the space beside a text. */
const BUTTON = 3;
/** The space keeps a number off the text beside it. */
const RIGHT = { align: 'right', indent: 1, alignVertical: 'top' } as const;
const LEFT = { alignVertical: 'top' } as const;
const HEADING = {
  fontWeight: 'bold',
  wrap: true,
  alignVertical: 'bottom',
  backgroundColor: '#eaeef2',
  bottomBorderColor: '#8c959f',
  bottomBorderStyle: 'thin',
} as const;

/** A column of a sheet: all of its cells are numbers, or all are texts. */
interface Field {
  readonly label: string;
  readonly align: 'left' | 'right';
  readonly width: number;
  readonly cells: readonly (CellObject | null)[];
}

export interface TableSheet extends Sheet {
  readonly count: number;
  readonly rows: readonly Row[];
}

/** Makes the sheet of a section. Its heading stays in place and is printed on every page, and its rows can be filtered. */
export async function tableSheet({ columns, rows }: Section, name: string): Promise<TableSheet> {
  const held: Row[] = [];
  let count = 0;
  for await (const row of rows) {
    count += 1;
    if (held.length < MOST_ROWS) held.push(row);
  }
  const fields = columns.flatMap((column) => fieldsOf(column, held));
  const data: SheetRow[] = [fields.map(headingOf)];
  for (const index of held.keys()) data.push(fields.map(({ cells }) => cells[index] ?? null));
  const table = { columns: fields.length, rows: data.length, keyColumns: keyColumns(fields) };
  const more = count - held.length;
  if (more > 0) data.push([textCell(`${more} more; the forms csv and json have them all`)]);
  return { name, data, widths: fields.map(({ width }) => width), table, count, rows: held };
}

/** The texts before the first number, where they leave room for it. */
function keyColumns(fields: readonly Field[]): number {
  const first = fields.findIndex(({ align }) => align === 'right');
  const width = fields.slice(0, first).reduce((sum, field) => sum + field.width, 0);
  return first < 0 || width > WIDEST_KEYS ? 0 : first;
}

/** A column whose digits a spreadsheet would lose is text, and its numbers stand beside it, rounded. */
function fieldsOf({ key, kind, label }: Column, rows: readonly Row[]): readonly Field[] {
  const values = rows.map((row) => row[key] ?? null);
  const isAmount = kind === 'decimal' || kind === 'digits';
  const numbers = values.map((value) => (isAmount || typeof value === 'number' ? numberOf(value) : undefined));
  if (numbers.every((number) => number === undefined)) return [textField(label, kind, values)];
  const decimals = most(values.map((value, index) => (numbers[index] === undefined ? 0 : decimalsOf(value))));
  const isExact = values.every((value, index) => value === null || isKept(value, numbers[index], kind, decimals));
  if (isExact && decimals <= MOST_DECIMALS) return [numberField(label, numbers, decimals)];
  const text = textField(label, kind, values);
  if (!isAmount) return [text];
  const rounded = numbers.map((number) => number?.prec(EXACT_DIGITS));
  const shown = most(rounded.map((number) => decimalsOf(number?.toFixed() ?? null)));
  return [text, numberField(`${label}, rounded`, rounded, Math.min(shown, MOST_DECIMALS))];
}

function numberOf(value: Cell): Big | undefined {
  const reading = readDecimal(typeof value === 'number' ? String(value) : value);
  return reading.ok ? reading.value : undefined;
}

/** The decimals that are written, zeros at the end too. */
function decimalsOf(value: Cell): number {
  const reading = readDecimal(typeof value === 'number' ? String(value) : value);
  return reading.ok ? (reading.text.split('.')[1]?.length ?? 0) : 0;
}

function isKept(value: Cell, number: Big | undefined, kind: CellKind, decimals: number): boolean {
  if (number === undefined || number.c.length > EXACT_DIGITS) return false;
  return kind !== 'digits' || value === number.toFixed(decimals);
}

function numberField(label: string, numbers: readonly (Big | undefined)[], decimals: number): Field {
  // Without a format of their own, long and small numbers would have exponents.
  const format = decimals === 0 ? '0' : `0.${'0'.repeat(decimals)}`;
  let width = headingWidth(label);
  const cells = numbers.map((number) => {
    if (number === undefined) return null;
    width = Math.max(width, number.toFixed(decimals).length + 3);
    return { value: number.toNumber(), type: Number, format, ...RIGHT };
  });
  return { label, align: 'right', width, cells };
}

function textField(label: string, kind: CellKind, values: readonly Cell[]): Field {
  const align = kind === 'decimal' || kind === 'digits' ? 'right' : 'left';
  const widths = values.map((value) => (value === null ? 0 : widthOf(printable(value))));
  const width = Math.max(headingWidth(label), Math.min(most(widths), WIDEST_TEXT) + 2);
  const cells = values.map((value, index) => {
    if (value === null) return null;
    const textColor = COLORS[toneOf(kind, value)];
    const look = { ...(align === 'right' ? RIGHT : LEFT), ...(textColor !== undefined && { textColor }) };
    const isLong = (widths[index] ?? 0) > width - 2;
    return isLong ? wrappedCell(String(value), width - 2, MOST_LINES, look) : textCell(String(value), look);
  });
  return { label, align, width, cells };
}

function most(numbers: readonly number[]): number {
  return numbers.reduce((one, other) => Math.max(one, other), 0);
}

/** Room for the longest word of a heading, and for all of it in three lines. */
function headingWidth(label: string): number {
  const words = label.split(' ').map(widthOf);
  return Math.min(WIDEST_TEXT, Math.max(LEAST_WIDTH, ...words, widthOf(label) / 3) + BUTTON);
}

function headingOf({ label, width, align }: Field): CellObject {
  const lines = Math.min(MOST_LINES, Math.ceil((1.15 * widthOf(label)) / (width - BUTTON)));
  return textCell(label, { ...(align === 'right' && RIGHT), ...HEADING, height: lines * LINE_HEIGHT + 4 });
}
