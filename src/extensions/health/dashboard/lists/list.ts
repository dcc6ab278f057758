import { cutText, escapeText, proseText } from '../../../documents/html/cells.ts';
import { commandText, link, note } from '../markup.ts';
import { pathOf, type Query } from './query.ts';

/** The rows of a page. */
export const PAGE_ROWS = 50;

interface Field {
  readonly name: string;
  readonly label: string;
  /** The values to choose from, each with its words; a text without them. */
  readonly options?: Readonly<Record<string, string>>;
  readonly hint?: string;
}

interface List {
  readonly path: '/orders' | '/findings';
  readonly title: string;
  readonly account: string | undefined;
  readonly query: Query;
  readonly fields: readonly Field[];
  /** Markup above the rows, and the rows. */
  readonly head?: string;
  readonly table: string;
  /** What the rows are, in a sentence or more. */
  readonly about: string;
  /** The place in the list after which the next page begins; undefined if this is the last one. */
  readonly next: { readonly after: string; readonly label: string } | undefined;
  /** The command that returns all rows of this filter, after a sentence about it. */
  readonly command: readonly [text: string, command: string] | undefined;
}

export function listText({
  path,
  title,
  account,
  query,
  head = '',
  table,
  about,
  next,
  command,
  fields,
}: List): string {
  const { after, ...filter } = query;
  const links = [
    after === undefined ? '' : link(pathOf(path, filter), 'First page'),
    next === undefined ? '' : link(pathOf(path, { ...filter, after: next.after }), next.label),
  ].filter((one) => one !== '');
  const names = fields.map(({ name }) => name);
  const isNarrowed = names.some((name) => name !== 'sort' && query[name] !== undefined);
  const clear = isNarrowed ? link(pathOf(path, { account: query['account'] }), 'Clear the filter') : '';
  return `<div class="list">
<h1>${title}</h1>
<form action="${path}" method="get" class="filter">${fields.map((field) => fieldText(field, query)).join('')}
<input type="hidden" name="account" value="${escapeText(account ?? 'all')}"><button>Apply</button> ${clear}</form>
${head}${note(about)}${table}
${links.length === 0 ? '' : `<nav class="pages" aria-label="Pages">${links.join(' ')}</nav>\n`}${
    command === undefined
      ? ''
      : `<p class="note export"><span>${proseText(command[0])}</span> ${commandText(command[1])}</p>\n`
  }</div>
`;
}

function fieldText({ name, label, options, hint = '' }: Field, { [name]: value = '' }: Query): string {
  if (options === undefined) {
    return `<label>${label} <input name="${name}" value="${escapeText(value)}" placeholder="${hint}" maxlength="1000" autocomplete="off" spellcheck="false"></label>\n`;
  }
  const choices = Object.entries(options).map(([one, words]) => {
    const selected = one === value ? ' selected' : '';
    return `<option value="${escapeText(one)}"${selected}>${escapeText(cutText(words))}</option>`;
  });
  return `<label>${label} <select name="${name}">${choices.join('')}</select></label>\n`;
}

/** Values that stand for themselves, after a choice that excludes nothing. */
export function choicesOf(values: readonly string[], any = 'any'): Readonly<Record<string, string>> {
  return { '': any, ...Object.fromEntries(values.map((value) => [value, value])) };
}
