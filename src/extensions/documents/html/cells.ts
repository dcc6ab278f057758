import { instantMs } from '../../../base/instant.ts';
import { isNumeric, saysNothing, toneOf, type Column, type Row } from '../document.ts';
import { type Cell, type Tone, widthOf, cut } from '../../../cli/shared/terminal.ts';
import { mostOf, printable, sumOf } from '../../../base/words.ts';
import { pasteable } from '../../../base/invocation.ts';
import { inUnits } from '../words.ts';

const LONGEST_WORD = 40;
/** Matches a number in a sentence. A number is never cut, because a number without some of its digits is another. */
const NUMBER = /^[-+]?\d{1,128}(?:\.\d{1,128})?(?:[eE][-+]?\d{1,4})?[.,;]?$/;
const LONGEST_CELL = 400;
const LONGEST_PROSE = 1_500;
/** In characters. Longer texts are cut, because `COMMAND` matches slowly in a long text of incomplete commands. */
const LONGEST_SPLIT = 10_000;
/** Matches a command in a sentence. Each word is as `shellWord` writes it, so a pasted command runs nothing else. */
const COMMAND =
  /(order-sync(?:(?: (?!order-sync )(?:[\w./:=@-]|'[^']*'|\\')+)+? --reason TEXT| (?:report|orders) (?:explain|show) (?:CLASS|ORDER)| (?:doctor|sync)\b(?! --(?!account )))(?: --account [\w-]+)?)/;

/** Escapes text, so that it cannot be markup, end an attribute, or reverse the reading order. */
export function escapeText(value: Cell): string {
  return printable(value)
    .toWellFormed()
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Returns a CSS string in quotes. The text can end neither the string nor the `style` element around it. */
export function cssString(text: string): string {
  const escaped = printable(text)
    .toWellFormed()
    .replace(/[^A-Za-z0-9 ,.()%]/gu, (character) => `\\${character.codePointAt(0)?.toString(16)} `);
  return `"${escaped}"`;
}

export function idOf(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '-');
}

export function proseText(value: Cell): string {
  const parts = cutEnd(printable(value), LONGEST_SPLIT).split(COMMAND);
  // A full stop or comma after the box of a command would stand alone, so the mark is removed.
  const words = (part: string, index: number) => wordsText(index === 0 ? part : part.replace(/^[.,](?=\s|$)/, ''));
  return parts.map((part, index) => (index % 2 === 1 ? commandText(part) : words(part, index))).join('');
}

function wordsText(text: string): string {
  return escapeText(pasteable(cutEnd(cutWords(text), LONGEST_PROSE))).replace(
    /(?<=^|[\s(])(?:order-sync|--[a-z][a-z-]*)(?=$|[\s.,:)])/g,
    '<span class="word">$&</span>',
  );
}

export function commandText(command: string): string {
  return `<code data-copy tabindex="0">${escapeText(pasteable(command))}</code>`;
}

export function cutText(value: Cell): string {
  return cutEnd(cutWords(value), LONGEST_CELL);
}

