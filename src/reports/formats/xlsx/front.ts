import type { Row as SheetRow } from 'write-excel-file/node';
import { scopeFacts, type ReportDocument, type Section, type Tone } from '../document.ts';
import { COLORS, wrappedCell, type Look } from './cells.ts';
import type { Link, Sheet } from './parts.ts';
import type { TableSheet } from './table.ts';

/** Of what is meant, its value, and what there is to say about it; in characters. */
const WIDTHS = [34, 30, 80] as const;
const WHOLE_WIDTH = WIDTHS[0] + WIDTHS[1] + WIDTHS[2];
const MOST_LINES = 6;
const MOST_GROUPS = 50;
const BOLD = { fontWeight: 'bold' } as const;
const LINK = { textColor: '#0550ae', textDecoration: { underline: true } } as const;

/** A section, and the sheet that has its rows. */
export interface SheetOf {
  readonly section: Section;
  readonly sheet: TableSheet;
}

/**
 * Makes the first sheet. It reads as the page does: the verdict and why, what the report is about, its figures, what needs a
 * person, and where the rest is.
 */
export function frontSheet(document: ReportDocument, sheets: readonly SheetOf[], name: string): Sheet {
  const data: SheetRow[] = [...headRows(document), ...cardRows(document), ...groupRows(sheets), ...partHead('Sheets')];
  const links: Link[] = [];
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

/** The groups of what needs a person, such as the classes of findings, each with the number of its rows. */
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

/** A text over all columns. */
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
