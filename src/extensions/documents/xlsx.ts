import type { Row as SheetRow, CellObject } from 'write-excel-file/node';
import type Big from 'big.js';
import {
  PARTS,
  type ReportDocument,
  type Section,
  type Tone,
  toneOf,
  type Cell,
  type CellKind,
  type Column,
  type Row,
} from './document.ts';
import { factSection, scopeFacts } from './sections.ts';
import {
  COLORS,
  workbookBytes,
  wrappedCell,
  type Look,
  type Sheet,
  LINE_HEIGHT_PT,
  textCell,
  widthOf,
} from './xlsx/workbook.ts';
import { readDecimal } from '../../base/decimal.ts';
import { printable } from '../../base/words.ts';

/** Of what is meant, its value, and what there is to say about it; in characters. */
const WIDTHS = [34, 30, 80] as const;
const WHOLE_WIDTH = WIDTHS[0] + WIDTHS[1] + WIDTHS[2];
const MOST_FRONT_LINES = 6;
const MOST_GROUPS = 50;
const BOLD = { fontWeight: 'bold' } as const;
const LINK = { textColor: '#0550ae', textDecoration: { underline: true } } as const;
const LONGEST_NAME = 31;

/** A document of rows alone has no sheet but theirs. Nothing in a workbook is a formula. */
export async function xlsxBytes(document: ReportDocument): Promise<Buffer> {
  const { title, verdict, cards = [], facts, sections } = document;
  const names = new SheetNames();
  const hasFront = verdict !== undefined || cards.length > 0 || facts.length > 0;
  const front = hasFront ? names.take('report') : undefined;
  const sheets: SheetOf[] = [];
  for (const section of [...(facts.length > 0 ? [factSection(document)] : []), ...inOrder(sections)]) {
    sheets.push({ section, sheet: await tableSheet(section, names.take(section.name)) });
  }
  // What is for people alone stands in groups on the first sheet, and another sheet has its rows.
  const tables = sheets.filter(({ section }) => section.isForPeople !== true).map(({ sheet }) => sheet);
  return await workbookBytes(title, front === undefined ? tables : [frontSheet(document, sheets, front), ...tables]);
}

function inOrder(sections: readonly Section[]): readonly Section[] {
  const parts = Object.keys(PARTS);
  const place = ({ part = 'details', isForPrograms }: Section) =>
    isForPrograms === true ? parts.length : parts.indexOf(part);
  return sections.toSorted((a, b) => place(a) - place(b));
}

/** The names of the sheets of a workbook, which are short, have few characters, and differ by more than upper and lower case. */
class SheetNames {
  /** Excel keeps this one for itself. */
  readonly #taken = new Set(['history']);

