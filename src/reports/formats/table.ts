import type { Cell, ReportDocument, Section } from './document.ts';
import { asTable, printable } from './text.ts';

/** The time for the layout grows with the square of the rows. */
const MOST_ROWS = 1_000;

/** Writes a report for a terminal: its facts, then a table for each section. */
export async function* tableText(document: ReportDocument): AsyncGenerator<string> {
  const isBare = document.schema === null;
  if (!isBare) yield `${printable(document.title)}\n\n`;
  const width = Math.max(0, ...document.facts.map(({ label }) => label.length));
  for (const { label, value } of document.facts) yield `${label.padEnd(width)}  ${printable(value)}\n`;
  for (const section of document.sections) {
    if (!isBare) yield `\n${printable(section.title)}\n`;
    yield await sectionTable(section, isBare);
  }
}

async function sectionTable({ columns: all, rows }: Section, isBare: boolean): Promise<string> {
  const columns = all.filter(({ rank = 0, isForPrograms }) => rank === 0 && isForPrograms !== true);
  const lines: Record<string, Cell>[] = [];
  let more = 0;
  for await (const row of rows) {
    if (lines.length === MOST_ROWS) more += 1;
    else lines.push(Object.fromEntries(columns.map(({ key, label }) => [label, row[key] ?? null])));
  }
  if (lines.length === 0 && !isBare) return 'none\n';
  const note = more === 0 ? '' : `${more} more; the other formats have them all\n`;
  const labels = columns.map(({ label }) => label);
  return asTable(lines, labels) + note;
}
