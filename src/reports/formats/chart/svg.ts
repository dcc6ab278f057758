import { escapeText, widthOf } from '../html/text.ts';
import { printable } from '../text.ts';

/** For programs that do not know the style of the page, which has these colours for dark pages too. */
const INK = '#1a212d';
export const MUTED = '#566071';
const LINE = '#dfe3e9';
/** A letter is about this wide, in letters' heights. */
const LETTER = 0.56;

/** A page is wide, or narrow as a phone's. Lengths are in pixels of the drawing, which is shown at about its own size. */
export interface Size {
  readonly name: 'wide' | 'narrow';
  readonly width: number;
  /** The width of one of several panels. */
  readonly panelWidth: number;
  readonly fontSize: number;
}

const NARROW: Size = { name: 'narrow', width: 330, panelWidth: 330, fontSize: 12 };
/** A chart of a report is drawn once for each. */
export const SIZES: readonly Size[] = [{ name: 'wide', width: 760, panelWidth: 370, fontSize: 12.5 }, NARROW];
/** A chart in half of a wide page. */
export const HALF_SIZES: readonly Size[] = [{ name: 'wide', width: 560, panelWidth: 560, fontSize: 12 }, NARROW];

/** How a text of a drawing looks; it begins at its place, in ink, unless this says otherwise. */
interface TextLook {
  readonly anchor?: 'middle' | 'end';
  readonly isMuted?: boolean;
  readonly isBold?: boolean;
}

/** Bars, lines and texts as SVG. Shapes that look alike are one path; marks stand above bars, and texts above all. */
export class Drawing {
  readonly #size: Size;
  readonly #width: number;
  readonly #height: number;
  readonly #shapes = new Map<string, string>();
  readonly #marks = new Map<string, string>();
  #texts = '';

  constructor(size: Size, width: number, height: number) {
    this.#size = size;
    this.#width = width;
    this.#height = height;
  }

  /** `paint` is the attributes of what fills the bar. */
  bar(x: number, y: number, [width, height]: readonly [number, number], paint: string): void {
    add(this.#shapes, paint, `M${px(x)} ${px(y)}h${px(width)}v${px(height)}h${px(-width)}z`);
  }

  /** A line of the grid. */
  line(x: number, y: number, end: `${'h' | 'v'}${number}`): void {
    add(this.#shapes, ` class="line" stroke="${LINE}"`, `M${px(x)} ${px(y)}${end}`);
  }

  /** A line in ink. */
  mark(x: number, y: number, end: `${'h' | 'v'}${number}`, width = 1): void {
    const weight = width === 1 ? '' : ` stroke-width="${width}"`;
    add(this.#marks, ` class="mark" stroke="${INK}"${weight}`, `M${px(x)} ${px(y)}${end}`);
  }

  /** Writes a text whose middle is at the height. */
  text(x: number, y: number, text: string, { anchor, isMuted = false, isBold = false }: TextLook = {}): void {
    const attributes = [
      anchor === undefined ? '' : ` text-anchor="${anchor}"`,
      isBold ? ' font-weight="600"' : '',
      isMuted ? ` class="muted" fill="${MUTED}"` : '',
    ];
    this.#texts += `<text x="${px(x)}" y="${px(y)}" dy=".35em"${attributes.join('')}>${escapeText(text)}</text>`;
  }

  /** The width of a text, about. */
  widthOf(text: string): number {
    return widthOf(text) * this.#size.fontSize * LETTER;
  }

  toString(): string {
    const paths = [...this.#shapes, ...this.#marks].map(([attributes, d]) => `<path d="${d}"${attributes}/>`);
    const { name, fontSize } = this.#size;
    return `<svg class="${name}" viewBox="0 0 ${this.#width} ${this.#height}" font-family="sans-serif" font-size="${fontSize}" fill="${INK}">${paths.join('')}${this.#texts}</svg>`;
  }
}

function add(paths: Map<string, string>, attributes: string, d: string): void {
  paths.set(attributes, (paths.get(attributes) ?? '') + d);
}

/** A name in a drawing, cut if it is wider than `most` letters. */
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

function px(length: number): number {
  return Math.round(length * 10) / 10;
}
