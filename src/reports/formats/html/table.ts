import { cellText, columnClass, headingOf, placesOf, valuesOf, type ShownColumn } from './cells.ts';
import type { ReadGroup } from './read.ts';
import { escapeText } from './text.ts';

/** A longer table scrolls in its frame, below its headings. */
const MOST_ROWS_AT_ONCE = 60;

/** Writes a table in a frame of the given name, which scrolls where it is wide. */
export function* tableText(
  name: string,
  { head, rows }: Pick<ReadGroup, 'head' | 'rows'>,
  columns: readonly ShownColumn[],
): Generator<string> {
  yield `<div class="frame${shapeOf(rows.length, columns)}" tabindex="0" role="region" aria-label="${escapeText(name)}"><table><thead><tr>`;
  const headings = columns.map(({ column }) => headingOf(column, head?.unit));
  for (const [index, column] of columns.entries()) {
    const names = columnClass(column);
    yield `<th scope="col"${names === '' ? '' : ` class="${names}"`}>${escapeText(headings[index] ?? '')}</th>`;
  }
  yield '</tr></thead><tbody>\n';
  const places = columns.map(({ column }) => placesOf(column, valuesOf(column, rows)));
  for (const row of rows) {
    const cells = columns.map((column, index) =>
      cellText(row, column, { isFirst: index === 0, places: places[index] ?? 0, heading: headings[index] ?? '' }),
    );
    yield `<tr>${cells.join('')}</tr>\n`;
  }
  yield '</tbody></table></div>\n';
}

/** What happened when stands along a line of time. */
function shapeOf(rows: number, columns: readonly ShownColumn[]): string {
  if (columns.map(({ column }) => column.key).join() === 'at,text') return ' story';
  return rows > MOST_ROWS_AT_ONCE ? ' tall' : '';
}
