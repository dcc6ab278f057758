import type { Column, GroupHead, ReportDocument, Section, Verdict } from './document.ts';
import { otherFacts, readSection, scopeFacts, type ReadGroup } from './sections.ts';
import {
  fieldsText,
  layOut,
  leftOutLine,
  silentLine,
  PLAIN,
  styled,
  toned,
  wrapped,
  type Layout,
  type Screen,
} from './terminal.ts';
import { printable } from '../../base/words.ts';

export async function* tableText(document: ReportDocument, screen: Screen = PLAIN): AsyncGenerator<string> {
  const { schema, title, verdict, cards = [], sections } = document;
  const isBare = schema === null;
  if (!isBare) yield heading(title, screen);
  yield fieldsText(scopeFacts(document), screen);
  if (verdict !== undefined) yield `${isBare ? '' : '\n'}${verdictText(verdict, screen)}`;
  const figures = cards.map(({ label, value, note }) => ({
    label,
    value: note === undefined ? value : `${value} (${note})`,
  }));
  if (cards.length > 0) yield `\n${fieldsText(figures, screen)}`;
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

async function sectionText(section: Section, screen: Screen): Promise<string> {
  const { columns, silent, groups, count } = await readSection(section);
  if (count === 0) return `${printable(section.empty ?? 'none')}\n`;
  const tables = groups.map((group) => groupTable(columns, group, screen));
  const leftOut = [...new Set(tables.flatMap((table) => table.leftOut))];
  const more = groups.reduce((sum, { rows }) => sum - rows.length, count);
  const note = more === 0 ? '' : `${more} more; the other formats have them all\n`;
  const texts = tables.map(({ text }) => text).join('\n');
  return [texts, silentLine(silent, screen), leftOutLine(leftOut, screen), note].join('');
}

function groupTable(columns: readonly Column[], { head, rows }: ReadGroup, screen: Screen): Layout {
  if (head === null) return layOut(columns, rows, screen);
  const { unit } = head;
  const named = columns.map((column) =>
    column.hasGroupUnit === true && unit !== undefined ? { ...column, label: `${column.label} (${unit})` } : column,
  );
  const { text, leftOut } = layOut(named, rows, screen);
  // Without the unit, as the groups have different ones.
  const unnamed = columns.filter(({ key }) => leftOut.some((column) => column.key === key));
  return { text: `${groupText(head, screen)}${text}`, leftOut: unnamed };
}

function groupText({ title, tone, lines }: GroupHead, screen: Screen): string {
  const first = toned(tone, styled('bold', wrapped(printable(title), screen.width), screen), screen);
  return [first, ...lines.map((line) => wrapped(printable(line), screen.width)), ''].join('\n');
}
