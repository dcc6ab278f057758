import { createRequire } from 'node:module';
import { styleText } from 'node:util';
import type * as StringWidth from 'string-width';
import type * as WrapAnsi from 'wrap-ansi';
import { mostOf, printable } from '../../base/words.ts';

/** How good or bad a value is. Texts for people show the tone as a colour. */
export type Tone = 'good' | 'info' | 'warning' | 'error' | 'neutral';

/** Null is an empty cell. */
export type Cell = string | number | null;

export interface Screen {
  /** In cells of a terminal; infinite if lines may have any length. */
  readonly width: number;
  readonly hasColour: boolean;
  /** The time at which a person reads the text; undefined if the text goes to a file or program. */
  readonly now?: Date;
}

type Style = Parameters<typeof styleText>[0];
const STYLES: Readonly<Record<Tone, Style | undefined>> = {
  good: 'green',
  info: 'cyan',
  warning: 'yellow',
  error: ['red', 'bold'],
  neutral: undefined,
};
/** Each of these characters takes one cell. Loading the package for other characters takes as long as a command. */
const NARROW = /^[ -~…─]*$/;
const require = createRequire(import.meta.url);
let segmenter: Intl.Segmenter | undefined;
/** A text with more UTF-16 units than this for each cell counts as too wide, without a measurement. */
const LONGEST_CELL = 16;
const NARROWEST = 10;

export function styled(style: Style | undefined, text: string, { hasColour }: Screen): string {
  return hasColour && style !== undefined && text !== '' ? styleText(style, text, { validateStream: false }) : text;
}

export function toned(tone: Tone | undefined, text: string, screen: Screen): string {
  return styled(STYLES[tone ?? 'neutral'], text, screen);
}

/** The cells of a terminal that a text without control characters takes. */
export function widthOf(text: string): number {
  return NARROW.test(text) ? text.length : (require('string-width') as typeof StringWidth).default(text);
}

/** Cuts a text at its end, but a single word in its middle, because two ids may differ at either end. */
export function cut(text: string, width: number): string {
  if (text.length <= width * LONGEST_CELL && widthOf(text) <= width) return text;
  segmenter ??= new Intl.Segmenter();
  const endWidth = text.includes(' ') ? 0 : Math.floor((width - 1) / 2);
  const start = within(segmenter.segment(text), width - 1 - endWidth);
  // The slice may begin within a grapheme, so its first grapheme is left out.
  const last = [...segmenter.segment(text.slice(-(endWidth + 1) * LONGEST_CELL))].slice(1).toReversed();
  return `${start.join('')}…${within(last, endWidth).toReversed().join('')}`;
}

function within(graphemes: Iterable<{ readonly segment: string }>, width: number): readonly string[] {
  const taken: string[] = [];
  let room = width;
  for (const { segment } of graphemes) {
    room -= widthOf(segment);
    if (room < 0 || taken.length > width * LONGEST_CELL) break;
    taken.push(segment);
  }
  return taken;
}

/** Breaks a text into lines at spaces, and a word only if it is wider than a line. Indents lines after the first. */
export function wrapped(text: string, width: number, indent = 0): string {
  if (width === Infinity) return text;
  const room = Math.max(width - indent, indent === 0 ? 1 : NARROWEST);
  if (text.length <= room && NARROW.test(text) && text === text.trim()) return text;
  const { default: wrapAnsi } = require('wrap-ansi') as typeof WrapAnsi;
  return wrapAnsi(text, room, { hard: true }).replaceAll('\n', `\n${' '.repeat(indent)}`);
}

export interface Field {
  readonly label: string;
  readonly value: Cell;
  readonly tone?: Tone | undefined;
}

/** Shows each field on a line of its own. A long value continues below. Labels take `least` cells or more. */
export function fieldsText(fields: readonly Field[], screen: Screen, least = 0): string {
  const widest = Math.max(
    least,
    mostOf(fields, ({ label }) => widthOf(printable(label))),
  );
  const labelWidth = Math.min(widest, Math.floor(screen.width / 2));
  return fields.map((field) => fieldLine(field, labelWidth, screen)).join('');
}

function fieldLine({ label, value, tone }: Field, labelWidth: number, screen: Screen): string {
  const name = cut(printable(label), Math.max(1, labelWidth));
  const space = ' '.repeat(Math.max(0, labelWidth - widthOf(name)) + 2);
  const lines = wrapped(printable(value), screen.width, labelWidth + 2);
  return `${name}${space}${toned(tone, lines, screen)}`.trimEnd() + '\n';
}
