import { columnDrawings, rowDrawings, spanDrawings, type Paint } from './chart/plots.ts';
import { labelText, MUTED, SIZES, type Drawing, type Size } from './chart/svg.ts';
import type { Chart, Look, Series, Tone } from './document.ts';
import { cutText, escapeText, proseText } from './html/text.ts';

/** Of a name in a legend. */
const MOST_LETTERS = 40;
/** For programs that do not know the style of the page. */
const TONE_COLORS: Readonly<Record<Tone, string>> = {
  good: '#2f9e5f',
  info: '#4a7fd9',
  warning: '#c27803',
  error: '#d3413b',
  neutral: MUTED,
};

/**
 * Draws a chart as a `figure` of HTML, for wide and for narrow pages: its title, its text, a legend in words, and the drawings.
 * `id` differs for each chart of a page.
 */
export function figureText(chart: Chart, id: number, sizes = SIZES): string {
  const { title, text } = chart;
  const paint: Paint = (look) => paintOf(look, id);
  const drawings = sizes.flatMap((size) => drawingsOf(chart, size, paint));
  return `<figure class="chart"><figcaption><strong>${proseText(title)}</strong><p>${proseText(text)}</p>
${patternsText(chart, id)}${chart.kind === 'columns' ? legendText(chart.series, paint) : ''}</figcaption>
<div class="plots${drawings.length > sizes.length ? ' many' : ''}" role="img" aria-label="${escapeText(cutText(`${title}. ${text}`))}">
${drawings.join('\n')}
</div></figure>
`;
}

function drawingsOf(chart: Chart, size: Size, paint: Paint): readonly Drawing[] {
  switch (chart.kind) {
    case 'columns':
      return columnDrawings(chart, size, paint);
    case 'rows':
      return rowDrawings(chart, size, paint);
    case 'spans':
      return spanDrawings(chart, size, paint);
  }
}

/** A single thing needs no legend: the title says what it is. */
function legendText(series: readonly Series[], paint: Paint): string {
  if (series.length < 2) return '';
  const items = series.map(({ name, look, note = '' }) => {
    const swatch = `<svg viewBox="0 0 14 14" aria-hidden="true"><path d="M0 0h14v14h-14z"${paint(look)}/></svg>`;
    return `<li>${swatch}${escapeText(labelText(name, MOST_LETTERS))} <b>${escapeText(labelText(note, MOST_LETTERS))}</b></li>`;
  });
  return `<ul>${items.join('')}</ul>`;
}

/** The definitions of the patterns of a chart, each once. */
function patternsText(chart: Chart, id: number): string {
  const series: readonly Series[] = chart.kind === 'columns' ? chart.series : chart.rows;
  const patterns = new Set(series.map(({ look }) => patternOf(look, id)).filter((pattern) => pattern !== ''));
  if (patterns.size === 0) return '';
  return `<svg class="patterns" width="0" height="0" aria-hidden="true">${[...patterns].join('')}</svg>`;
}

function paintOf(look: Look, id: number): string {
  const { tone, pattern = 'plain' } = look;
  return pattern === 'plain' ? ` class="${tone}" fill="${TONE_COLORS[tone]}"` : ` fill="url(#${idOf(look, id)})"`;
}

function patternOf(look: Look, id: number): string {
  const { tone, pattern = 'plain' } = look;
  if (pattern === 'plain') return '';
  const shapes = {
    stripes: '<path d="M0 0h2v4h-2z"/>',
    dots: '<circle cx="2" cy="2" r="1.2"/>',
    grid: '<path d="M0 0h4v2h-2v2h-2z"/>',
  }[pattern];
  const turned = pattern === 'stripes' ? ' patternTransform="rotate(45)"' : '';
  return `<pattern id="${idOf(look, id)}" width="4" height="4" patternUnits="userSpaceOnUse"${turned}><g class="${tone}" fill="${TONE_COLORS[tone]}"><path opacity=".35" d="M0 0h4v4h-4z"/>${shapes}</g></pattern>`;
}

function idOf({ tone, pattern = 'plain' }: Look, id: number): string {
  return `chart${id}-${tone}-${pattern}`;
}
