import type { Chart, ColumnChart, Look, Series, SpanChart } from './document.ts';
import type { Tone } from '../../cli/shared/terminal.ts';
import {
  labelText,
  MUTED,
  newDrawing,
  numberText,
  placeOf,
  SIZES,
  ticksOf,
  valueTicks,
  writeSteps,
  type Size,
} from './chart/svg.ts';
import { cutText, escapeText, proseText } from './html/cells.ts';

const MOST_LETTERS = 40;
/** Colours for programs that ignore the style sheet of the page. */
const TONE_COLORS: Readonly<Record<Tone, string>> = {
  good: '#2f9e5f',
  info: '#4a7fd9',
  warning: '#c27803',
  error: '#d3413b',
  neutral: MUTED,
};

const FILLED = 0.78;
const WIDEST_COLUMN = 40;
const AXIS = 26;
const AXIS_TEXT = 13;
/** Greater numbers are replaced by this number, so that the sum of a step stays finite. */
const GREATEST = 1e300;

type Paint = (look: Look) => string;

/** Draws a chart once for each size. `id` must differ between the charts of a page. */
export function figureText(chart: Chart, id: number, sizes = SIZES): string {
  const { title, text } = chart;
  const paint: Paint = (look) => paintOf(look, id);
  const [series, panels] = chart.kind === 'columns' ? [chart.series, chart.panels] : [chart.rows, []];
  const drawings = sizes.flatMap((size) =>
    chart.kind === 'columns'
      ? panels.map((panel) => panelText(chart, panel, size, paint))
      : [spansText(chart, size, paint)],
  );
  const patterns = [...new Set(series.map(({ look }) => patternText(look, id)))].join('');
  const shapes =
    patterns === '' ? '' : `<svg class="patterns" width="0" height="0" aria-hidden="true">${patterns}</svg>`;
  return `<figure class="chart"><figcaption><strong>${proseText(title)}</strong><p>${proseText(text)}</p>
${shapes}${chart.kind === 'columns' ? legendText(series, paint) : ''}</figcaption>
<div class="plots${drawings.length > sizes.length ? ' many' : ''}" role="img" aria-label="${escapeText(cutText(`${title}. ${text}`))}">
${drawings.join('\n')}
</div></figure>
`;
}

function legendText(series: readonly Series[], paint: Paint): string {
  const items = series.map(({ name, look, note = '' }) => {
    const swatch = `<svg viewBox="0 0 14 14" aria-hidden="true"><path d="M0 0h14v14h-14z"${paint(look)}/></svg>`;
    return `<li>${swatch}${escapeText(labelText(name, MOST_LETTERS))} <b>${escapeText(labelText(note, MOST_LETTERS))}</b></li>`;
  });
  return `<ul>${items.join('')}</ul>`;
}

const SHAPES = {
  stripes: '<path d="M0 0h2v4h-2z"/>',
  dots: '<circle cx="2" cy="2" r="1.2"/>',
  grid: '<path d="M0 0h4v2h-2v2h-2z"/>',
};

function paintOf({ tone, pattern = 'plain' }: Look, id: number): string {
  if (pattern !== 'plain') return ` fill="url(#chart${id}-${tone}-${pattern})"`;
  return ` class="${tone}" fill="${TONE_COLORS[tone]}"`;
}

function patternText({ tone, pattern = 'plain' }: Look, id: number): string {
  if (pattern === 'plain') return '';
  const turned = pattern === 'stripes' ? ' patternTransform="rotate(45)"' : '';
  return `<pattern id="chart${id}-${tone}-${pattern}" width="4" height="4" patternUnits="userSpaceOnUse"${turned}><g class="${tone}" fill="${TONE_COLORS[tone]}"><path opacity=".35" d="M0 0h4v4h-4z"/>${SHAPES[pattern]}</g></pattern>`;
}

type Panel = ColumnChart['panels'][number];

