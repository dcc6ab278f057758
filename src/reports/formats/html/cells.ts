import type { Cell, Column } from '../document.ts';
import { toneOf } from '../tone.ts';
import { cutText, escapeText, widthOf } from './text.ts';

/** Longer fractions are not padded: nothing that a person compares has so many places. */
const MOST_PLACES = 24;
const NUMBERS: ReadonlySet<Column['kind']> = new Set(['count', 'percent', 'decimal', 'digits']);
const TONED: ReadonlySet<Column['kind']> = new Set(['severity', 'state', 'outcome']);

/** What a column is like, seen in its cells. */
export interface ShownColumn {
  readonly column: Column;
  readonly isNumber: boolean;
  /** The width of its widest cell, in columns of text. */
  readonly width: number;
  /** The most digits after a decimal point. */
  readonly places: number;
  readonly hasSpaces: boolean;
}

/** Whether the numbers of the column stand right. */
export function isNumeric({ kind }: Column): boolean {
  return NUMBERS.has(kind);
}

/** Whether a cell says nothing where all cells of its column say the same: it is empty, or the number zero. */
export function saysNothing(value: Cell, column: Column): boolean {
  if (value === null || value === '' || value === 0) return true;
  return isNumeric(column) && /^-?0+(?:\.0*)?$/.test(String(value));
}

/** Looks at the cells of a column that are shown. */
export function shownColumn(column: Column, values: readonly Cell[]): ShownColumn {
  let [width, places, hasSpaces] = [0, 0, false];
  for (const value of values) {
    const text = shownText(value, column);
    width = Math.max(width, widthOf(text));
    hasSpaces ||= text.includes(' ');
    const [, fraction = ''] = /^-?\d+\.(\d+)$/.exec(text) ?? [];
    if (fraction.length <= MOST_PLACES) places = Math.max(places, fraction.length);
  }
  return { column, isNumber: isNumeric(column), width, places, hasSpaces };
}

/** Writes a cell; `tag` is `th` for the one that names its row. */
export function cellText(value: Cell, { column, places }: ShownColumn, tag: 'td' | 'th'): string {
  const text = shownText(value, column);
  const open = tag === 'th' ? 'th scope="row"' : 'td';
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
  return shown === text ? text : `${shown} UTC`;
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
  const [, sign, whole = '', point = '', fraction = ''] = /^(-?)(\d+)(?:(\.)(\d+))?$/.exec(text) ?? [];
  if (sign === undefined) return escapeText(text);
  const first = whole.length % 3 || 3;
  const groups = whole.slice(first).replace(/\d{3}/g, '<b>$&</b>');
  const missing = places - fraction.length;
  const padding = missing > 0 ? `<i>${point === '' ? '.' : ''}${'0'.repeat(missing)}</i>` : '';
  return `${sign}${whole.slice(0, first)}${groups}${point}${fraction}${padding}`;
}
