import type { Column, GroupHead } from '../document.ts';
import { icon } from './icon.ts';
import type { ReadSection } from './read.ts';
import { tableText } from './table.ts';
import { idOf, proseText } from './text.ts';

/** Writes a section with its heading of the given level. */
export function* sectionText(read: ReadSection, level: number): Generator<string> {
  const { section, groups, count, columns, leftOut } = read;
  yield `<section id="${idOf(section.name)}">\n<h${level}>${proseText(section.title)}</h${level}>\n`;
  if (section.lead !== undefined && count > 0) yield paragraph('lead', section.lead);
  if (count === 0) yield paragraph('panel empty', section.empty ?? 'none');
  for (const group of groups) {
    yield `<div class="panel ${group.head?.tone ?? 'neutral'}">\n`;
    if (group.head !== null) yield headText(group.head, level + 1);
    const name = group.head === null ? section.title : `${section.title}: ${group.head.title}`;
    if (group.rows.length > 0) yield* tableText(name, group, columns);
    const more = group.count - group.rows.length;
    if (more > 0) yield paragraph('more', `${more} more: --section ${section.name} --format csv has all of them`);
    yield '</div>\n';
  }
  if (leftOut.length > 0) yield paragraph('note', `Zero or empty throughout: ${listed(leftOut)}.`);
  const missing = columns.filter(({ isOnPaper }) => !isOnPaper).map(({ column }) => column);
  if (count > 0 && missing.length > 0) yield paragraph('note paper', `Not on paper: ${listed(missing)}.`);
  yield '</section>\n';
}

function headText({ title, tone = 'neutral', lines }: GroupHead, level: number): string {
  const sign = tone === 'neutral' ? '' : icon(tone);
  return `<div class="head"><h${level}>${sign}${proseText(title)}</h${level}>\n${lines.map(lineText).join('')}</div>\n`;
}

/** A line such as `What to do: wait.` has its beginning in bold letters. */
function lineText(line: string): string {
  const [, begin, rest] = /^([A-Z][a-z ]{2,20}): (.+)$/s.exec(line) ?? [];
  if (begin === undefined || rest === undefined) return `<p>${proseText(line)}</p>\n`;
  return `<p><strong>${proseText(begin)}:</strong> ${proseText(rest)}</p>\n`;
}

function listed(columns: readonly Column[]): string {
  return columns.map(({ label }) => label).join(', ');
}

function paragraph(name: string, text: string): string {
  return `<p class="${name}">${proseText(text)}</p>\n`;
}
