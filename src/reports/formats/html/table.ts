import { cellText, placesOf, type ShownColumn } from './cells.ts';
import type { ReadGroup } from './read.ts';
import { headingOf } from './rules.ts';
import { escapeText } from './text.ts';

/** A longer table scrolls in its frame, below its headings. */
const MOST_ROWS_AT_ONCE = 60;

/** Writes a table in a frame of the given name, which scrolls where it is wide. */
export function* tableText(
  name: string,
  { head, rows }: ReadGroup,
  columns: readonly ShownColumn[],
): Generator<string> {
  yield `<div class="frame${shapeOf(rows.length, columns)}" tabindex="0" role="region" aria-label="${escapeText(name)}"><table><thead><tr>`;
  for (const { column } of columns) yield `<th scope="col">${escapeText(headingOf(column, head?.unit))}</th>`;
  yield '</tr></thead><tbody>\n';
  const places = columns.map(({ column }) =>
    placesOf(
      column,
      rows.map(({ [column.key]: value = null }) => value),
    ),
  );
  for (const row of rows) {
    const cells = columns.map(({ column }, index) =>
      cellText(row[column.key] ?? null, column, places[index] ?? 0, index === 0),
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
