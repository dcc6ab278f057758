import { figureText } from './chart.ts';
import {
  PARTS,
  type Card,
  type Column,
  type Fact,
  type GroupHead,
  type ReportDocument,
  type SectionPart,
  type Verdict,
} from './document.ts';
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
import { otherFacts, readSection, scopeFacts, type ReadSection } from './sections.ts';

/** The page loads nothing and runs nothing. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
/** Rows of one group; the rows that follow say nothing new. */
const MOST_ROWS_OF_GROUP = 50;
const TO_DO = 'What to do: ';
const MOST_CARDS_BESIDE = 6;
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

/**
 * Reads a report and writes what its page has between head and end, for a page that has more than the report: `more` is markup
 * below the verdict.
 */
export async function* contentText(document: ReportDocument, more = ''): AsyncGenerator<string> {
  const shown = document.sections.filter(({ isForPrograms }) => isForPrograms !== true);
  const sections = [];
  for (const section of shown) sections.push(await readSection(section, MOST_ROWS_OF_GROUP));
  const parts = partsOf(sections);
  yield titleText(document, sections);
  yield more;
  yield summaryText(document, sections, parts);
  const figures = document.charts.map((chart, id) => ({ part: chart.part, text: figureText(chart, id) }));
  // A part without sections has no heading.
  for (const figure of figures) if (!parts.some(({ part }) => part === figure.part)) yield figure.text;
  for (const { part, title, members } of parts) {
    if (title !== undefined) yield `<h2 class="part" id="part-${part}">${title}</h2>\n`;
    const drawn = figures.filter((figure) => figure.part === part).map(({ text }) => text);
    // What needs a person stands before what is only seen.
    if (part !== 'attention') yield* drawn;
    for (const read of members) yield* sectionText(read, title === undefined ? 2 : 3);
    if (part === 'attention') yield* drawn;
  }
  const others = otherFacts(document);
  if (others.length === 0) return;
  yield `<section id="about">\n<h2>About this report</h2>\n${factsText('facts', others)}</section>\n`;
}

interface Part {
  readonly part: SectionPart;
  /** Undefined if it is the only part. */
  readonly title: string | undefined;
  readonly members: readonly ReadSection[];
}

function partsOf(sections: readonly ReadSection[]): readonly Part[] {
  const groups = Map.groupBy(sections, ({ section }) => section.part ?? 'details');
  return Object.entries(PARTS).flatMap(([name, title]) => {
    const part = name as SectionPart;
    const members = groups.get(part);
    return members === undefined ? [] : [{ part, title: groups.size > 1 ? title : undefined, members }];
  });
}

/** Writes a page until its body; `more` is markup of its head. */
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

function titleText(document: ReportDocument, sections: readonly ReadSection[]): string {
  const { title, verdict } = document;
  const scope = scopeFacts(document);
  const facts = scope.length === 0 ? '' : factsText('scope', scope);
  const head = `<header>\n<h1>${proseText(title)}</h1>\n${facts}</header>\n`;
  return verdict === undefined ? head : `${head}${verdictText(verdict, firstToDo(sections))}`;
}

function summaryText({ cards = [] }: ReportDocument, sections: readonly ReadSection[], parts: readonly Part[]): string {
  const names = sections.map(({ section }) => section.name);
  const columns = Math.ceil(cards.length / Math.ceil(cards.length / MOST_CARDS_BESIDE));
  const boxes = cards.map((card) => cardText(card, names)).join('');
  const list = cards.length === 0 ? '' : `<ul class="cards of-${columns}">\n${boxes}</ul>\n`;
  return sections.length < 2 ? list : `${list}${contentsText(parts)}`;
}

function factsText(name: string, facts: readonly Fact[]): string {
  const items = facts.map(({ label, value }) => {
    const text = plainText(value);
    const long = text.length > LONGEST_FACT ? ' class="long"' : '';
    return `<div${long}><dt>${proseText(label)}</dt><dd>${proseText(text)}</dd></div>\n`;
  });
  return `<dl class="${name}">\n${items.join('')}</dl>\n`;
}

