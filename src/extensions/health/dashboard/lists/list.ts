import { capitalized } from '../../../../base/words.ts';
import { readPair, type Pair } from '../../../documents/commands/options.ts';
import type { Column, Row } from '../../../documents/document.ts';
import { shownId } from '../../../documents/headline.ts';
import { commandText, escapeText, proseText } from '../../../documents/html/cells.ts';
import { empty, link, listPath, note, rowPath, table } from '../markup.ts';
import { type Field, type Query } from './query.ts';

export const PAGE_ROWS = 50;
export const PAIR: Field<Pair> = { name: 'pair', label: 'Pair', example: 'BTC/EUR', read: readPair };

interface List {
  readonly path: '/orders' | '/findings';
  readonly none: string;
  readonly account: string | undefined;
  readonly query: Query;
  readonly fields: readonly Field[];
  readonly head?: string;
  readonly about: readonly (string | false)[];
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  readonly next: string | undefined;
  /** The command that prints all rows, with a sentence about it; undefined if no command has this filter. */
  readonly command: readonly [text: string, command: string] | undefined;
}

export function listText(list: List): string {
  const { path, none, account, query, fields, head = '', about, columns, rows, next, command } = list;
  const { after, ...filter } = query;
  const title = capitalized(path.slice(1));
  const names = [
    { key: 'order', label: 'Order', kind: 'text', href: rowPath, isCopied: true } as const,
    ...(account === undefined ? [{ key: 'account', label: 'Account', kind: 'text' } as const] : []),
  ];
  const cells = rows.map((row) => ({ ...row, order: shownId(String(row['external_order_id'] ?? 'none')) }));
  const isNarrowed = fields.some(({ name }) => name !== 'sort' && query[name] !== undefined);
  const clear = isNarrowed ? link(listPath(path, account, {}), 'Clear the filter') : '';
  const first = after === undefined ? '' : link(listPath(path, account, filter), 'First page');
  const more = next === undefined ? '' : link(listPath(path, account, { ...filter, after: next }), 'Next page');
  return `<div class="list">
<h1>${title}</h1>
<form action="${path}" method="get" class="filter">${fields.map((field) => fieldText(field, query)).join('')}
<input type="hidden" name="account" value="${escapeText(account ?? 'all')}"><button>Apply</button> ${clear}</form>
${head}${rows.length === 0 && !isNarrowed ? empty(none) : note(about.filter((text) => text !== false).join(' '))}${rows.length === 0 ? '' : table(title, [...names, ...columns], cells)}
<p class="pages">${first} ${more}</p>
${command === undefined ? '' : `<p class="export">${proseText(command[0])} ${commandText(command[1])}</p>\n`}</div>
`;
}

function fieldText({ name, label, choices, example = '' }: Field, { [name]: value = '' }: Query): string {
  const options = Object.entries(choices ?? {}).map(
    ([one, words]) => `<option value="${one}"${one === value ? ' selected' : ''}>${words}</option>`,
  );
  const input = `<input name="${name}" value="${escapeText(value)}" placeholder="${example}" maxlength="1000" autocomplete="off" spellcheck="false">`;
  return `<label>${label} ${choices === undefined ? input : `<select name="${name}">${options.join('')}</select>`}</label>\n`;
}