  take(wanted: string): string {
    const name = wanted.replaceAll(/[^\w -]/g, '-').slice(0, LONGEST_NAME) || 'sheet';
    for (let number = 1; ; number += 1) {
      const end = number === 1 ? '' : `-${number}`;
      const one = name.slice(0, LONGEST_NAME - end.length) + end;
      if (this.#taken.has(one.toLowerCase())) continue;
      this.#taken.add(one.toLowerCase());
      return one;
    }
  }
}

interface SheetOf {
  readonly section: Section;
  readonly sheet: TableSheet;
}

/** Makes the first sheet, which reads as the page does. */
function frontSheet(document: ReportDocument, sheets: readonly SheetOf[], name: string): Sheet {
  const data: SheetRow[] = [...headRows(document), ...cardRows(document), ...groupRows(sheets), ...partHead('Sheets')];
  const links = [];
  for (const { section, sheet } of sheets) {
    if (section.isForPeople === true) continue;
    links.push({ row: data.length, column: 0, sheet: sheet.name });
    data.push(line(sheet.name, rowsOf(sheet), [section.title, section.lead].filter(Boolean).join('. '), LINK));
  }
  return { name, data, widths: WIDTHS, links };
}

function headRows(document: ReportDocument): SheetRow[] {
  const { title, verdict } = document;
  const rows = [wide(title, { ...BOLD, fontSize: 14 })];
  if (verdict !== undefined) {
    const { tone, text, reasons } = verdict;
    rows.push(wide(text, { ...BOLD, ...filled(tone) }), ...reasons.map((reason) => wide(reason, colored(tone))));
  }
  const about = scopeFacts(document);
  return [...rows, ...(about.length === 0 ? [] : [[]]), ...about.map(({ label, value }) => line(label, String(value)))];
}

function cardRows({ cards = [] }: ReportDocument): SheetRow[] {
  const rows = cards.map(({ label, value, note, tone = 'neutral' }) =>
    line(label, value, note, {}, { ...BOLD, ...colored(tone) }),
  );
  return rows.length === 0 ? [] : [...partHead('In figures'), ...rows];
}

function groupRows(sheets: readonly SheetOf[]): SheetRow[] {
  return sheets.flatMap(({ section: { title, part, groups }, sheet: { rows } }) => {
    if (part !== 'attention' || groups === undefined || rows.length === 0) return [];
    const counts = [...Map.groupBy(rows, (row) => row[groups.key] ?? null)];
    const lines = counts.slice(0, MOST_GROUPS).map(([value, { length }]) => {
      const head = groups.describe(value);
      return line(head.title, String(length), head.lines.join(' '), { ...BOLD, ...colored(head.tone ?? 'neutral') });
    });
    return [...partHead(title), ...lines];
  });
}

function rowsOf({ count, rows }: TableSheet): string {
  const held = count === rows.length ? '' : `${rows.length} of `;
  return `${held}${count} ${count === 1 ? 'row' : 'rows'}`;
}

function partHead(title: string): SheetRow[] {
  return [[], wide(title, { ...BOLD, fontSize: 12, bottomBorderColor: '#8c959f', bottomBorderStyle: 'thin' })];
}

function wide(text: string, look: Look): SheetRow {
  return [wrappedCell(text, WHOLE_WIDTH - 4, MOST_FRONT_LINES, { columnSpan: WIDTHS.length, ...look }), null, null];
}

function line(label: string, value: string, note = '', labelLook: Look = {}, valueLook: Look = {}): SheetRow {
  return [
    wrappedCell(label, WIDTHS[0] - 2, MOST_FRONT_LINES, labelLook),
    wrappedCell(value, WIDTHS[1] - 2, MOST_FRONT_LINES, valueLook),
    wrappedCell(note, WIDTHS[2] - 1, MOST_FRONT_LINES),
  ];
}

function colored(tone: Tone): Look {
  const textColor = COLORS[tone];
  return textColor === undefined ? {} : { textColor };
}

function filled(tone: Tone): Look {
  const backgroundColor = COLORS[tone];
  return backgroundColor === undefined ? {} : { backgroundColor, textColor: '#ffffff' };
}

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

interface Field {
  readonly label: string;
  readonly align: 'left' | 'right';
  readonly width: number;
  readonly cells: readonly (CellObject | null)[];
}

interface TableSheet extends Sheet {
  readonly count: number;
  readonly rows: readonly Row[];
}

/** Makes the sheet of a section. Its heading stays in place and is printed on every page, and its rows can be filtered. */
async function tableSheet({ columns, rows }: Section, name: string): Promise<TableSheet> {
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

function keyColumns(fields: readonly Field[]): number {
  const first = fields.findIndex(({ align }) => align === 'right');
  const width = fields.slice(0, first).reduce((sum, field) => sum + field.width, 0);
  return first < 0 || width > WIDEST_KEYS ? 0 : first;
}

/** A column whose digits a spreadsheet would lose is text, and its numbers stand beside it, rounded. */
function fieldsOf({ key, kind, label }: Column, rows: readonly Row[]): readonly Field[] {
  const values = rows.map((row) => row[key] ?? null);
  const isAmount = kind === 'decimal' || kind === 'digits';
  const numbers = values.map((value) => {
    const reading = readCell(value);
    return reading.ok && (isAmount || typeof value === 'number') ? reading.value : undefined;
  });
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

function readCell(value: Cell) {
  return readDecimal(typeof value === 'number' ? String(value) : value);
}

/** Zeros at the end count too. */
function decimalsOf(value: Cell): number {
  const reading = readCell(value);
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

function headingWidth(label: string): number {
  const words = label.split(' ').map(widthOf);
  return Math.min(WIDEST_TEXT, Math.max(LEAST_WIDTH, ...words, widthOf(label) / 3) + BUTTON);
}

function headingOf({ label, width, align }: Field): CellObject {
  const lines = Math.min(MOST_LINES, Math.ceil((1.15 * widthOf(label)) / (width - BUTTON)));
  return textCell(label, { ...(align === 'right' && RIGHT), ...HEADING, height: lines * LINE_HEIGHT_PT + 4 });
}
