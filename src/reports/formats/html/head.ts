import {
  otherFacts,
  scopeFacts,
  SECTION_PARTS,
  type Card,
  type Fact,
  type ReportDocument,
  type SectionPart,
  type Verdict,
} from '../document.ts';
import { cardValueText, plainText } from './cells.ts';
import { icon } from './icon.ts';
import type { ReadSection } from './read.ts';
import { idOf, proseText } from './text.ts';

/** The headings of the parts of a page. */
export const PART_TITLES: Readonly<Record<SectionPart, string>> = {
  attention: 'What needs a person',
  money: 'Money',
  days: 'By day',
  details: 'Details',
};
/** The line of a group that says what to do begins so. */
const TO_DO = 'What to do: ';
const MOST_CARDS_BESIDE = 6;
/** A longer figure, such as an id, has smaller letters. */
const LONGEST_FIGURE = 18;
/** A longer fact has the room of two. */
const LONGEST_FACT = 60;

/** Writes the top of the page: what the report is about, its verdict, its figures, and what follows. */
export function headText(document: ReportDocument, sections: readonly ReadSection[]): string {
  const { title, verdict, cards = [] } = document;
  const scope = scopeFacts(document);
  const there = new Set(sections.map(({ section }) => section.name));
  return `<header>
<h1>${proseText(title)}</h1>
${scope.length === 0 ? '' : `<dl class="scope">\n${scope.map(factText).join('')}</dl>\n`}</header>
${verdict === undefined ? '' : verdictText(verdict, firstToDo(sections))}${cards.length === 0 ? '' : `<ul class="cards of-${columnsOf(cards.length)}">\n${cards.map((card) => cardText(card, there)).join('')}</ul>\n`}${contentsText(sections)}`;
}

/** Writes the facts that do not stand at the top. */
export function aboutText(document: ReportDocument): string {
  const others = otherFacts(document);
  if (others.length === 0) return '';
  return `<section id="about">\n<h2>About this report</h2>\n<dl class="facts">\n${others.map(factText).join('')}</dl>\n</section>\n`;
}

/** The parts that have sections, in their order. */
export function partsOf(sections: readonly ReadSection[]): readonly (readonly [SectionPart, readonly ReadSection[]])[] {
  return SECTION_PARTS.map(
    (part) => [part, sections.filter(({ section }) => (section.part ?? 'details') === part)] as const,
  ).filter(([, members]) => members.length > 0);
}

function factText({ label, value }: Fact): string {
  const text = plainText(value);
  const long = text.length > LONGEST_FACT ? ' class="long"' : '';
  return `<div${long}><dt>${proseText(label)}</dt><dd>${proseText(text)}</dd></div>\n`;
}

/** The first group that needs a person, with what to do. */
function firstToDo(sections: readonly ReadSection[]): string {
  for (const { section, groups } of sections) {
    if (section.part !== 'attention') continue;
    const head = groups.map((group) => group.head).find((one) => one?.tone === 'error' || one?.tone === 'warning');
    if (head === undefined || head === null) continue;
    const advice = head.lines.find((line) => line.startsWith(TO_DO))?.slice(TO_DO.length) ?? '';
    const link = `<a href="#${idOf(section.name)}">${proseText(head.title)}</a>`;
    return `<p class="first"><strong>Begin with:</strong> ${link}. ${proseText(advice)}</p>\n`;
  }
  return '';
}

function verdictText({ tone, text, reasons }: Verdict, first: string): string {
  const items = reasons.map((reason) => `<li>${proseText(reason)}</li>\n`).join('');
  return `<section class="verdict ${tone}" aria-label="Verdict">
${icon(tone)}<div><p>${proseText(text)}</p>
${items === '' ? '' : `<ul>\n${items}</ul>\n`}${first}</div></section>
`;
}

/** So many cards beside each other that the rows are about equally long. */
function columnsOf(cards: number): number {
  return Math.ceil(cards / Math.ceil(cards / MOST_CARDS_BESIDE));
}

function cardText({ label, value, note, tone = 'neutral', section }: Card, there: ReadonlySet<string>): string {
  const inner = `<span>${tone === 'neutral' ? '' : icon(tone)}${proseText(label)}</span><strong${value.length > LONGEST_FIGURE ? ' class="long"' : ''}>${section === undefined ? proseText(value) : cardValueText(value)}</strong>${note === undefined ? '' : `<small>${proseText(note)}</small>`}`;
  const isLink = section !== undefined && there.has(section);
  return `<li class="${tone}">${isLink ? `<a href="#${idOf(section)}">${inner}</a>` : `<div>${inner}</div>`}</li>\n`;
}

function contentsText(sections: readonly ReadSection[]): string {
  if (sections.length < 2) return '';
  const parts = partsOf(sections);
  const lists = parts.map(([part, members]) => {
    const links = members.map(
      ({ section: { name, title }, count }) =>
        `<li><a href="#${idOf(name)}">${proseText(title)}</a> <small>${count}</small></li>`,
    );
    const heading = parts.length > 1 ? `<h2>${PART_TITLES[part]}</h2>` : '';
    return `<div>${heading}<ul>${links.join('')}</ul></div>\n`;
  });
  return `<nav aria-label="Contents">\n${lists.join('')}</nav>\n`;
}
