import { capitalized } from '../../../../base/words.ts';
import { counted } from '../../../documents/words.ts';
import { readPair, type Pair } from '../../../commands/options.ts';
import type { Column, Row } from '../../../documents/document.ts';
import { shownId } from '../../../documents/headline.ts';
import { commandText, escapeText, proseText } from '../../../documents/html/cells.ts';
import { empty, link, listPath, note, rowPath, table } from '../markup.ts';
import { commandOf, type Field, type Query } from './query.ts';

export const PAGE_ROWS = 50;
export const PAIR: Field<Pair> = { name: 'pair', label: 'Pair', example: 'BTC/EUR', read: readPair };

interface List<Found> {
  readonly noun: 'order' | 'finding';
  readonly none: string;
  readonly account: string | undefined;
  readonly query: Query;
  readonly fields: readonly Field[];
  readonly head?: string;
  /** How the rows are sorted, and why there may be more than were found. */
  readonly about: readonly [sorted: string, cut: string | false];
  readonly columns: readonly Column[];
  readonly found: readonly Found[];
  readonly rowOf: (found: Found) => Row;
  /** Writes the cursor of the page after a row; `ended` is the last row examined by a search that was cut. */
  readonly after: readonly [textOf: (last: Found) => string, ended?: Found | undefined];
  readonly command?: readonly [text: string, command: string, query: Query] | undefined;
}

export function listText<Found>(list: List<Found>): string {
  const { noun, none, account, query, fields, head = '', columns, found, after, command } = list;
  const path = `/${noun}s` as const;
  const { after: _after, ...filter } = query;
  const title = capitalized(`${noun}s`);
  const names = [
    { key: 'order', label: 'Order', kind: 'text', href: rowPath, isCopied: true } as const,
    ...(account === undefined ? [{ key: 'account', label: 'Account', kind: 'text' } as const] : []),
  ];
  const shown = found.slice(0, PAGE_ROWS);
  const isMore = found.length > PAGE_ROWS;
  const [textOf, ended] = after;
  // For all accounts there is only the first page.
  const last = account === undefined ? undefined : isMore ? shown.at(-1) : ended;
  const cells = shown
    .map(list.rowOf)
    .map((row) => ({ ...row, order: shownId(String(row['external_order_id'] ?? 'none')) }));
  const [sorted, cut] = list.about;
  const others = isMore && last === undefined && 'There are more: choose an account.';
  const about = [`${counted(shown.length, noun)}, ${sorted}.`, cut, others];
  const filters = fields.filter(({ name }) => name !== 'sort');
  const isNarrowed = filters.some(({ name }) => query[name] !== undefined);
  const clear = isNarrowed ? link(listPath(path, account, {}), 'Clear the filter') : '';
  const first = query['after'] === undefined ? '' : link(listPath(path, account, filter), 'First page');
  const more = last === undefined ? '' : link(listPath(path, account, { ...filter, after: textOf(last) }), 'Next page');
  const [text = '', words = '', asked = query] = command ?? [];
  const exported = `<p class="export">${proseText(text)} ${commandText(commandOf(words, asked, filters, account))}</p>\n`;
  return `<div class="list">
<h1>${title}</h1>
<form action="${path}" method="get" class="filter">${fields.map((field) => fieldText(field, query)).join('')}
<input type="hidden" name="account" value="${escapeText(account ?? 'all')}"><button>Apply</button> ${clear}</form>
${head}${cells.length === 0 && !isNarrowed ? empty(none) : note(about.filter((part) => part !== false).join(' '))}${cells.length === 0 ? '' : table(title, [...names, ...columns], cells)}
<p class="pages">${first} ${more}</p>
${command === undefined ? '' : exported}</div>
`;
}

function fieldText({ name, label, choices, example = '' }: Field, { [name]: value = '' }: Query): string {
  const optionOf = ([one, words]: readonly [string, string]) =>
    `<option value="${one}"${one === value ? ' selected' : ''}>${words}</option>`;
  const options = Object.entries(choices ?? {}).map(optionOf);
  const input = `<input name="${name}" value="${escapeText(value)}" placeholder="${example}" maxlength="1000" autocomplete="off" spellcheck="false">`;
  return `<label>${label} ${choices === undefined ? input : `<select name="${name}">${options.join('')}</select>`}</label>\n`;
}
