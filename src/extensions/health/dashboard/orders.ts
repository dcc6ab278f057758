import type { Column, Row } from '../../documents/document.ts';
import { proseText } from '../../documents/html/cells.ts';
import { empty, note, rowPath, table } from './markup.ts';

export function foundSection(query: string, rows: readonly Row[], isCut: boolean, at: string): string {
  const columns: readonly Column[] = [
    { key: 'external_order_id', label: 'Order', kind: 'text', href: rowPath },
    { key: 'account', label: 'Account', kind: 'text' },
    { key: 'state', label: 'State', kind: 'state' },
    { key: 'pair', label: 'Pair', kind: 'text' },
    { key: 'asset', label: 'Amount', kind: 'decimal' },
    { key: 'created_at', label: 'Inserted', kind: 'time', agesAt: at },
  ];
  const list = rows.length === 0 ? empty('No order has such an id.') : table('Orders', columns, rows);
  const more = isCut ? note('There are more: give more of the id.') : '';
  const title = proseText(`Orders whose id begins with ${query}`);
  return `<section id="found" class="wide" aria-labelledby="found-title"><h2 id="found-title">${title}</h2>\n${list}${more}</section>\n`;
}
