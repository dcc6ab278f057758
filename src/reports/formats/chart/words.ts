import type { XAXisComponentOption } from 'echarts';
import type { Steps } from '../document.ts';
import { printable } from '../text.ts';
import { widthOf } from '../html/text.ts';
import { INK, MUTED } from './paint.ts';
import type { Size } from './size.ts';

const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

/** A number of an axis: `0.05`, `400`, `12.5K`. */
export function numberText(value: number): string {
  return COMPACT.format(value);
}

/** A name in a drawing, cut where it is wider than so many letters. */
export function labelText(name: string, most: number): string {
  const shown = printable(name).toWellFormed();
  if (widthOf(shown) <= most) return shown;
  let text = '';
  for (const character of shown) {
    if (widthOf(text + character) >= most) break;
    text += character;
  }
  return `${text}…`;
}

/** The axis of the steps below a panel. */
export function stepAxis(steps: Steps, { fontSize }: Size): XAXisComponentOption {
  const isNamed = (index: number) => steps[index] !== null;
  return {
    type: 'category',
    data: steps.map((name) => labelText(name ?? '', 12)),
    axisLine: { lineStyle: { color: INK } },
    axisTick: { show: false },
    axisLabel: { color: MUTED, fontSize, interval: isNamed },
  };
}
