import {
  otherFacts,
  saysNothing,
  scopeFacts,
  rowsForPeople,
  type Card,
  type Cell,
  type Column,
  type GroupHead,
  type Groups,
  type ReportDocument,
  type Row,
  type Section,
  type Verdict,
} from './document.ts';
import { fieldsText } from './terminal/fields.ts';
import { layOut, leftOutLine, silentLine, type Layout } from './terminal/layout.ts';
import { PLAIN, styled, toned, wrapped, type Screen } from './terminal/screen.ts';
import { printable } from './text.ts';

/** Nobody reads more at a terminal, and the widths of columns are known only when all their rows are. */
const MOST_ROWS = 1_000;

/** Writes a report for a terminal: what it is about, its verdict and figures, a table for each section, and what else is known of it. */
export async function* tableText(document: ReportDocument, screen: Screen = PLAIN): AsyncGenerator<string> {
  const { schema, title, verdict, cards = [], sections } = document;
  const isBare = schema === null;
  if (!isBare) yield heading(title, screen);
  yield fieldsText(scopeFacts(document), screen);
  if (verdict !== undefined) yield `${isBare ? '' : '\n'}${verdictText(verdict, screen)}`;
  if (cards.length > 0) yield `\n${cardsText(cards, screen)}`;
  for (const section of sections) {
    if (section.isForPrograms === true) continue;
    if (!isBare) yield `\n${heading(section.title, screen)}`;
    else if (verdict !== undefined) yield '\n';
    if (section.lead !== undefined) yield `${wrapped(printable(section.lead), screen.width)}\n`;
    yield await sectionText(section, screen);
  }
  const others = otherFacts(document);
  if (others.length > 0) yield `\n${heading('About this report', screen)}${fieldsText(others, screen)}`;
}

function heading(text: string, screen: Screen): string {
  return `${styled('bold', wrapped(printable(text), screen.width), screen)}\n`;
}

function verdictText({ tone, text, reasons }: Verdict, screen: Screen): string {
  const first = toned(tone, wrapped(printable(text), screen.width), screen);
  return [first, ...reasons.map((reason) => `- ${wrapped(printable(reason), screen.width, 2)}`), ''].join('\n');
}

function cardsText(cards: readonly Card[], screen: Screen): string {
  const fields = cards.map(({ label, value, note }) => ({
    label,
    value: note === undefined ? value : `${value} (${note})`,
  }));
  return fieldsText(fields, screen);
}

async function sectionText(section: Section, screen: Screen): Promise<string> {
  const { groups, empty = 'none' } = section;
  const { rows, more } = await firstRows(section);
  if (rows.length === 0) return `${printable(empty)}\n`;
  const { columns, silent } = columnsOf(section, rows);
  const tables = groups === undefined ? [layOut(columns, rows, screen)] : groupTables(columns, groups, rows, screen);
  const leftOut = [...new Set(tables.flatMap((table) => table.leftOut))];
  const note = more === 0 ? '' : `${more} more; the other formats have them all\n`;
  return [...tables.map(({ text }) => text), silentLine(silent, screen), leftOutLine(leftOut, screen), note].join('');
}

async function firstRows(section: Section): Promise<{ readonly rows: readonly Row[]; readonly more: number }> {
  const first: Row[] = [];
  let more = 0;
  for await (const row of rowsForPeople(section)) {
    if (first.length < MOST_ROWS) first.push(row);
    else more += 1;
  }
  return { rows: first, more };
}

/** The columns for people, without that of the groups and without those that say nothing in any row. The first one names the row, and stays. */
function columnsOf({ columns: all, groups }: Section, rows: readonly Row[]) {
  const candidates = all.filter(({ key, isForPrograms }) => isForPrograms !== true && key !== groups?.key);
  const silent = candidates.filter(
    (column, index) => index > 0 && rows.every((row) => saysNothing(row[column.key] ?? null, column)),
  );
  return { columns: candidates.filter((column) => !silent.includes(column)), silent };
}

/** A table for each run of rows with the same value, below what that value means. */
function groupTables(columns: readonly Column[], groups: Groups, rows: readonly Row[], screen: Screen): Layout[] {
  const runs: { readonly value: Cell; readonly rows: Row[] }[] = [];
  for (const row of rows) {
    const value = row[groups.key] ?? null;
    if (runs.at(-1)?.value !== value) runs.push({ value, rows: [] });
    runs.at(-1)?.rows.push(row);
  }
  return runs.map((run, index) => {
    const head = groups.describe(run.value);
    const own = columns.map((column) =>
      column.hasGroupUnit === true ? { ...column, label: withUnit(column.label, head) } : column,
    );
    const { text, leftOut } = layOut(own, run.rows, screen);
    return {
      text: `${index === 0 ? '' : '\n'}${groupText(head, screen)}${text}`,
      // Without the unit, as the groups have different ones.
      leftOut: columns.filter(({ key }) => leftOut.some((column) => column.key === key)),
    };
  });
}

function withUnit(label: string, { unit }: GroupHead): string {
  return unit === undefined ? label : `${label} (${unit})`;
}

function groupText({ title, tone, lines }: GroupHead, screen: Screen): string {
  const first = toned(tone, styled('bold', wrapped(printable(title), screen.width), screen), screen);
  return [first, ...lines.map((line) => wrapped(printable(line), screen.width)), ''].join('\n');
}
