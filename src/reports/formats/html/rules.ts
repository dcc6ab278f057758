import type { Column } from '../document.ts';
import type { ShownColumn } from './cells.ts';
import type { ReadSection } from './read.ts';
import { cssString, cutText, idOf, widthOf } from './text.ts';

/** Texts of up to so many columns of text stay on one line. */
const LONGEST_LINE = 34;
/** A column whose texts have several lines is as wide as this at least. */
const LEAST_WIDTH = 26;
/** The columns of text that a table has on A4, and those between two cells. */
const PAPER_WIDTH = 180;
const GAP = 2;

/** The heading of a column, with the unit of its amounts, and with the zone of its times. */
export function headingOf({ label: whole, kind, hasGroupUnit }: Column, unit?: string): string {
  const label = cutText(whole);
  if (hasGroupUnit === true && unit !== undefined) return `${label} (${unit})`;
  return kind === 'time' && !label.includes('UTC') ? `${label} (UTC)` : label;
}

/** The columns that A4 has no room for: the least important ones, and of equal ones the last. */
export function missingOnPaper(columns: readonly ShownColumn[]): readonly ShownColumn[] {
  const kept = new Set(columns);
  const width = () => [...kept].reduce((sum, column) => sum + paperWidth(column), 0);
  const leastFirst = columns
    .slice(1)
    .toReversed()
    .toSorted((a, b) => (b.column.rank ?? 0) - (a.column.rank ?? 0));
  for (const column of leastFirst) if (width() > PAPER_WIDTH) kept.delete(column);
  return columns.filter((column) => !kept.has(column));
}

/** The rules of a section's tables: how their columns stand, and their names beside the cells of a phone. */
export function tableRules({ section, columns }: ReadSection): string {
  const id = `#${idOf(section.name)}`;
  const missing = missingOnPaper(columns);
  const rule = (filter: (column: ShownColumn) => boolean, parent: string, style: string) => {
    const places = columns.flatMap((column, index) => (filter(column) ? [index + 1] : []));
    return places.length === 0 ? '' : `${places.map((n) => `${id} ${parent}>:nth-child(${n})`).join(',')}{${style}}\n`;
  };
  const labels = columns.map(({ column }, index) => {
    const unit = column.hasGroupUnit === true ? ' var(--unit,"")' : '';
    return `${id} tbody>tr>:nth-child(${index + 1})::before{content:${cssString(headingOf(column))}${unit}}\n`;
  });
  return [
    rule(({ isNumber }) => isNumber, 'tr', '--align:right'),
    rule(isOneLine, 'tbody>tr', '--wrap:nowrap'),
    rule((column) => !isOneLine(column), 'tr', `--least:${LEAST_WIDTH}ch`),
    `@media print{${rule((column) => missing.includes(column), 'tr', 'display:none')}}\n`,
    `@media screen and (max-width:640px){${labels.join('')}}\n`,
  ].join('');
}

function isOneLine({ width, hasSpaces, isNumber }: ShownColumn): boolean {
  return isNumber || !hasSpaces || width <= LONGEST_LINE;
}

function paperWidth(column: ShownColumn): number {
  const heading = Math.max(...headingOf(column.column).split(' ').map(widthOf));
  return GAP + Math.max(heading, isOneLine(column) ? column.width : LEAST_WIDTH);
}
