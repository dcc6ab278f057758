import { figureText } from './chart.ts';
import type { Column, GroupHead, ReportDocument } from './document.ts';
import { aboutText, headText, PART_TITLES, partsOf } from './html/head.ts';
import { readSection, type ReadSection } from './html/read.ts';
import { STYLE } from './html/style.ts';
import { icon } from './html/icon.ts';
import { tableText } from './html/cells.ts';
import { cssString, escapeText, idOf, proseText } from './html/text.ts';

/** The page loads nothing and runs nothing. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/** Writes a report as one page with its charts, without scripts. */
export async function* htmlText(document: ReportDocument): AsyncGenerator<string> {
  yield pageHead(document.title);
  yield* contentText(document);
  yield '</main>\n</body>\n</html>\n';
}

/** Reads a report and writes what its page has between head and end, for a page that has more than the report. */
export async function* contentText(document: ReportDocument): AsyncGenerator<string> {
  const shown = document.sections.filter(({ isForPrograms }) => isForPrograms !== true);
  const sections = [];
  for (const section of shown) sections.push(await readSection(section));
  yield headText(document, sections);
  const parts = partsOf(sections);
  const figures = document.charts.map((chart, id) => ({ part: chart.part, text: figureText(chart, id) }));
  // A part without sections has no heading.
  for (const figure of figures) if (!parts.some(([part]) => part === figure.part)) yield figure.text;
  const hasParts = parts.length > 1;
  for (const [part, members] of parts) {
    if (hasParts) yield `<h2 class="part" id="part-${part}">${PART_TITLES[part]}</h2>\n`;
    const drawn = figures.filter((figure) => figure.part === part).map(({ text }) => text);
    // What needs a person stands before what is only seen.
    if (part !== 'attention') yield* drawn;
    for (const read of members) yield* sectionText(read, hasParts ? 3 : 2);
    if (part === 'attention') yield* drawn;
  }
  yield aboutText(document);
}

function pageHead(title: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeText(title)}</title>
<style>${STYLE}@page{@bottom-left{content:${cssString(title.slice(0, 100))}}}</style>
</head>
<body>
<main>
`;
}

/** Writes a section with its heading of the given level. */
function* sectionText(read: ReadSection, level: number): Generator<string> {
  const { section, groups, count, columns, leftOut } = read;
  yield `<section id="${idOf(section.name)}">\n<h${level}>${proseText(section.title)}</h${level}>\n`;
  if (section.lead !== undefined && count > 0) yield paragraph('lead', section.lead);
  if (count === 0) yield paragraph('panel empty', section.empty ?? 'none');
  for (const group of groups) {
    yield `<div class="panel ${group.head?.tone ?? 'neutral'}">\n`;
    if (group.head !== null) yield groupHeadText(group.head, level + 1);
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

function groupHeadText({ title, tone = 'neutral', lines }: GroupHead, level: number): string {
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
