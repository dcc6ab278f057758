import type { GroupHead, ReportDocument, Section, Verdict } from './document.ts';
import { firstText, otherFacts, readSection, scopeFacts } from './sections.ts';
import { labelsOf, layOut, leftOutLine, noteText, PLAIN } from './terminal.ts';
import { fieldsText, styled, toned, wrapped, type Screen } from '../../cli/shared/terminal.ts';
import { printable, sumOf } from '../../base/words.ts';
import { pasteable } from '../../base/invocation.ts';
import { counted } from './words.ts';

export async function* tableText(document: ReportDocument, screen: Screen = PLAIN): AsyncGenerator<string> {
  const { schema, title, verdict, cards = [], sections, isWhole = false } = document;
  const isBare = schema === null;
  if (!isBare) yield heading(title, screen);
  yield fieldsText(scopeFacts(document), screen);
  if (verdict !== undefined) yield `${isBare ? '' : '\n'}${verdictText(verdict, firstText(document), screen)}`;
  const figures = cards.map(({ label, value, note }) => {
    return { label, value: note === undefined ? value : `${value} (${note})` };
  });
  if (cards.length > 0) yield `\n${fieldsText(figures, screen)}`;
  for (const section of sections) {
    if (section.isForPrograms === true) continue;
    if (!isBare) yield `\n${heading(section.title, screen)}`;
    else if (verdict !== undefined) yield '\n';
    if (section.lead !== undefined) yield `${wrapped(sentence(section.lead), screen.width)}\n`;
    yield await sectionText(section, isWhole, screen);
  }
  const others = otherFacts(document);
  if (others.length > 0) yield `\n${heading('About this report', screen)}${fieldsText(others, screen)}`;
}

function sentence(text: string): string {
  return printable(pasteable(text));
}

function heading(text: string, screen: Screen): string {
  return `${styled('bold', wrapped(printable(text), screen.width), screen)}\n`;
}

function verdictText({ tone, text, reasons }: Verdict, first: string | null, screen: Screen): string {
  return [
    toned(tone, wrapped(printable(text), screen.width), screen),
    ...reasons.map((reason) => `- ${wrapped(sentence(reason), screen.width, 2)}`),
    ...(first === null ? [] : [wrapped(sentence(first), screen.width)]),
    '',
  ].join('\n');
}

async function sectionText(section: Section, hasHeads: boolean, screen: Screen): Promise<string> {
  const { columns, silent, groups, count } = await readSection(section, hasHeads);
  if (count === 0) return `${sentence(section.empty ?? 'none')}\n`;
  const tables = groups.map(({ head, rows }) => ({ head, ...layOut(columns, rows, screen) }));
  const more = count - sumOf(groups, ({ rows }) => rows.length);
  return [
    tables.map(({ head, text }) => `${head === null ? '' : groupText(head, screen)}${text}`).join('\n'),
    silent.length === 0 ? '' : noteText(`zero or empty in every row: ${labelsOf(silent)}`, screen),
    leftOutLine([...new Set(tables.flatMap(({ leftOut }) => leftOut))], screen),
    more === 0 ? '' : `${counted(more, 'more row')}: see --format csv, xlsx or json\n`,
  ].join('');
}

function groupText({ title, tone, meaning, advice }: GroupHead, screen: Screen): string {
  const first = toned(tone, styled('bold', wrapped(printable(title), screen.width), screen), screen);
  const lines = [meaning, advice && `What to do: ${advice}`].filter((line) => line !== undefined);
  return [first, ...lines.map((line) => wrapped(sentence(line), screen.width)), ''].join('\n');
}
