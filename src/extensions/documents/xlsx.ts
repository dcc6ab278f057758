import type { Row as SheetRow, CellObject } from 'write-excel-file/node';
import type Big from 'big.js';
import { PARTS, type ReportDocument, type Section, toneOf, type CellKind, type Column, type Row } from './document.ts';
import { type Tone, type Cell } from '../../cli/shared/terminal.ts';
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
import { counted, mostOf, printable, sumOf } from '../../base/words.ts';

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
  // Excel keeps this name for itself.
  const names = new Set(['history']);
  const hasFront = verdict !== undefined || cards.length > 0 || facts.length > 0;
  const front = hasFront ? nameOf('report', names) : undefined;
  const sheets: TableSheet[] = [];
  for (const section of [...(facts.length > 0 ? [factSection(document)] : []), ...inOrder(sections)]) {
    sheets.push(await tableSheet(section, nameOf(section.name, names)));
  }
  // What is for people alone stands in groups on the first sheet, and another sheet has its rows.
  const tables = sheets.filter(({ section }) => section.isForPeople !== true);
  return await workbookBytes(title, front === undefined ? tables : [frontSheet(document, sheets, front), ...tables]);
}

function inOrder(sections: readonly Section[]): readonly Section[] {
  const parts = Object.keys(PARTS);
  const place = ({ part = 'details', isForPrograms }: Section) =>
    isForPrograms === true ? parts.length : parts.indexOf(part);
  return sections.toSorted((a, b) => place(a) - place(b));
}

/** A name that no sheet has: short, of few characters, and different by more than upper and lower case. */
function nameOf(wanted: string, taken: Set<string>): string {
  const name = wanted.replaceAll(/[^\w -]/g, '-').slice(0, LONGEST_NAME) || 'sheet';
  for (let number = 1; ; number += 1) {
    const end = number === 1 ? '' : `-${number}`;
    const one = name.slice(0, LONGEST_NAME - end.length) + end;
    if (taken.has(one.toLowerCase())) continue;
    taken.add(one.toLowerCase());
    return one;
  }
}

/** Makes the first sheet, which reads as the page does. */
function frontSheet(document: ReportDocument, sheets: readonly TableSheet[], name: string): Sheet {
  const { title, verdict, cards = [] } = document;
  const data: SheetRow[] = [wide(title, { ...BOLD, fontSize: 14 })];
  if (verdict !== undefined) {
    const { tone, text, reasons } = verdict;
    const backgroundColor = COLORS[tone];
    const filled = backgroundColor === undefined ? {} : { backgroundColor, textColor: '#ffffff' };
    data.push(wide(text, { ...BOLD, ...filled }), ...reasons.map((reason) => wide(reason, colored(tone))));
  }
  const about = scopeFacts(document);
  if (about.length > 0) data.push([], ...about.map(({ label, value }) => line(label, String(value))));
  if (cards.length > 0) data.push(...partHead('In figures'));
  for (const { label, value, note, tone } of cards)
    data.push(line(label, value, note, {}, { ...BOLD, ...colored(tone) }));
  data.push(...sheets.flatMap(groupRows), ...partHead('Sheets'));
  const links = [];
  for (const { section, name: sheet, count, rows } of sheets) {
    if (section.isForPeople === true) continue;
    links.push({ row: data.length, column: 0, sheet });
    const held = count === rows.length ? '' : `${rows.length} of `;
    const said = [section.title, section.lead].filter(Boolean).join('. ');
    data.push(line(sheet, `${held}${counted(count, 'row')}`, said, LINK));
  }
  return { name, data, widths: WIDTHS, links };
}

