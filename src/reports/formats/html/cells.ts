import type { Cell, Column } from '../document.ts';
import { isNumeric, saysNothing } from '../numbers.ts';
import { toneOf } from '../tone.ts';
import { cutText, escapeText, widthOf } from './text.ts';

/** Longer fractions are not padded: nothing that a person compares has so many places. */
const MOST_PLACES = 24;
/** The width of a badge around its word. */
const BADGE = 3;
const TONED: ReadonlySet<Column['kind']> = new Set(['severity', 'state', 'outcome']);

/** What a column is like, seen in its cells. */
export interface ShownColumn {
  readonly column: Column;
  readonly isNumber: boolean;
  /** The width of its widest cell, in columns of text. */
  readonly width: number;
  readonly hasSpaces: boolean;
}

/** Looks at the cells of a column that are shown. */
export function shownColumn(column: Column, values: readonly Cell[]): ShownColumn {
  const places = placesOf(column, values);
  const texts = values.map((value) => shownText(value, column));
  const widths = texts.map((text) => {
    if (!isNumeric(column)) return widthOf(text) + (TONED.has(column.kind) ? BADGE : 0);
    // The space between three digits and the next three is a third of a digit.
    const whole = text.split('.', 1)[0] ?? '';
    return Math.max(widthOf(text), whole.length + Math.ceil(whole.length / 9) + (places > 0 ? places + 1 : 0));
  });
  const width = widths.reduce((most, one) => Math.max(most, one), 0);
  return { column, isNumber: isNumeric(column), width, hasSpaces: texts.some((text) => text.includes(' ')) };
}

/** The most digits after the decimal point in cells that stand below each other. */
export function placesOf(column: Column, values: readonly Cell[]): number {
  if (!isNumeric(column)) return 0;
  const places = values.map((value) => /^-?\d+\.(\d+)$/.exec(String(value))?.[1]?.length ?? 0);
  return places.reduce((most, one) => (one > MOST_PLACES ? most : Math.max(most, one)), 0);
}

/** Writes a cell; the first one of a row names it. `places` is what its fraction is filled up to. */
export function cellText(value: Cell, column: Column, places: number, isFirst: boolean): string {
  const text = shownText(value, column);
  const [open, tag] = isFirst ? ['th scope="row"', 'th'] : ['td', 'td'];
  if (TONED.has(column.kind) && text !== '')
    return `<${open}><b class="${toneOf(column.kind, value)}">${escapeText(text)}</b></${tag}>`;
  if (isNumeric(column)) {
    const state = saysNothing(value, column) && text !== '' ? ' class="zero"' : '';
    return `<${open}${state}>${figure(text, places)}</${tag}>`;
  }
  const isCut = column.kind !== 'time' && text !== String(value ?? '');
  return `<${open}${isCut ? ` title="${escapeText(value)}"` : ''}>${escapeText(text)}</${tag}>`;
}

/** The text of a value outside a table. */
export function plainText(value: Cell): string {
  const text = cutText(value);
  const shown = shortTime(text);
  return shown === text ? text : `${shown.replace(/:00$/, '')} UTC`;
}

/** Writes the figure of a card that stands for a section: a number, not an id. It stands out from what follows it. */
export function cardValueText(value: string): string {
  const [, number, rest] = /^([-+]?\d+(?:\.\d+)?)(?: (.+))?$/s.exec(cutText(value)) ?? [];
  if (number === undefined) return escapeText(cutText(value));
  // Sentences beside it have such numbers without a space.
  const shown = /^\d{1,4}$/.test(number) ? number : figure(number, 0);
  return `${shown}${rest === undefined ? '' : ` <small>${escapeText(rest)}</small>`}`;
}

function shownText(value: Cell, { kind }: Column): string {
  const text = cutText(value);
  if (kind === 'time') return shortTime(text);
  return TONED.has(kind) ? text.replaceAll('_', ' ') : text;
}

/** Days and seconds of a time of ours; any other text as it is. */
function shortTime(text: string): string {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/.exec(text) ?? [];
  return day === undefined || time === undefined ? text : `${day} ${time}`;
}

/** Groups the digits by space alone, and fills the fraction up with hidden digits, so that copied text is the number. */
function figure(text: string, places: number): string {
  const [, sign, whole = '', point = '', fraction = ''] = /^([-+]?)(\d+)(?:(\.)(\d+))?$/.exec(text) ?? [];
  if (sign === undefined) return escapeText(text);
  const first = whole.length % 3 || 3;
  const groups = whole.slice(first).replace(/\d{3}/g, '<b>$&</b>');
  const missing = places - fraction.length;
  const padding = missing > 0 ? `<i>${point === '' ? '.' : ''}${'0'.repeat(missing)}</i>` : '';
  return `${sign}${whole.slice(0, first)}${groups}${point}${fraction}${padding}`;
}
