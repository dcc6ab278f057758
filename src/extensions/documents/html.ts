import { figureText } from './chart.ts';
import { PARTS } from './document.ts';
import type { Card, Column, Fact, GroupHead, ReportDocument, SectionPart, Verdict } from './document.ts';
import { type Tone } from '../../cli/shared/terminal.ts';
import {
  cardValueText,
  plainText,
  shownColumns,
  tableText,
  cssString,
  escapeText,
  icon,
  idOf,
  proseText,
} from './html/cells.ts';
import { STYLE } from './html/style.ts';
import { sumOf } from '../../base/words.ts';
import { otherFacts, readSection, scopeFacts, type ReadSection } from './sections.ts';
import { counted } from './words.ts';

/** Browsers load no file for the page and run no script in it. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
/** The most rows that the page shows of one group. CSV has all rows. */
const MOST_ROWS_OF_GROUP = 50;
const MOST_ROWS_UNFOLDED = 6;
const LONGEST_FIGURE = 18;
const LONGEST_FACT = 60;

export async function* htmlText(document: ReportDocument): AsyncGenerator<string> {
  const { title } = document;
  const style = `${STYLE}@page{@bottom-left{content:${cssString(title.slice(0, 100))}}}`;
  const policy = `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`;
  yield `${pageHead(title, `${policy}\n<style>${style}</style>\n`)}<body>\n<main>\n`;
  yield* contentText(document);
  yield '</main>\n</body>\n</html>\n';
}

/** Yields the content of a report's page. `more` is markup that follows the verdict. */
export async function* contentText(document: ReportDocument, more = ''): AsyncGenerator<string> {
  const { isWhole = false, cards = [], charts, title } = document;
  const sections: ReadSection[] = [];
  for (const section of document.sections)
    if (section.isForPrograms !== true) sections.push(await readSection(section, true, MOST_ROWS_OF_GROUP));
  const [scope, others] = [scopeFacts(document), otherFacts(document)];
  yield `<header>\n<h1>${proseText(title)}</h1>\n${scope.length === 0 ? '' : factsText('scope', scope)}</header>\n`;
  if (document.verdict !== undefined) yield verdictText(document.verdict, sections);
  yield more;
  const names = sections.map(({ section }) => section.name);
  if (cards.length > 0) yield `<ul class="cards">\n${cards.map((card) => cardText(card, names)).join('')}</ul>\n`;
  const figures = charts.map((chart, id) => ({ part: chart.part, text: figureText(chart, id) }));
  const parts = Map.groupBy(sections.flatMap(splitByPart), partOf);
  for (const { part, text } of figures) if (!parts.has(part)) yield text;
  for (const part of Object.keys(PARTS) as SectionPart[]) {
    const members = parts.get(part);
    if (members === undefined) continue;
    if (parts.size > 1) yield `<h2 class="part" id="part-${part}">${PARTS[part]}</h2>\n`;
    const drawn = figures.filter((figure) => figure.part === part).map(({ text }) => text);
    // Sections that need a person come before charts, because a person must read these sections first.
    if (part !== 'attention') yield* drawn;
    for (const read of members) yield* sectionText(read, parts.size > 1 ? 3 : 2, isWhole);
    if (part === 'attention') yield* drawn;
  }
  if (others.length === 0) return;
  yield `<section id="about">${foldText('fold', isWhole, '<h2>About this report</h2>')}${factsText('facts', others)}</details></section>\n`;
}

function partOf({ section }: ReadSection): SectionPart {
  return section.part ?? 'details';
}

function splitByPart(read: ReadSection): readonly ReadSection[] {
  const { section } = read;
  const parts = Map.groupBy(read.groups, ({ head }) => head?.part ?? partOf(read));
  if (parts.size === 0) return [read];
  return [...parts].map(([part, groups], index) => {
    const id = index === 0 ? section.name : `${section.name}-${part}`;
    const isFolded = index > 0 || section.isFolded === true;
    return { ...read, id, section: { ...section, part, isFolded }, groups, count: sumOf(groups, ({ count }) => count) };
  });
}

