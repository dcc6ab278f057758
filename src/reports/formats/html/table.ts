import type { Column } from '../document.ts';
import { cellText, type ShownColumn } from './cells.ts';
import { icon } from './icon.ts';
import type { ReadGroup, ReadSection } from './read.ts';
import { cssString, escapeText, idOf } from './text.ts';

/** From so many columns of text on, a cell of a card has the whole width of a phone. */
const HALF_A_PHONE = 19;
/** Texts of up to so many columns stay on one line. */
const LONGEST_LINE = 34;

/** Writes a section with its heading of the given level. */
export function* sectionText(read: ReadSection, level: number): Generator<string> {
  const { section, groups, count, leftOut } = read;
  yield `<section id="${idOf(section.name)}">\n<h${level}>${escapeText(section.title)}</h${level}>\n`;
  if (section.lead !== undefined) yield `<p class="lead">${escapeText(section.lead)}</p>\n`;
  if (count === 0) yield `<p class="empty">${escapeText(section.empty ?? 'none')}</p>\n`;
  for (const [index, group] of groups.entries()) yield* groupText(read, group, index, level + 1);
  if (leftOut.length > 0) {
    const names = leftOut.map(({ label }) => label).join(', ');
    yield `<p class="note">Left out, as they are zero or empty throughout: ${escapeText(names)}.</p>\n`;
  }
  yield '</section>\n';
}

function* groupText(
  { section, columns }: ReadSection,
  { head, rows, count }: ReadGroup,
  index: number,
  level: number,
): Generator<string> {
  if (head !== null) {
    const tone = head.tone ?? 'neutral';
    yield `<h${level} class="group ${tone}">${tone === 'neutral' ? '' : icon(tone)}${escapeText(head.title)} <small>${count}</small></h${level}>\n`;
    for (const line of head.lines) yield `<p class="explained">${escapeText(line)}</p>\n`;
  }
  if (rows.length > 0) {
    const name = head === null ? section.title : `${section.title}: ${head.title}`;
    const style = head?.unit === undefined ? '' : ` id="${tableId(section.name, index)}"`;
    yield `<div class="frame${rows.length > 40 ? ' tall' : ''}" tabindex="0" role="region" aria-label="${escapeText(name)}"><table${style}><thead><tr>`;
    for (const { column } of columns) yield `<th scope="col">${escapeText(headingOf(column, head?.unit))}</th>`;
    yield '</tr></thead><tbody>\n';
    for (const row of rows) {
      const cells = columns.map((shown, place) =>
        cellText(row[shown.column.key] ?? null, shown, place === 0 ? 'th' : 'td'),
      );
      yield `<tr>${cells.join('')}</tr>\n`;
    }
    yield '</tbody></table></div>\n';
  }
  const more = count - rows.length;
  if (more > 0) yield `<p class="note">${more} more; the forms csv and json have them all</p>\n`;
}

/** The rules of a section's tables: how its columns stand, and their names beside the cells of a phone. */
export function tableRules({ section, columns, groups }: ReadSection): string {
  const id = `#${idOf(section.name)}`;
  const nth = (is: (column: ShownColumn) => boolean) =>
    columns.flatMap((column, index) => (is(column) ? [`${id} tr>:nth-child(${index + 1})`] : [])).join(',');
  const rules = [
    [nth(({ isNumber }) => isNumber), '--align:right;--wrap:nowrap'],
    [nth((column) => !column.isNumber && isOneLine(column)), '--wrap:nowrap'],
    [nth((column) => !column.isNumber && !isOneLine(column)), '--least:26ch'],
    [nth(({ width }) => width > HALF_A_PHONE), '--span:1/-1'],
  ].flatMap(([selectors, rule]) => (selectors === '' ? [] : [`${selectors}{${rule}}`]));
  const labels = columns.map(({ column }, index) => {
    const unit = column.hasGroupUnit === true ? ' var(--unit,"")' : '';
    return `${id} td:nth-child(${index + 1})::before,${id} tbody th:nth-child(${index + 1})::before{content:${cssString(headingOf(column))}${unit}}`;
  });
  const units = groups.flatMap(({ head }, index) =>
    head?.unit === undefined ? [] : [`#${tableId(section.name, index)}{--unit:${cssString(` (${head.unit})`)}}`],
  );
  return `${rules.join('\n')}\n@media screen and (max-width:640px){\n${[...labels, ...units].join('\n')}\n}\n`;
}

function isOneLine({ width, hasSpaces }: ShownColumn): boolean {
  return !hasSpaces || width <= LONGEST_LINE;
}

function tableId(name: string, index: number): string {
  return `${idOf(name)}-${index + 1}`;
}

function headingOf({ label, kind, hasGroupUnit }: Column, unit?: string): string {
  if (hasGroupUnit === true && unit !== undefined) return `${label} (${unit})`;
  return kind === 'time' && !label.includes('UTC') ? `${label} (UTC)` : label;
}
