import type { Span, Steps } from '../document.ts';
import { escapeText } from '../html/cells.ts';
import { cut, widthOf } from '../../../cli/shared/terminal.ts';
import { printable } from '../../../base/words.ts';
import { inUnits } from '../words.ts';

/** Colours for programs that ignore the style sheet of the page. */
const INK = '#1a212d';
export const MUTED = '#566071';
const LINE = '#dfe3e9';
/** The usual width of a letter, as a fraction of the font size. */
const LETTER = 0.56;

/** Lengths are in units of the SVG, each about a pixel on the screen. */
export type Size = Readonly<{ name: 'wide' | 'narrow'; width: number; panelWidth: number; fontSize: number }>;

const NARROW: Size = { name: 'narrow', width: 330, panelWidth: 330, fontSize: 12 };
export const SIZES: readonly Size[] = [{ name: 'wide', width: 760, panelWidth: 370, fontSize: 12.5 }, NARROW];
export const HALF_SIZES: readonly Size[] = [{ name: 'wide', width: 560, panelWidth: 560, fontSize: 12 }, NARROW];

type TextLook = { readonly anchor?: 'middle' | 'end'; readonly isMuted?: boolean; readonly isBold?: boolean };

export type Drawing = ReturnType<typeof newDrawing>;

/** Collects bars, lines, marks and texts. Shapes of one look become one path. Marks cover bars, texts cover marks. */
export function newDrawing({ name, fontSize }: Size, width: number, height: number) {
  const [shapes, marks] = [new Map<string, string>(), new Map<string, string>()];
  let texts = '';
  const add = (paths: Map<string, string>, look: string, d: string) => paths.set(look, (paths.get(look) ?? '') + d);
  return {
    bar(x: number, y: number, [wide, tall]: readonly [number, number], paint: string): void {
      add(shapes, paint, `M${px(x)} ${px(y)}h${px(wide)}v${px(tall)}h${px(-wide)}z`);
    },
    line(x: number, y: number, end: `${'h' | 'v'}${number}`): void {
      add(shapes, ` class="line" stroke="${LINE}"`, `M${px(x)} ${px(y)}${end}`);
    },
    mark(x: number, y: number, end: `${'h' | 'v'}${number}`, weight = ''): void {
      add(marks, ` class="mark" stroke="${INK}"${weight}`, `M${px(x)} ${px(y)}${end}`);
    },
    text(x: number, y: number, text: string, { anchor, isMuted = false, isBold = false }: TextLook = {}): void {
      const attributes = [
        anchor === undefined ? '' : ` text-anchor="${anchor}"`,
        isBold ? ' font-weight="600"' : '',
        isMuted ? ` class="muted" fill="${MUTED}"` : '',
      ];
      texts += `<text x="${px(x)}" y="${px(y)}" dy=".35em"${attributes.join('')}>${escapeText(text)}</text>`;
    },
    widthOf: (text: string) => widthOf(text) * fontSize * LETTER,
    svg(): string {
      const paths = [...shapes, ...marks].map(([look, d]) => `<path d="${d}"${look}/>`);
      return `<svg class="${name}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="${fontSize}" fill="${INK}">${paths.join('')}${texts}</svg>`;
    },
  };
}

export function labelText(name: string, most: number): string {
  return cut(printable(name).toWellFormed(), most);
}

function px(length: number): number {
  return Math.round(length * 10) / 10;
}

let compact: Intl.NumberFormat | undefined;
/** This number and greater numbers are written with a power of ten. */
const GREATEST_WORD = 1e15;
const NAME_GAP = 10;
const LONGEST_NAME = 12;

export function numberText(value: number): string {
  compact ??= new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
  return Math.abs(value) < GREATEST_WORD ? compact.format(value) : value.toExponential(0);
}

/** Returns about `most` round numbers, which enclose `low` and `high`. With `isWhole`, only whole numbers. */
export function valueTicks(low: number, high: number, most: number, isWhole: boolean): readonly number[] {
  const rough = (high > low ? high - low : 1) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const round = ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10) * power;
  const step = isWhole ? Math.max(1, round) : round;
  const first = Math.floor(low / step);
  const last = Math.max(first + 1, Math.ceil(high / step));
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
}

export function writeSteps(drawing: Drawing, steps: Steps, [left, right]: readonly [number, number], y: number): void {
  const step = (right - left) / steps.length;
  let end = Number.NEGATIVE_INFINITY;
  steps.forEach((name, place) => {
    const text = labelText(name ?? '', LONGEST_NAME);
    const half = drawing.widthOf(text) / 2;
    const middle = Math.min(right - half, Math.max(left - NAME_GAP + half, left + (place + 0.5) * step));
    if (text === '' || middle - half < end + NAME_GAP) return;
    drawing.text(middle, y, text, { anchor: 'middle', isMuted: true });
    end = middle + half;
  });
}

const SECOND_MS = 1_000;
const [MINUTE_MS, HOUR_MS, DAY_MS, YEAR_MS] = [60_000, 3_600_000, 86_400_000, 31_536_000_000];
const TICKS_MS: readonly (readonly number[])[] = [
  [SECOND_MS, MINUTE_MS, HOUR_MS].concat([1, 10, 100].map((days) => days * DAY_MS)),
  [1, 10, 100, 1_000].map((years) => years * YEAR_MS),
  [10 * SECOND_MS, 10 * MINUTE_MS, 6 * HOUR_MS, 3 * DAY_MS, 30 * DAY_MS, 3 * YEAR_MS],
  [30 * SECOND_MS, 30 * MINUTE_MS, 3 * HOUR_MS, 12 * HOUR_MS, 2 * DAY_MS, 5 * DAY_MS, 20 * DAY_MS],
  [2, 5, 20].flatMap((count) => [count * SECOND_MS, count * MINUTE_MS]).concat([2 * HOUR_MS, 4 * HOUR_MS]),
];

/** As `inUnits`, but with a space that does not break. A duration below a second becomes `1 s`. */
export function durationText(ms: number): string {
  return inUnits(Math.max(ms, SECOND_MS)).replace(' ', '\u00a0');
}

export function placeOf(ms: number): number {
  return Math.log10(Math.max(ms, SECOND_MS));
}

export function ticksOf(spans: readonly Span[], most: number) {
  const all = TICKS_MS.flat().toSorted((a, b) => a - b);
  const shortest = Math.max(SECOND_MS, Math.min(...spans.map(({ p1 }) => p1)));
  const longest = Math.max(SECOND_MS, ...spans.map(({ p99 }) => p99));
  const begin = all.findLast((ms) => ms <= shortest) ?? SECOND_MS;
  const end = all.find((ms) => ms > begin && ms >= longest) ?? longest;
  const least = (placeOf(end) - placeOf(begin)) / most;
  const named = [begin, end];
  for (const ms of TICKS_MS.flat()) {
    const isInside = ms > begin && ms < end;
    if (isInside && named.every((other) => Math.abs(placeOf(other) - placeOf(ms)) >= least)) named.push(ms);
  }
  return named.toSorted((a, b) => a - b).map((ms) => ({ name: durationText(ms), place: placeOf(ms) }));
}
