import type { Row as SheetRow, CellObject } from 'write-excel-file/node';
import { instantMs } from '../../base/instant.ts';
import { isNumeric, PARTS, toneOf } from './document.ts';
import type { ReportDocument, Section, CellKind, Column, Row } from './document.ts';
import { type Tone, type Cell } from '../../cli/shared/terminal.ts';
import { factSection, firstText, groupOf, scopeFacts } from './sections.ts';
import { COLORS, workbookBytes, wrappedCell, LINE_HEIGHT_PT, textCell, widthOf } from './xlsx/workbook.ts';
import type { Look, Sheet } from './xlsx/workbook.ts';
import { readDecimal } from '../../base/decimal.ts';
import { mostOf, printable, sumOf } from '../../base/words.ts';
import { pasteable } from '../../base/invocation.ts';
import { counted } from './words.ts';

const WIDTHS = [52, 26, 110] as const;
const WHOLE_WIDTH = WIDTHS[0] + WIDTHS[1] + WIDTHS[2];
const MOST_FRONT_LINES = 6;
const MOST_GROUPS = 50;
const BOLD = { fontWeight: 'bold' } as const;
const LINK = { textColor: '#0550ae', textDecoration: { underline: true } } as const;
const HIDDEN = 'Hidden. To see the sheet, right-click the name of any sheet and choose Unhide.';
const LONGEST_NAME = 31;

/** Each section is a sheet. Without verdict, cards and facts there is no front sheet. No cell is a formula. */
export async function xlsxBytes(document: ReportDocument): Promise<Buffer> {
  const { title, verdict, cards = [], facts, sections, isWhole = false } = document;
  // Excel refuses a sheet with the name History.
  const names = new Set(['history']);
  const hasFront = verdict !== undefined || cards.length > 0 || facts.length > 0;
  const front = hasFront ? nameOf('Report', names) : undefined;
  const sheets: TableSheet[] = [];
  for (const section of [...inOrder(sections), ...(facts.length > 0 ? [factSection(document)] : [])]) {
    sheets.push(await tableSheet(section, nameOf(section.title, names), !isWhole && isSecondary(section)));
  }
  return await workbookBytes(title, front === undefined ? sheets : [frontSheet(document, sheets, front), ...sheets]);
}

function isSecondary({ isFolded = false, isForPrograms = false }: Section): boolean {
  return isFolded || isForPrograms;
}

function inOrder(sections: readonly Section[]): readonly Section[] {
  const parts = Object.keys(PARTS);
  const place = (section: Section) => (isSecondary(section) ? parts.length : parts.indexOf(section.part ?? 'details'));
  return sections.toSorted((a, b) => place(a) - place(b));
}

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

function frontSheet(document: ReportDocument, sheets: readonly TableSheet[], name: string): Sheet {
  const { title, verdict, cards = [] } = document;
  const data: SheetRow[] = [wide(title, { ...BOLD, fontSize: 14 })];
  if (verdict !== undefined) {
    const { tone, text, reasons } = verdict;
    const backgroundColor = COLORS[tone];
    const filled = backgroundColor && { backgroundColor, textColor: '#ffffff' };
    data.push(wide(text, { ...BOLD, ...filled }), ...reasons.map((reason) => wide(pasteable(reason), colored(tone))));
  }
  const first = firstText(document);
  if (first !== null) data.push(wide(pasteable(first), BOLD));
  const about = scopeFacts(document).map(({ label, value }): SheetRow => {
    const time = timeCell(String(value));
    return time === undefined ? line(label, String(value)) : [textCell(`${label} (UTC)`), { ...time, align: 'left' }];
  });
  if (about.length > 0) data.push([], ...about);
  if (cards.length > 0) data.push(...partHead('In figures'));
  for (const { label, value, note, tone } of cards)
    data.push(line(label, value, note, {}, { ...BOLD, ...colored(tone) }));
  data.push(...sheets.flatMap(groupRows), ...partHead('Sheets'));
  const links = [];
  for (const { name: sheet, count, rows, isHidden = false } of sheets) {
    if (!isHidden) links.push({ row: data.length, sheet });
    const shown = count === rows.length ? '' : `${rows.length} of `;
    data.push(line(sheet, `${shown}${counted(count, 'row')}`, isHidden ? HIDDEN : '', isHidden ? {} : LINK));
  }
  return { name, data, widths: WIDTHS, links };
}

