import type { Column, Row } from '../../documents/document.ts';
import type { Cell, Tone } from '../../../cli/shared/terminal.ts';
import { figure, shownColumns, tableText, cutText, escapeText } from '../../documents/html/cells.ts';
import { shownId } from '../../documents/headline.ts';

export function table(name: string, columns: readonly Column[], rows: readonly Row[]): string {
  return `<div class="panel">${[...tableText(name, rows, shownColumns(columns, rows))].join('')}</div>\n`;
}

/** Returns HTML with gaps between thousands. The gaps are no characters, so that a copy is the plain number. */
export function count(number: number): string {
  return figure(String(number));
}

type OrderName = Readonly<Record<'account' | 'externalOrderId', string>>;

export function orderLink(order: OrderName): string {
  const path = orderPath(order);
  const shown = escapeText(cutText(shownId(order.externalOrderId)));
  return path === undefined ? shown : link(path, shown);
}

export function orderPath({ externalOrderId, account }: OrderName): string | undefined {
  if (!externalOrderId.isWellFormed()) return undefined;
  // A browser would remove an id of `.`, `..` or nothing from a path.
  if (/^\.{0,2}$/.test(externalOrderId)) return pathTo('/order', { id: externalOrderId, account });
  return pathTo(`/orders/${encodeURIComponent(externalOrderId)}`, { account });
}

export type Words = Readonly<Record<string, string>>;

export function pathTo(path: string, query: Words): string {
  return `${path}?${new URLSearchParams(query).toString()}`;
}

export function listPath(list: '/orders' | '/findings', account = 'all', filter: Words = {}): string {
  return pathTo(list, { account, ...filter });
}

export function link(path: string, shown: string): string {
  return `<a href="${escapeText(path)}">${shown}</a>`;
}

export function badge(tone: Tone, text: Cell): string {
  return `<b class="${tone}">${escapeText(cutText(text))}</b>`;
}