function cutEnd(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest).replace(/[\ud800-\udbff]$/, '')}…` : text;
}

function cutWords(value: Cell): string {
  return printable(value)
    .toWellFormed()
    .replace(/\S{21,}/g, (word) => (NUMBER.test(word) ? word : cut(word, LONGEST_WORD)));
}

/** Each tone has a different shape, because some people cannot tell the colours apart. */
const SHAPES: Readonly<Record<Tone, string>> = {
  good: '<circle cx="10" cy="10" r="9"/><path d="M5.8 10.3l2.8 2.8 5.6-6"/>',
  info: '<circle cx="10" cy="10" r="9"/><path d="M10 9.3v5M10 5.6v.9"/>',
  warning: '<path d="M10 1.6l9 16.4H1z"/><path d="M10 7.8v5M10 14.9v.5"/>',
  error: '<path d="M6.2 1h7.6L19 6.2v7.6L13.8 19H6.2L1 13.8V6.2z"/><path d="M6.8 6.8l6.4 6.4M13.2 6.8l-6.4 6.4"/>',
  neutral: '<circle cx="10" cy="10" r="9"/><path d="M6 10h8"/>',
};

export function icon(tone: Tone): string {
  return `<svg class="icon" viewBox="0 0 20 20" aria-hidden="true">${SHAPES[tone]}</svg>`;
}

/** The fractions of a column are padded to at most this many digits. No amount that a person compares has more. */
const MOST_PLACES = 24;
const BADGE = 3;
const LONGEST_LINE = 34;
/** In characters. The least width of a column with wrapped texts; `.w` in `style.ts` has the same width. */
const LEAST_WIDTH = 26;
/** In characters: the width of a table on A4, and the gap between two cells. */
const PAPER_WIDTH = 180;
const GAP = 2;
const TONED: ReadonlySet<Column['kind']> = new Set(['severity', 'state', 'outcome']);
const MOST_ROWS_AT_ONCE = 60;

type ShownColumn = ReturnType<typeof measured>;

export function shownColumns(columns: readonly Column[], rows: readonly Row[]): readonly ShownColumn[] {
  const shown = columns.map((column) => measured(column, rows));
  const rankOf = ({ column }: ShownColumn) => column.rank ?? 0;
  const leastFirst = shown.slice(1).toReversed();
  let width = sumOf(shown, (one) => one.width);
  for (const one of leastFirst.toSorted((a, b) => rankOf(b) - rankOf(a))) {
    if (width <= PAPER_WIDTH) break;
    one.isOnPaper = false;
    width -= one.width;
  }
  return shown;
}

function measured(column: Column, rows: readonly Row[]) {
  const places = placesOf(column, rows);
  const texts = rows.map((row) => shownText(cellOf(row, column), column));
  const widest = mostOf(texts, (text) => {
    if (!isNumeric(column)) return widthOf(text) + (TONED.has(column.kind) ? BADGE : 0);
    // Each gap between two groups of three digits is a third of a digit wide.
    const whole = text.split('.', 1)[0] ?? '';
    return Math.max(widthOf(text), whole.length + Math.ceil(whole.length / 9) + (places > 0 ? places + 1 : 0));
  });
  const isOneLine = isNumeric(column) || widest <= LONGEST_LINE || !texts.some((text) => text.includes(' '));
  const width = GAP + Math.max(mostOf(headingOf(column).split(' '), widthOf), isOneLine ? widest : LEAST_WIDTH);
  return { column, width, isOneLine, isOnPaper: true };
}

function cellOf(row: Row, { key }: Column): Cell {
  return row[key] ?? null;
}

function headingOf({ label: whole, kind }: Column): string {
  const label = cutText(whole);
  return kind === 'time' && !label.includes('UTC') ? `${label} (UTC)` : label;
}

function placesOf(column: Column, rows: readonly Row[]): number {
  if (!isNumeric(column)) return 0;
  return mostOf(rows, (row) => {
    const places = /^-?\d+\.(\d+)$/.exec(String(cellOf(row, column)))?.[1]?.length ?? 0;
    return places > MOST_PLACES ? 0 : places;
  });
}

export function* tableText(name: string, rows: readonly Row[], shown: readonly ShownColumn[], isAligned = false) {
  const columns = shown.map((one, index) => ({
    tag: index === 0 ? 'th' : 'td',
    column: one.column,
    classes: classesOf(one),
    heading: escapeText(headingOf(one.column)),
    places: placesOf(one.column, rows),
  }));
  // The style sheet draws a table with only times and texts as a time-line.
  const isStory = shown.map(({ column }) => column.key).join() === 'at,text';
  const shape = isStory ? ' story' : rows.length > MOST_ROWS_AT_ONCE ? ' tall' : '';
  const headings = columns.map(({ classes, heading }) => `<th scope="col"${classText(classes)}>${heading}</th>`);
  yield `<div class="frame${shape}" tabindex="0" role="region" aria-label="${escapeText(name)}"><table>${isAligned ? widthsText(shown) : ''}<thead><tr>`;
  yield `${headings.join('')}</tr></thead><tbody>\n`;
  for (const row of rows) {
    const cells = columns.map(({ tag, column, classes, heading, places }) => {
      const value = cellOf(row, column);
      const scope = tag === 'th' ? ' scope="row"' : '';
      const isZero = isNumeric(column) && value !== null && value !== '' && saysNothing(value, column);
      const names = classText(isZero ? [...classes, 'zero'] : classes);
      const isCut = column.kind === 'text' && cutText(value) !== String(value ?? '');
      const whole = isCut ? ` title="${escapeText(value)}"` : '';
      return `<${tag}${scope}${names} data-label="${heading}"${whole}>${innerText(row, column, places)}</${tag}>`;
    });
    yield `<tr>${cells.join('')}</tr>\n`;
  }
  yield '</tbody></table></div>\n';
}

function widthsText(shown: readonly ShownColumn[]): string {
  const whole = sumOf(shown, ({ width }) => width);
  const columns = shown.map((one) => {
    return `<col${classText(classesOf(one))} style="width:${((100 * one.width) / whole).toFixed(1)}%">`;
  });
  return `<colgroup>${columns.join('')}</colgroup>`;
}

function classesOf({ column, isOneLine, isOnPaper }: ShownColumn): readonly string[] {
  return [...(isNumeric(column) ? ['n'] : []), ...(isOneLine ? [] : ['w']), ...(isOnPaper ? [] : ['screen'])];
}

function classText(names: readonly string[]): string {
  return names.length === 0 ? '' : ` class="${names.join(' ')}"`;
}

function innerText(row: Row, column: Column, places: number): string {
  const value = cellOf(row, column);
  const text = shownText(value, column);
  const shown = isNumeric(column) ? figure(text, places) : escapeText(text);
  const href = column.href?.(row);
  const copied = column.isCopied === true ? ` data-copy="${escapeText(value)}"` : '';
  if (href !== undefined) return `<a href="${escapeText(href)}"${copied}>${shown}</a>`;
  if (column.agesAt !== undefined && value !== null) return momentText(String(value), column.agesAt);
  if (TONED.has(column.kind) && text !== '') return `<b class="${toneOf(column.kind, value)}">${escapeText(text)}</b>`;
  return shown;
}

export function momentText(at: string, now: string): string {
  return `${timeText(at, now)}${instantMs(at) === undefined ? '' : ` <small>· ${ageOf(at, now)}</small>`}`;
}

export function timeText(at: string, now: string): string {
  const ms = instantMs(at);
  if (ms === undefined) return escapeText(cutText(at));
  const text = new Date(ms).toISOString();
  const shown = text.slice(0, 10) === now.slice(0, 10) ? text.slice(11, 19) : text.slice(0, 19).replace('T', ' ');
  return `<time datetime="${text}">${shown}</time>`;
}

export function ageOf(at: string, now: string): string {
  const ms = (instantMs(now) ?? 0) - (instantMs(at) ?? 0);
  return ms < 1_000 ? 'now' : inUnits(ms);
}

export function plainText(value: Cell): string {
  const text = cutText(value);
  const shown = shortTime(text);
  return shown === text ? text : `${shown.replace(/:00$/, '')} UTC`;
}

/** Returns markup for the value of a card. The text after a leading number has smaller letters. */
export function cardValueText(value: string): string {
  const [, number, rest] = /^([-+]?\d+(?:\.\d+)?)(?: (.+))?$/s.exec(cutText(value)) ?? [];
  if (number === undefined) return escapeText(cutText(value));
  // Integers of up to four digits have no gap, as in the sentences of the page.
  const shown = /^\d{1,4}$/.test(number) ? number : figure(number);
  return `${shown}${rest === undefined ? '' : ` <small>${escapeText(rest)}</small>`}`;
}

function shownText(value: Cell, { kind }: Column): string {
  const text = cutText(value);
  if (kind === 'time') return shortTime(text);
  return TONED.has(kind) ? text.replaceAll('_', ' ') : text;
}

function shortTime(text: string): string {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/.exec(text) ?? [];
  return day === undefined || time === undefined ? text : `${day} ${time}`;
}

/** Groups digits and pads the fraction by style alone, so that a person who copies the number copies no gap or zero. */
export function figure(text: string, places = 0): string {
  const [, sign, whole = '', point = '', fraction = ''] = /^([-+]?)(\d+)(?:(\.)(\d+))?$/.exec(text) ?? [];
  if (sign === undefined) return escapeText(text);
  const first = whole.length % 3 || 3;
  const groups = whole.slice(first).replace(/\d{3}/g, '<b>$&</b>');
  const missing = places - fraction.length;
  const padding = missing > 0 ? `<i>${point === '' ? '.' : ''}${'0'.repeat(missing)}</i>` : '';
  return `${sign}${whole.slice(0, first)}${groups}${point}${fraction}${padding}`;
}
