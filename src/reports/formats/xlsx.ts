import type { Row as SheetRow } from 'write-excel-file/node';
import { SECTION_PARTS, type ReportDocument, type Section, type Tone } from './document.ts';
import { factSection, scopeFacts } from './sections.ts';
import { tableSheet, type TableSheet } from './xlsx/table.ts';
import { COLORS, workbookBytes, wrappedCell, type Look, type Sheet } from './xlsx/workbook.ts';

/** Of what is meant, its value, and what there is to say about it; in characters. */
const WIDTHS = [34, 30, 80] as const;
const WHOLE_WIDTH = WIDTHS[0] + WIDTHS[1] + WIDTHS[2];
const MOST_LINES = 6;
const MOST_GROUPS = 50;
const BOLD = { fontWeight: 'bold' } as const;
const LINK = { textColor: '#0550ae', textDecoration: { underline: true } } as const;
const LONGEST_NAME = 31;

/**
 * Makes a workbook: a first sheet to read, one of the facts, and one for each section, those for people first. A document of
 * rows alone has only these. Nothing in it is a formula.
 */
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

/** In the order of the page; those for programs are last. */
function inOrder(sections: readonly Section[]): readonly Section[] {
  const place = ({ part = 'details', isForPrograms }: Section) =>
    isForPrograms === true ? SECTION_PARTS.length : SECTION_PARTS.indexOf(part);
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

/**
 * Makes the first sheet. It reads as the page does: the verdict and why, what the report is about, its figures, what needs a
 * person, and where the rest is.
 */
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
  return [wrappedCell(text, WHOLE_WIDTH - 4, MOST_LINES, { columnSpan: WIDTHS.length, ...look }), null, null];
}

function line(label: string, value: string, note = '', labelLook: Look = {}, valueLook: Look = {}): SheetRow {
  return [
    wrappedCell(label, WIDTHS[0] - 2, MOST_LINES, labelLook),
    wrappedCell(value, WIDTHS[1] - 2, MOST_LINES, valueLook),
    wrappedCell(note, WIDTHS[2] - 1, MOST_LINES),
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
