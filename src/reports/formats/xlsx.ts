import { factSection, SECTION_PARTS, type ReportDocument, type Section } from './document.ts';
import { frontSheet, type SheetOf } from './xlsx/front.ts';
import { workbookBytes } from './xlsx/parts.ts';
import { tableSheet } from './xlsx/table.ts';

const LONGEST_NAME = 31;

/**
 * Makes a workbook: a first sheet to read, one of the facts, and one for each section, those for people first. A document of
 * rows alone has only these. Nothing in it is a formula.
 */
export async function xlsxBytes(document: ReportDocument): Promise<Buffer> {
  const { title, verdict, cards = [], facts, sections } = document;
  const names = new SheetNames();
  const hasFront = verdict !== undefined || cards.length > 0 || facts.length > 0;
  const front = hasFront ? names.take('report') : undefined;
  const sheets: SheetOf[] = [];
  for (const section of [...(facts.length > 0 ? [factSection(document)] : []), ...inOrder(sections)]) {
    sheets.push({ section, sheet: await tableSheet(section, names.take(section.name)) });
  }
  // What is for people alone stands in groups on the first sheet, and another sheet has its rows.
  const tables = sheets.filter(({ section }) => section.isForPeople !== true).map(({ sheet }) => sheet);
  return await workbookBytes(title, front === undefined ? tables : [frontSheet(document, sheets, front), ...tables]);
}

/** In the order of the page; those for programs are last. */
function inOrder(sections: readonly Section[]): readonly Section[] {
  const place = ({ part = 'details', isForPrograms }: Section) =>
    isForPrograms === true ? SECTION_PARTS.length : SECTION_PARTS.indexOf(part);
  return sections.toSorted((a, b) => place(a) - place(b));
}

/** The names of the sheets of a workbook, which are short, have few characters, and differ by more than upper and lower case. */
class SheetNames {
  /** Excel keeps this one for itself. */
  readonly #taken = new Set(['history']);

  take(wanted: string): string {
    const name = wanted.replaceAll(/[^\w -]/g, '-').slice(0, LONGEST_NAME) || 'sheet';
    for (let number = 1; ; number += 1) {
      const end = number === 1 ? '' : `-${number}`;
      const one = name.slice(0, LONGEST_NAME - end.length) + end;
      if (this.#taken.has(one.toLowerCase())) continue;
      this.#taken.add(one.toLowerCase());
      return one;
    }
  }
}
