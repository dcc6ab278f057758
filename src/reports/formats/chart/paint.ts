import type { Chart, Look, Series, Tone } from '../document.ts';

/** Colours of lines and texts; the page has them for dark pages too. */
export const INK = '#1a212d';
export const MUTED = '#566071';
export const LINE = '#dfe3e9';

/** For programs that do not know the style of the page. */
const TONE_COLORS: Readonly<Record<Tone, string>> = {
  good: '#2f9e5f',
  info: '#4a7fd9',
  warning: '#d98a12',
  error: '#d3413b',
  neutral: MUTED,
};

/** What is written in place of a colour of the drawing. */
export type Paints = ReadonlyMap<string, string>;

/** The colour that stands for a series while it is drawn. The library draws no other colour that begins so. */
export function colorOf(index: number): string {
  return `#0000${(index + 16).toString(16)}`;
}

/** The attributes in place of each colour of a chart. */
export function paintsOf(chart: Chart, index: number): Paints {
  const paints = new Map([
    [INK, ''],
    [MUTED, ` class="muted" fill="${MUTED}"`],
  ]);
  seriesOf(chart).forEach(({ look }, place) => paints.set(colorOf(place), paintOf(look, index)));
  return paints;
}

/** The different looks of a chart, in their order. */
export function looksOf(chart: Chart): readonly Look[] {
  return [...new Map(seriesOf(chart).map(({ look }) => [keyOf(look), look])).values()];
}

/** The attributes of a shape with a look. */
export function paintOf(look: Look, index: number): string {
  const { tone, pattern = 'plain' } = look;
  return pattern === 'plain' ? ` class="${tone}" fill="${TONE_COLORS[tone]}"` : ` fill="url(#${idOf(look, index)})"`;
}

/** The definition of the pattern of a look; nothing where it is plain. */
export function patternOf(look: Look, index: number): string {
  const { tone, pattern = 'plain' } = look;
  if (pattern === 'plain') return '';
  const color = TONE_COLORS[tone];
  const shapes = {
    stripes: '<path d="M0 0h2v4h-2z"/>',
    dots: '<circle cx="2" cy="2" r="1.2"/>',
    grid: '<path d="M0 0h4v2h-2v2h-2z"/>',
  }[pattern];
  const turned = pattern === 'stripes' ? ' patternTransform="rotate(45)"' : '';
  return `<pattern id="${idOf(look, index)}" width="4" height="4" patternUnits="userSpaceOnUse"${turned}><g class="${tone}" fill="${color}"><path opacity=".35" d="M0 0h4v4h-4z"/>${shapes}</g></pattern>`;
}

function seriesOf(chart: Chart): readonly Series[] {
  return chart.kind === 'columns' ? chart.series : chart.rows;
}

function keyOf({ tone, pattern = 'plain' }: Look): string {
  return `${tone}-${pattern}`;
}

function idOf(look: Look, index: number): string {
  return `chart${index}-${keyOf(look)}`;
}