function groupRows({ section: { title, part, groups }, rows }: TableSheet): SheetRow[] {
  if (part !== 'attention' || groups === undefined || rows.length === 0) return [];
  const counts = [...Map.groupBy(rows, (row) => groupOf(row, groups)).values()];
  const lines = counts.slice(0, MOST_GROUPS).map((same) => {
    const { title: label, tone, meaning = '', advice = '' } = groups.describe(same[0]!);
    return line(label, String(same.length), pasteable(`${meaning} ${advice}`.trim()), { ...BOLD, ...colored(tone) });
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

/** Returns a time or a day as a date in UTC, because a spreadsheet has no time zones; undefined for another text. */
function timeCell(value: string): CellObject | undefined {
  const [, clock] = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(?:\.\d+)?Z)?$/.exec(value) ?? [];
  const ms = instantMs(clock === undefined ? `${value}T00:00:00Z` : value);
  // Excel begins with 1900 and counts a 29 February 1900, which never was. So dates before March 1900 would be wrong.
  if (ms === undefined || ms < FIRST_DAY_MS) return undefined;
  const format = clock === undefined ? 'yyyy-mm-dd' : 'yyyy-mm-dd hh:mm:ss';
  return { value: new Date(ms), type: Date, format };
}

function colored(tone: Tone = 'neutral'): Look {
  const textColor = COLORS[tone];
  return textColor === undefined ? {} : { textColor };
}

const MOST_ROWS = 20_000;
/** A spreadsheet keeps 15 digits of a number and replaces further digits by zeros. */
const EXACT_DIGITS = 15;
const MOST_DECIMALS = 20;
/** In characters. Longer texts wrap. A column of numbers has any width, so that no number is cut. */
const WIDEST_TEXT = 34;
const WIDEST_KEYS = 70;
const MOST_LINES = 4;
const LEAST_WIDTH = 6;
const BUTTON = 3;
/** The indent separates a number from the text in the next column. */
const RIGHT = { align: 'right', indent: 1, alignVertical: 'top' } as const;
const LEFT = { align: 'left', alignVertical: 'top' } as const;
const FIRST_DAY_MS = Date.UTC(1900, 2, 1);
const HEADING = {
  fontWeight: 'bold',
  wrap: true,
  alignVertical: 'bottom',
  backgroundColor: '#eaeef2',
  bottomBorderColor: '#8c959f',
  bottomBorderStyle: 'thin',
} as const;

type TableSheet = Awaited<ReturnType<typeof tableSheet>>;

async function tableSheet(section: Section, name: string, isHidden: boolean) {
  const rows: Row[] = [];
  let count = 0;
  for await (const row of section.rows) {
    count += 1;
    if (rows.length < MOST_ROWS) rows.push(row);
  }
  const fields = section.columns.map((column) => fieldOf(column, rows));
  const data: SheetRow[] = [fields.map(({ heading }) => heading)];
  for (const index of rows.keys()) data.push(fields.map(({ cells }) => cells[index] ?? null));
  const first = fields.findIndex(({ isNumber }) => isNumber);
  const isWide = sumOf(fields.slice(0, first), ({ width }) => width) > WIDEST_KEYS;
  const table = { columns: fields.length, rows: data.length, keyColumns: first < 0 || isWide ? 0 : first };
  if (count > rows.length) data.push([textCell(`${count - rows.length} more; the formats csv and json have all rows`)]);
  return { section, name, isHidden, data, widths: fields.map(({ width }) => width), table, count, rows };
}

function fieldOf({ key, kind, label: name }: Column, rows: readonly Row[]) {
  const values = rows.map((row) => row[key] ?? null);
  const isTime = kind === 'time' || kind === 'day';
  const isNumber = isNumeric({ kind });
  const exact = values.map((value) => (isTime ? timeCell(String(value)) : numberCell(value, kind)));
  const isMixed = kind === 'decimal' && values.some((value, index) => value !== null && exact[index] === undefined);
  const label = isTime && !name.includes('UTC') ? `${name} (UTC)` : isMixed ? `${name} (long numbers as text)` : name;
  const widths = values.map((value, index) => {
    if (value === null) return 0;
    return widthOf(exact[index]?.type === Date ? (exact[index].format ?? '') : printable(value));
  });
  const widest = mostOf(widths, (one) => one);
  const width = Math.max(headingWidth(label), (isNumber ? widest : Math.min(widest, WIDEST_TEXT)) + 2);
  const cells = values.map((value, index) => {
    if (value === null) return null;
    const look = isNumber ? RIGHT : { ...LEFT, ...colored(toneOf(kind, value)) };
    const cell = exact[index];
    if (cell !== undefined) return { ...cell, ...look };
    const isLong = (widths[index] ?? 0) > width - 2;
    return isLong ? wrappedCell(String(value), width - 2, MOST_LINES, look) : textCell(String(value), look);
  });
  const lines = Math.min(MOST_LINES, Math.ceil((1.15 * widthOf(label)) / (width - BUTTON)));
  const height = lines * LINE_HEIGHT_PT + 4;
  return { heading: textCell(label, { ...(isNumber && RIGHT), ...HEADING, height }), isNumber, width, cells };
}

function numberCell(value: Cell, kind: CellKind): CellObject | undefined {
  if (!isNumeric({ kind })) return undefined;
  const reading = readDecimal(typeof value === 'number' ? String(value) : value);
  if (!reading.ok || reading.value.c.length > EXACT_DIGITS) return undefined;
  const decimals = reading.text.split('.')[1]?.length ?? 0;
  if (decimals > MOST_DECIMALS || (kind === 'digits' && value !== reading.value.toFixed(decimals))) return undefined;
  // Without a format, a spreadsheet would show long and small numbers with exponents.
  const format = decimals === 0 ? '0' : `0.${'0'.repeat(decimals)}`;
  return { value: reading.value.toNumber(), type: Number, format };
}

function headingWidth(label: string): number {
  const words = label.split(' ').map(widthOf);
  return Math.min(WIDEST_TEXT, Math.max(LEAST_WIDTH, ...words, widthOf(label) / 3) + BUTTON);
}