function groupRows({ section: { title, part, groups }, rows }: TableSheet): SheetRow[] {
  if (part !== 'attention' || groups === undefined || rows.length === 0) return [];
  const counts = [...Map.groupBy(rows, (row) => row[groups.key] ?? null)];
  const lines = counts.slice(0, MOST_GROUPS).map(([value, { length }]) => {
    const head = groups.describe(value);
    return line(head.title, String(length), head.lines.join(' '), { ...BOLD, ...colored(head.tone) });
  });
  return [...partHead(title), ...lines];
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

function colored(tone: Tone = 'neutral'): Look {
  const textColor = COLORS[tone];
  return textColor === undefined ? {} : { textColor };
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
  readonly section: Section;
  readonly count: number;
  readonly rows: readonly Row[];
}

/** Makes the sheet of a section. Its heading stays in place and is printed on every page, and its rows can be filtered. */
async function tableSheet(section: Section, name: string): Promise<TableSheet> {
  const rows: Row[] = [];
  let count = 0;
  for await (const row of section.rows) {
    count += 1;
    if (rows.length < MOST_ROWS) rows.push(row);
  }
  const fields = section.columns.flatMap((column) => fieldsOf(column, rows));
  const data: SheetRow[] = [fields.map(headingOf)];
  for (const index of rows.keys()) data.push(fields.map(({ cells }) => cells[index] ?? null));
  const table = { columns: fields.length, rows: data.length, keyColumns: keyColumns(fields) };
  if (count > rows.length) data.push([textCell(`${count - rows.length} more; the forms csv and json have them all`)]);
  return { section, name, data, widths: fields.map(({ width }) => width), table, count, rows };
}

function keyColumns(fields: readonly Field[]): number {
  const first = fields.findIndex(({ align }) => align === 'right');
  return first < 0 || sumOf(fields.slice(0, first), ({ width }) => width) > WIDEST_KEYS ? 0 : first;
}

/** A column whose digits a spreadsheet would lose is text, and its numbers stand beside it, rounded. */
function fieldsOf({ key, kind, label }: Column, rows: readonly Row[]): readonly Field[] {
  const values = rows.map((row) => row[key] ?? null);
  const isAmount = kind === 'decimal' || kind === 'digits';
  const numbers = values.map((value) => {
    const reading = readCell(value);
    return reading.ok && (isAmount || typeof value === 'number') ? reading.value : undefined;
  });
  const text = textField(label, kind, values);
  if (numbers.every((number) => number === undefined)) return [text];
  const decimals = mostOf(values, (value) => decimalsOf(value));
  const isExact = values.every((value, index) => value === null || isKept(value, numbers[index], kind, decimals));
  if (isExact && decimals <= MOST_DECIMALS) return [numberField(label, numbers, decimals)];
  if (!isAmount) return [text];
  const rounded = numbers.map((number) => number?.prec(EXACT_DIGITS));
  const shown = mostOf(rounded, (number) => decimalsOf(number?.toFixed() ?? null));
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
  const widest = mostOf(numbers, (number) => (number === undefined ? 0 : number.toFixed(decimals).length + 3));
  const cells = numbers.map((number) =>
    number === undefined ? null : { value: number.toNumber(), type: Number, format, ...RIGHT },
  );
  return { label, align: 'right', width: Math.max(headingWidth(label), widest), cells };
}

function textField(label: string, kind: CellKind, values: readonly Cell[]): Field {
  const align = kind === 'decimal' || kind === 'digits' ? 'right' : 'left';
  const widths = values.map((value) => (value === null ? 0 : widthOf(printable(value))));
  const widest = mostOf(widths, (width) => width);
  const width = Math.max(headingWidth(label), Math.min(widest, WIDEST_TEXT) + 2);
  const cells = values.map((value, index) => {
    if (value === null) return null;
    const look = { ...(align === 'right' ? RIGHT : LEFT), ...colored(toneOf(kind, value)) };
    const isLong = (widths[index] ?? 0) > width - 2;
    return isLong ? wrappedCell(String(value), width - 2, MOST_LINES, look) : textCell(String(value), look);
  });
  return { label, align, width, cells };
}

function headingWidth(label: string): number {
  const words = label.split(' ').map(widthOf);
  return Math.min(WIDEST_TEXT, Math.max(LEAST_WIDTH, ...words, widthOf(label) / 3) + BUTTON);
}

function headingOf({ label, width, align }: Field): CellObject {
  const lines = Math.min(MOST_LINES, Math.ceil((1.15 * widthOf(label)) / (width - BUTTON)));
  return textCell(label, { ...(align === 'right' && RIGHT), ...HEADING, height: lines * LINE_HEIGHT_PT + 4 });
}
