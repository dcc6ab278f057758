import type { Column, Row } from '../../documents/document.ts';
import type { Cell, Tone } from '../../../cli/shared/terminal.ts';
import { figure, shownColumns, tableText, cutText, escapeText } from '../../documents/html/cells.ts';
import { shownId } from '../../documents/headline.ts';
import { paragraph } from '../../documents/html.ts';

export function table(name: string, columns: readonly Column[], rows: readonly Row[]): string {
  return `<div class="panel">${[...tableText(name, rows, shownColumns(columns, rows))].join('')}</div>\n`;
}

export function empty(text: string): string {
  return paragraph('panel empty', text);
}

export function note(text: string): string {
  return paragraph('note', text);
}

/** Writes a count with gaps between its thousands that are no characters, so that the plain number is copied. */
export function count(number: number): string {
  return figure(String(number));
}

type OrderName = Readonly<Record<'account' | 'externalOrderId', string>>;

export function orderLink(order: OrderName, text = order.externalOrderId): string {
  const path = orderPath(order);
  const shown = escapeText(cutText(shownId(text)));
  return path === undefined ? shown : link(path, shown);
}

export function orderPath({ externalOrderId, account }: OrderName): string | undefined {
  if (!externalOrderId.isWellFormed()) return undefined;
  // A browser removes `.`, `..` and empty parts from a path.
  if (/^\.{0,2}$/.test(externalOrderId))
    return `/order?${new URLSearchParams({ id: externalOrderId, account }).toString()}`;
  return accountPath(`/orders/${encodeURIComponent(externalOrderId)}`, account);
}

export function accountPath(path: string, account: string): string {
  return `${path}?${new URLSearchParams({ account }).toString()}`;
}

type Filter = Readonly<Record<string, string>>;

export function listPath(list: '/orders' | '/findings', account: string | undefined, filter: Filter): string {
  return `${list}?${new URLSearchParams({ account: account ?? 'all', ...filter }).toString()}`;
}

export function link(path: string, shown: string): string {
  return `<a href="${escapeText(path)}">${shown}</a>`;
}

export function rowPath({ external_order_id: id = null, account = null }: Row): string | undefined {
  return id === null ? undefined : orderPath({ externalOrderId: String(id), account: String(account) });
}

export function badge(tone: Tone, text: Cell): string {
  return `<b class="${tone}">${escapeText(cutText(text))}</b>`;
}