function firstToDo(sections: readonly ReadSection[]): string {
  const groups = sections
    .filter(({ section }) => section.part === 'attention')
    .flatMap((read) => read.groups.map(({ head }) => ({ head, name: read.section.name })));
  const { head, name = '' } = groups.find((group) => ['error', 'warning'].includes(group.head?.tone ?? '')) ?? {};
  if (head === undefined || head === null) return '';
  const advice = head.lines.find((line) => line.startsWith(TO_DO))?.slice(TO_DO.length) ?? '';
  const link = `<a href="#${idOf(name)}">${proseText(head.title)}</a>`;
  return `<p class="first"><strong>Begin with:</strong> ${link}. ${proseText(advice)}</p>\n`;
}

function verdictText({ tone, text, reasons }: Verdict, first: string): string {
  const items = reasons.map((reason) => `<li>${proseText(reason)}</li>\n`).join('');
  return `<section class="verdict ${tone}" aria-label="Verdict">
${icon(tone)}<div><p>${proseText(text)}</p>
${items === '' ? '' : `<ul>\n${items}</ul>\n`}${first}</div></section>
`;
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

/** A box with a figure; `value` and `note` are markup. */
export interface Box {
  readonly label: string;
  readonly tone: Tone;
  readonly value: string;
  readonly note?: string;
  readonly isLong?: boolean;
  readonly href?: string | undefined;
}

export function boxText({ label, tone, value, note = '', isLong = false, href }: Box): string {
  const sign = tone === 'neutral' ? '' : icon(tone);
  const inner = `<span>${sign}${proseText(label)}</span><strong${isLong ? ' class="long"' : ''}>${value}</strong>${note === '' ? '' : `<small>${note}</small>`}`;
  const box = href === undefined ? `<div>${inner}</div>` : `<a href="${href}">${inner}</a>`;
  return `<li class="${tone}">${box}</li>\n`;
}

function contentsText(parts: readonly Part[]): string {
  const lists = parts.map(({ title, members }) => {
    const links = members.map(({ section, count }) => {
      const link = `<a href="#${idOf(section.name)}">${proseText(section.title)}</a>`;
      return `<li>${link} <small>${count}</small></li>`;
    });
    return `<div>${title === undefined ? '' : `<h2>${title}</h2>`}<ul>${links.join('')}</ul></div>\n`;
  });
  return `<nav aria-label="Contents">\n${lists.join('')}</nav>\n`;
}

function* sectionText({ section, groups, count, columns, silent }: ReadSection, level: number): Generator<string> {
  yield `<section id="${idOf(section.name)}">\n<h${level}>${proseText(section.title)}</h${level}>\n`;
  if (section.lead !== undefined && count > 0) yield paragraph('lead', section.lead);
  if (count === 0) yield paragraph('panel empty', section.empty ?? 'none');
  const rows = groups.flatMap((group) => group.rows);
  const shown = shownColumns(columns, rows);
  for (const group of groups) {
    yield `<div class="panel ${group.head?.tone ?? 'neutral'}">\n`;
    if (group.head !== null) yield groupHeadText(group.head, level + 1);
    const name = group.head === null ? section.title : `${section.title}: ${group.head.title}`;
    if (group.rows.length > 0) yield* tableText(name, group.rows, shown, group.head?.unit);
    const more = group.count - group.rows.length;
    if (more > 0) yield paragraph('more', `${more} more: --section ${section.name} --format csv has all of them`);
    yield '</div>\n';
  }
  if (silent.length > 0) yield paragraph('note', `Zero or empty throughout: ${listed(silent)}.`);
  const missing = shown.filter(({ isOnPaper }) => !isOnPaper).map(({ column }) => column);
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

export function paragraph(name: string, text: string): string {
  return `<p class="${name}">${proseText(text)}</p>\n`;
}
