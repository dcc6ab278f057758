import type { Cell, Column, Row, Tone } from '../formats/document.ts';
import { figure, shownColumns, tableText } from '../formats/html/cells.ts';
import { icon, cutText, escapeText, proseText } from '../formats/html/text.ts';

/** Writes a section with its heading; `live` ones are kept up to date by the script of the page. */
export function section(id: string, title: string, body: string, options: { readonly wide?: boolean } = {}): string {
  const place = options.wide === true ? ' class="wide"' : '';
  return `<section id="${id}"${place} data-live aria-labelledby="${id}-title"><h2 id="${id}-title">${proseText(title)}</h2>\n${body}</section>\n`;
}

/** Writes a table as reports have it. */
export function table(name: string, columns: readonly Column[], rows: readonly Row[]): string {
  const lines = [...tableText(name, rows, shownColumns(columns, rows))];
  return `<div class="panel">${lines.join('')}</div>\n`;
}

/** Writes a sentence that stands in place of rows. */
export function empty(text: string): string {
  return `<p class="panel empty">${proseText(text)}</p>\n`;
}

export function note(text: string): string {
  return `<p class="note">${proseText(text)}</p>\n`;
}

/** Writes a command to be copied. */
export function command(text: string): string {
  return `<code tabindex="0">${escapeText(text)}</code>`;
}

/** Writes a count with a space between its thousands that is no letter: what is copied is the number. */
export function count(number: number): string {
  return figure(String(number));
}

/** Writes the id of an order, or another text, as a link to its story. */
export function orderLink(order: OrderName, text = order.externalOrderId): string {
  const path = orderPath(order);
  return path === undefined
    ? escapeText(cutText(text))
    : `<a href="${escapeText(path)}">${escapeText(cutText(text))}</a>`;
}

interface OrderName {
  readonly account: string;
  readonly externalOrderId: string;
}

/** The address of the story of an order; undefined where its id can be no part of an address. No such order is ever sent. */
export function orderPath({ externalOrderId, account }: OrderName): string | undefined {
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