export function pageHead(title: string, more: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${more}<title>${escapeText(title)}</title>
</head>
`;
}

function factsText(name: string, facts: readonly Fact[]): string {
  const items = facts.map(({ label, value }) => {
    const text = plainText(value);
    const long = text.length > LONGEST_FACT ? ' class="long"' : '';
    return `<div${long}><dt>${proseText(label)}</dt><dd>${proseText(text)}</dd></div>\n`;
  });
  return `<dl class="${name}">\n${items.join('')}</dl>\n`;
}

function verdictText({ tone, text, reasons, first }: Verdict, sections: readonly ReadSection[]): string {
  const items = reasons.map((reason) => `<li>${proseText(reason)}</li>\n`).join('');
  return `<section class="verdict ${tone}" aria-label="Verdict">
${icon(tone)}<div><p>${proseText(text)}</p>
${items === '' ? '' : `<ul>\n${items}</ul>\n`}${first === undefined ? '' : firstToDo(first, sections)}</div></section>
`;
}

function firstToDo({ section: name, head }: NonNullable<Verdict['first']>, sections: readonly ReadSection[]): string {
  const title = proseText(head.title);
  const hasGroups = sections.some(({ section }) => section.name === name && section.groups !== undefined);
  const begin = name === undefined ? title : `<a href="#${hasGroups ? groupId(name, 0) : idOf(name)}">${title}</a>`;
  return `<p class="first"><strong>Begin with:</strong> ${begin}. ${proseText(head.advice ?? '')}</p>\n`;
}

function cardText({ label, value, note, tone = 'neutral', section }: Card, names: readonly string[]): string {
  return boxText({
    label,
    tone,
    value: section === undefined ? proseText(value) : cardValueText(value),
    note: proseText(note ?? ''),
    isLong: value.length > LONGEST_FIGURE,
    href: section !== undefined && names.includes(section) ? `#${idOf(section)}` : undefined,
  });
}

export type Box = Omit<Card, 'section'> & Readonly<{ tone: Tone; isLong?: boolean; href?: string | undefined }>;

export function boxText({ label, tone, value, note = '', isLong = false, href }: Box): string {
  const sign = tone === 'neutral' ? '' : icon(tone);
  const inner = `<span>${sign}${proseText(label)}</span><strong${isLong ? ' class="long"' : ''}>${value}</strong>${note === '' ? '' : `<small>${note}</small>`}`;
  const box = href === undefined ? `<div>${inner}</div>` : `<a href="${href}">${inner}</a>`;
  return `<li class="${tone}">${box}</li>\n`;
}

function* sectionText(read: ReadSection, level: number, isWhole: boolean): Generator<string> {
  const { section, id: name = section.name, groups, count, columns, silent } = read;
  const id = `id="${idOf(name)}"`;
  const heading = `<h${level}>${proseText(section.title)}</h${level}>`;
  const counts = `<small>${counted(count, 'row')}<span class="paper">, not printed while folded</span></small>`;
  const isFolded = section.isFolded === true && count > 0;
  // The id is inside the fold, because a browser opens the fold when a link leads to an id inside.
  yield isFolded
    ? `<section>${foldText('fold', isWhole, `${heading} ${counts}`)}<div ${id}>\n`
    : `<section ${id}>\n${heading}\n`;
  if (section.lead !== undefined && count > 0 && name === section.name) yield paragraph('lead', section.lead);
  if (count === 0) yield paragraph('panel empty', section.empty ?? 'none');
  else yield `<div class="panel${section.groups === undefined ? '' : ' groups'}">\n`;
  const all = groups.flatMap(({ rows }) => rows);
  const shown = shownColumns(columns, all);
  for (const [index, { head, rows, count: size }] of groups.entries()) {
    const begin = `<div id="${groupId(name, index)}">\n`;
    if (head !== null) yield groupHeadText(head, size, level + 1, isWhole || count <= MOST_ROWS_UNFOLDED) + begin;
    const title = head === null ? section.title : `${section.title}: ${head.title}`;
    if (rows.length > 0) yield* tableText(title, rows, shown, head !== null);
    const more = size - rows.length;
    if (more > 0) yield paragraph('more', `${more} more: --section ${section.name} --format csv has all of them`);
    if (head !== null) yield '</div></details>\n';
  }
  if (count > 0) yield '</div>\n';
  if (silent.length > 0) yield paragraph('note', `Zero or empty in all rows: ${listed(silent)}.`);
  const missing = shown.filter(({ isOnPaper }) => !isOnPaper).map(({ column }) => column);
  if (count > 0 && missing.length > 0) yield paragraph('note paper', `Not on paper: ${listed(missing)}.`);
  yield isFolded ? '</div></details></section>\n' : '</section>\n';
}

function groupHeadText(head: GroupHead, count: number, level: number, isOpen: boolean): string {
  const { title, tone = 'neutral', meaning = '', advice } = head;
  const heading = `<h${level}>${icon(tone)}${proseText(title)}</h${level}>`;
  const summary = `${heading} <span class="n">${count}</span> <span class="lead">${proseText(meaning)}</span>`;
  const toDo = advice === undefined ? '' : `<p class="lead"><strong>What to do:</strong> ${proseText(advice)}</p>\n`;
  return foldText(tone, isOpen, summary) + toDo;
}

function groupId(section: string, index: number): string {
  return `${idOf(section)}-${index + 1}`;
}

function foldText(name: string, isOpen: boolean, summary: string): string {
  return `<details class="${name}"${isOpen ? ' open' : ''}><summary>${summary}</summary>`;
}

function listed(columns: readonly Column[]): string {
  return columns.map(({ label }) => label).join(', ');
}

export function paragraph(name: string, text: string): string {
  return `<p class="${name}">${proseText(text)}</p>\n`;
}
