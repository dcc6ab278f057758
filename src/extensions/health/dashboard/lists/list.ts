import type { FastifyRequest } from 'fastify';
import { accountWords } from '../../../../accounts/rules/name.ts';
import { messageOf, shellWord, storable } from '../../../../base/text.ts';
import { capitalized, counted } from '../../../documents/words.ts';
import { readPair, type Pair } from '../../../commands/options.ts';
import type { Column, Row } from '../../../documents/document.ts';
import { paragraph } from '../../../documents/html.ts';
import { shownId } from '../../../documents/headline.ts';
import { commandText, escapeText, proseText } from '../../../documents/html/cells.ts';
import { link, listPath, orderPath, table } from '../markup.ts';
import { Refused } from '../actions.ts';

export type Query = Readonly<Record<string, string>>;

export interface Field<Value = unknown> {
  readonly name: string;
  readonly label: string;
  readonly option?: string;
  readonly choices?: Readonly<Record<string, string>>;
  readonly example?: string;
  readonly read: (text: string) => Value;
}

export const PAGE_ROWS = 50;
export const PAIR: Field<Pair> = { name: 'pair', label: 'Pair', example: 'BTC/EUR', read: readPair };

interface List<Found> {
  readonly noun: 'order' | 'finding';
  readonly none: string;
  readonly account: string | undefined;
  readonly query: Query;
  readonly fields: readonly Field[];
  readonly head?: string;
  /** `sorted` says how the rows are sorted. `cut` says why rows may be missing; false if no row is missing. */
  readonly about: readonly [sorted: string, cut: string | false];
  readonly columns: readonly Column[];
  readonly found: readonly Found[];
  readonly rowOf: (found: Found) => Row;
  /** `textOf` returns the cursor of the page after a row. `ended` is the last row that a cut search examined. */
  readonly after: readonly [textOf: (last: Found) => string, ended?: Found | undefined];
  readonly command?: readonly [text: string, command: string, query: Query] | undefined;
}

export function listText<Found>(list: List<Found>): string {
  const { noun, none, account, query, fields, head = '', columns, found, after, command } = list;
  const path = `/${noun}s` as const;
  const { after: _after, ...filter } = query;
  const title = capitalized(`${noun}s`);
  const names = [
    { key: 'order', label: 'Order', kind: 'text', href: pathOfRow, isCopied: true } as const,
    ...(account === undefined ? [{ key: 'account', label: 'Account', kind: 'text' } as const] : []),
  ];
  const shown = found.slice(0, PAGE_ROWS);
  const isMore = found.length > PAGE_ROWS;
  const [textOf, ended] = after;
  // A list of all accounts has only one page.
  const last = account === undefined ? undefined : isMore ? shown.at(-1) : ended;
  const rows = shown.map(list.rowOf);
  const cells = rows.map((row) => ({ ...row, order: shownId(String(row['external_order_id'] ?? 'none')) }));
  const [sorted, cut] = list.about;
  const others = isMore && last === undefined && 'There are more: choose an account.';
  const about = [`${counted(shown.length, noun)}, ${sorted}.`, cut, others];
  const filters = fields.filter(({ name }) => name !== 'sort');
  const isNarrowed = filters.some(({ name }) => query[name] !== undefined);
  const clear = isNarrowed ? link(listPath(path, account), 'Clear the filter') : '';
  const first = query['after'] === undefined ? '' : link(listPath(path, account, filter), 'First page');
  const more = last === undefined ? '' : link(listPath(path, account, { ...filter, after: textOf(last) }), 'Next page');
  const [text = '', words = '', asked = query] = command ?? [];
  const exported = `<p class="export">${proseText(text)} ${commandText(commandOf(words, asked, filters, account))}</p>\n`;
  return `<div class="list">
<h1>${title}</h1>
<form action="${path}" method="get" class="filter">${fields.map((field) => fieldText(field, query)).join('')}
<input type="hidden" name="account" value="${escapeText(account ?? 'all')}"><button>Apply</button> ${clear}</form>
${head}${cells.length === 0 && !isNarrowed ? paragraph('panel empty', none) : paragraph('note', about.filter((part) => part !== false).join(' '))}${cells.length === 0 ? '' : table(title, [...names, ...columns], cells)}
<p class="pages">${first} ${more}</p>
${command === undefined ? '' : exported}</div>
`;
}

function pathOfRow({ external_order_id: id = null, account = null }: Row): string | undefined {
  return id === null ? undefined : orderPath({ externalOrderId: String(id), account: String(account) });
}

function fieldText({ name, label, choices, example = '' }: Field, { [name]: value = '' }: Query): string {
  const optionOf = ([one, words]: readonly [string, string]) =>
    `<option value="${one}"${one === value ? ' selected' : ''}>${words}</option>`;
  const options = Object.entries(choices ?? {}).map(optionOf);
  const input = `<input name="${name}" value="${escapeText(value)}" placeholder="${example}" maxlength="1000" autocomplete="off" spellcheck="false">`;
  return `<label>${label} ${choices === undefined ? input : `<select name="${name}">${options.join('')}</select>`}</label>\n`;
}

export function choiceOf<Value extends string>(
  name: string,
  label: string,
  values: readonly Value[],
  words: Readonly<Record<string, string>> = { '': 'any', ...Object.fromEntries(values.map((value) => [value, value])) },
): Field<Value> {
  const read = (text: string) => {
    const value = values.find((one) => one === text);
    if (value === undefined) throw new Error(`Choose one of ${values.join(', ')}.`);
    return value;
  };
  return { name, label, choices: words, read };
}

export function queryOf({ query }: FastifyRequest): Query {
  const texts = Object.entries(query as Record<string, unknown>).map(([name, value]) => {
    // `after` is not trimmed, because the id in a cursor may end with a blank.
    const text = typeof value === 'string' ? (name === 'after' ? value : value.trim()) : '';
    return [name, storable(text)] as const;
  });
  return Object.fromEntries(texts.filter(([, text]) => text !== ''));
}

export function valueIn<Value>(query: Query, { name, label, read }: Field<Value>): Value | undefined {
  const text = query[name];
  try {
    return text === undefined ? undefined : read(text);
  } catch (error) {
    throw new Refused(400, `${label}: "${text}" cannot be read.`, messageOf(error));
  }
}

function commandOf(command: string, query: Query, fields: readonly Field[], account: string | undefined) {
  const options = fields.map(({ name, option = name }) => {
    const text = query[name];
    return text === undefined ? '' : ` --${option} ${shellWord(text)}`;
  });
  return `order-sync ${command}${options.join('')}${account === undefined ? ' --account all' : accountWords(account)}`;
}

export function accountIn({ account: asked }: Query, accounts: readonly string[]): string | undefined {
  if (asked === undefined || (asked === 'all' && !accounts.includes(asked))) {
    return accounts.length === 1 ? accounts[0] : undefined;
  }
  if (!accounts.includes(asked)) throw new Refused(404, 'The settings do not have this account.');
  return asked;
}

export function oneAccountIn(query: Query, accounts: readonly string[]): string {
  const account = accountIn(query, accounts);
  if (account === undefined) throw new Refused(404, 'Choose an account.');
  return account;
}