function panelText(chart: ColumnChart, { unit, values }: Panel, size: Size, paint: Paint): string {
  const { steps, series, panels, isBeside = false } = chart;
  const isAlone = panels.length === 1;
  const [width, most] = isAlone ? [size.width, 4] : [size.panelWidth, 3];
  const height = isAlone && size.name === 'wide' ? 240 : 180;
  const drawing = newDrawing(size, width, height);
  const numbers = values.map((row) => row.map((value) => Math.max(-GREATEST, Math.min(GREATEST, value))));
  const bars = barsOf(numbers, isBeside);
  const ends = bars.map(({ to }) => to);
  const ticks = valueTicks(Math.min(0, ...ends), Math.max(0, ...ends), most, numbers.flat().every(Number.isInteger));
  const [low, high] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
  const left = 10 + Math.max(...ticks.map((tick) => drawing.widthOf(numberText(tick))));
  const [right, top, bottom] = [width - 6, 28, height - AXIS];
  const step = (right - left) / steps.length;
  const yOf = (value: number) => bottom - ((value - low) / (high - low)) * (bottom - top);
  drawing.text(0, 9, labelText(unit, 36), { isBold: true });
  for (const tick of ticks) {
    drawing.line(left, yOf(tick), `h${right - left}`);
    drawing.text(left - 8, yOf(tick), numberText(tick), { anchor: 'end', isMuted: true });
  }
  const thick = Math.min(WIDEST_COLUMN, (step * FILLED) / (isBeside ? values.length : 1));
  for (const { index, place, from, to } of bars) {
    const look = series[index]?.look;
    if (from === to || look === undefined) continue;
    const shift = isBeside ? (index - values.length / 2) * thick : -thick / 2;
    const [y, end] = [yOf(Math.max(from, to)), yOf(Math.min(from, to))];
    drawing.bar(left + (place + 0.5) * step + shift, y, [thick, end - y], paint(look));
  }
  drawing.mark(left, yOf(0), `h${right - left}`);
  writeSteps(drawing, steps, [left, right], bottom + AXIS_TEXT);
  return drawing.svg();
}

/** Returns the two ends of each bar. Without `isBeside`, the bars of a step are stacked, negative bars below zero. */
function barsOf(values: readonly (readonly number[])[], isBeside: boolean) {
  const [above, below] = [new Map<number, number>(), new Map<number, number>()];
  return values.flatMap((row, index) =>
    row.map((value, place) => {
      const ends = value < 0 ? below : above;
      const from = isBeside ? 0 : (ends.get(place) ?? 0);
      ends.set(place, from + value);
      return { index, place, from, to: from + value };
    }),
  );
}

const STRIP = 22;

function spansText({ rows }: SpanChart, size: Size, paint: Paint): string {
  const isWide = size.name === 'wide';
  const [left, top, pitch] = isWide ? [210, 9, 38] : [14, 26, 50];
  const [right, bottom] = [size.width - 40, rows.length * pitch];
  const drawing = newDrawing(size, size.width, bottom + AXIS);
  const middleOf = (index: number) => top + index * pitch + STRIP / 2;
  for (const [index, { name, note = '' }] of rows.entries()) {
    const middle = middleOf(index);
    drawing.text(0, middle - (isWide ? 7 : 24), labelText(name, isWide ? 28 : 24));
    const [x, y] = isWide ? [0, middle + 8] : [size.width, middle - 24];
    drawing.text(x, y, labelText(note, 30), { isMuted: true, ...(!isWide && { anchor: 'end' }) });
  }
  const spans = rows.map(({ span }) => span);
  const ticks = ticksOf(spans, (right - left) / 56);
  const [first, last] = [ticks[0]?.place ?? 0, ticks.at(-1)?.place ?? 1];
  const xOf = (place: number) => left + ((place - first) / (last - first)) * (right - left);
  for (const { name, place } of ticks) {
    drawing.line(xOf(place), 0, `v${bottom}`);
    drawing.text(xOf(place), bottom + AXIS_TEXT, name, { anchor: 'middle', isMuted: true });
  }
  for (const [index, { span, look }] of rows.entries()) {
    const y = middleOf(index);
    const box = (from: number, to: number, tall: number) => {
      const x = xOf(placeOf(from));
      drawing.bar(x, y - tall / 2, [Math.max(2, xOf(placeOf(to)) - x), tall], paint(look));
    };
    box(span.p1, span.p99, 3);
    box(span.p25, span.p75, STRIP);
    drawing.mark(xOf(placeOf(span.p50)), y - STRIP / 2 - 2, `v${STRIP + 4}`, ' stroke-width="2.5"');
  }
  return drawing.svg();
}
