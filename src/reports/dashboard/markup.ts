import { instantMs } from '../../domain/instant.ts';
import type { Cell, Column, Row, Tone } from '../formats/document.ts';
import { cellText, placesOf } from '../formats/html/cells.ts';
import { icon } from '../formats/html/icon.ts';
import { cutText, escapeText, proseText } from '../formats/html/text.ts';
import { isNumeric } from '../formats/numbers.ts';
import { inUnits } from '../formats/words.ts';

/** A column of a table of the dashboard; `markup` writes a cell that is more than a text, such as a link. */
export interface ShownColumn<R extends Row = Row> extends Column {
  readonly markup?: (row: R) => string;
}

/** Writes a section with its heading; `live` ones are kept up to date by the script of the page. */
export function section(id: string, title: string, body: string, options: { readonly wide?: boolean } = {}): string {
  const place = options.wide === true ? ' class="wide"' : '';
  return `<section id="${id}"${place} data-live aria-labelledby="${id}-title"><h2 id="${id}-title">${proseText(title)}</h2>\n${body}</section>\n`;
}

/** Writes a table in a frame that scrolls where it is wide. Beside each cell of a phone stands the name of its column. */
export function table<R extends Row>(name: string, columns: readonly ShownColumn<R>[], rows: readonly R[]): string {
  const heads = columns.map((column) => `<th scope="col"${numeric(column)}>${proseText(column.label)}</th>`);
  const places = columns.map((column) =>
    placesOf(
      column,
      rows.map(({ [column.key]: value = null }) => value),
    ),
  );
  const lines = rows.map((row) => {
    const cells = columns.map((column, index) => cell(row, column, places[index] ?? 0, index === 0));
    return `<tr>${cells.join('')}</tr>\n`;
  });
  return `<div class="panel"><div class="frame" tabindex="0" role="region" aria-label="${escapeText(name)}"><table><thead><tr>${heads.join('')}</tr></thead><tbody>\n${lines.join('')}</tbody></table></div></div>\n`;
}

function cell<R extends Row>(row: R, column: ShownColumn<R>, places: number, isFirst: boolean): string {
  const label = `${isFirst ? '' : ` data-label="${escapeText(column.label)}"`}${numeric(column)}`;
  if (column.markup === undefined) {
    return cellText(row[column.key] ?? null, column, places, isFirst).replace(/^<t[dh]/, `$&${label}`);
  }
  const [open, tag] = isFirst ? ['th scope="row"', 'th'] : ['td', 'td'];
  return `<${open}${label}>${column.markup(row)}</${tag}>`;
}

function numeric(column: Column): string {
  return isNumeric(column) ? ' data-number' : '';
}

/** Writes a sentence that stands in place of rows. */
export function empty(text: string): string {
  return `<p class="panel empty">${proseText(text)}</p>\n`;
}

/** Writes a note below a table. */
export function note(text: string): string {
  return `<p class="note">${proseText(text)}</p>\n`;
}

/** Writes a command to be copied. */
export function command(text: string): string {
  return `<code tabindex="0">${escapeText(text)}</code>`;
}

/** Writes the time of a moment, the day too unless it is that of `now`, with its age beside it. */
export function moment(at: string, now: string): string {
  const ms = instantMs(at);
  if (ms === undefined) return escapeText(cutText(at));
  const text = new Date(ms).toISOString();
  const shown = text.slice(0, 10) === now.slice(0, 10) ? text.slice(11, 19) : text.slice(0, 19).replace('T', ' ');
  return `<time datetime="${text}">${shown}</time> <small>· ${ageOf(at, now)}</small>`;
}

/** How long ago a moment was: `45 s`, `2.5 min`. */
export function ageOf(at: string, now: string): string {
  const ms = (instantMs(now) ?? 0) - (instantMs(at) ?? 0);
  return ms < 1_000 ? 'now' : inUnits(ms);
}

/** Writes a count with a space between its thousands that is no letter: what is copied is the number. */
export function count(number: number): string {
  const digits = String(number);
  const first = digits.length % 3 || 3;
  return `${digits.slice(0, first)}${digits.slice(first).replace(/\d{3}/g, '<b>$&</b>')}`;
}

/** Writes the id of an order, or another text, as a link to its story. */
export function orderLink({ externalOrderId, account }: OrderName, text = externalOrderId): string {
  const path = orderPath(externalOrderId, account);
  return path === undefined
    ? escapeText(cutText(text))
    : `<a href="${escapeText(path)}">${escapeText(cutText(text))}</a>`;
}

/** What names an order. */
export interface OrderName {
  readonly account: string;
  readonly externalOrderId: string;
}

/** The address of the story of an order; undefined where its id can be no part of an address. No such order is ever sent. */
function orderPath(externalOrderId: string, account: string): string | undefined {
  if (/^\.{0,2}$/.test(externalOrderId) || !externalOrderId.isWellFormed()) return undefined;
  return `/orders/${encodeURIComponent(externalOrderId)}?${new URLSearchParams({ account }).toString()}`;
}

/** Writes a box with a figure, as the report's cards; its tone has a sign beside its name. */
export function tile({ label, value, detail = '', tone }: Tile): string {
  const sign = tone === 'neutral' ? '' : icon(tone);
  return `<li class="${tone}"><div><span>${sign}${proseText(label)}</span><strong>${value}</strong>${detail === '' ? '' : `<small>${detail}</small>`}</div></li>\n`;
}

/** The texts of a box: `value` and `detail` are markup. */
export interface Tile {
  readonly label: string;
  readonly value: string;
  readonly detail?: string;
  readonly tone: Tone;
}

/** Writes the value of a cell as a badge in its tone. */
export function badge(tone: Tone, text: Cell): string {
  return `<b class="${tone}">${escapeText(cutText(text))}</b>`;
}
