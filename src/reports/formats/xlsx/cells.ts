import type { CellObject } from 'write-excel-file/node';
import type { Tone } from '../document.ts';
import { printable } from '../text.ts';

/** Every machine has it, or one of the same widths. */
export const FONT = { fontFamily: 'Arial', fontSize: 10 } as const;
/** In points. */
export const LINE_HEIGHT = 13;
/** The colours of texts on white, by tone; neutral text keeps its own. */
export const COLORS: Readonly<Record<Tone, string | undefined>> = {
  good: '#1a7f37',
  info: '#0550ae',
  warning: '#8a5a00',
  error: '#b3261e',
  neutral: undefined,
};
const MOST_CHARACTERS = 32_000;
/** Excel once showed longer texts of this format as #####. */
const MOST_OF_TEXT_FORMAT = 255;

/** What a cell looks like. */
export type Look = Omit<CellObject, 'value' | 'type' | 'format'>;

/** A cell of text. It has the format of text, so that a person who edits it does not make a formula of it. */
export function textCell(value: string, look: Look = {}): CellObject {
  const shown = shownText(value);
  return { value: shown, type: String, ...(shown.length <= MOST_OF_TEXT_FORMAT && { format: '@' }), ...look };
}

/** A cell of text that goes on in lines below, `width` characters long, at most so many of them. */
export function wrappedCell(value: string, width: number, mostLines: number, look: Look = {}): CellObject {
  const scale = (look.fontSize ?? FONT.fontSize) / FONT.fontSize;
  const lines = Math.min(mostLines, Math.ceil((scale * widthOf(printable(value))) / width));
  const height = Math.ceil(scale * lines * LINE_HEIGHT) + 3;
  return textCell(value, { wrap: true, alignVertical: 'top', ...(height > LINE_HEIGHT + 3 && { height }), ...look });
}

/** The width of a text in digits of the font, about. */
export function widthOf(value: string): number {
  const count = (pattern: RegExp) => value.match(pattern)?.length ?? 0;
  return value.length + count(/[A-Z@%]/g) * 0.3 + count(/[\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uff60]/g);
}

/** Escapes characters that XML cannot contain, and masks what a spreadsheet would read as an escape. */
export function shownText(value: string): string {
  const whole = printable(value)
    .toWellFormed()
    .replaceAll('\ufffd', String.raw`\ufffd`)
    .replace(/_x(?=[0-9a-f]{4}_)/gi, '_x005F_x');
  if (whole.length > MOST_CHARACTERS) return `${whole.slice(0, MOST_CHARACTERS).toWellFormed()}…`;
  // The library looks texts up in an object, and finds there what every object has: `toString` would damage the workbook.
  return whole in {} ? `_x${whole.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_${whole.slice(1)}` : whole;
}
