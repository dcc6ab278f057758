import type { Cell, CellKind, Tone } from '../document.ts';
import { cut, toned, widthOf, wrapped, type Screen } from './screen.ts';
import { printable } from '../text.ts';
import { toneOf } from '../tone.ts';

/** One value with its name. */
export interface Field {
  readonly label: string;
  readonly value: Cell;
  /** Text unless given. */
  readonly kind?: CellKind;
  /** That of its kind unless given. */
  readonly tone?: Tone | undefined;
}

/** One field a line, whole: values go on below themselves where they are longer than the line. Values begin after `least` cells or more. */
export function fieldsText(fields: readonly Field[], screen: Screen, least = 0): string {
  const widest = fields.reduce((most, { label }) => Math.max(most, widthOf(printable(label))), least);
  const labelWidth = Math.min(widest, Math.floor(screen.width / 2));
  return fields.map((field) => fieldLine(field, labelWidth, screen)).join('');
}

function fieldLine({ label, value, kind = 'text', tone }: Field, labelWidth: number, screen: Screen): string {
  const name = cut(printable(label), Math.max(1, labelWidth));
  const space = ' '.repeat(Math.max(0, labelWidth - widthOf(name)) + 2);
  const lines = wrapped(printable(value), screen.width, labelWidth + 2);
  return `${name}${space}${toned(tone ?? toneOf(kind, value), lines, screen)}`.trimEnd() + '\n';
}
