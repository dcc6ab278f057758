import type { Chart, Series } from '../document.ts';
import { cutText, escapeText, proseText } from '../html/text.ts';
import { looksOf, paintOf, patternOf } from './paint.ts';
import { labelText } from './words.ts';

/** Of a name in a legend. */
const MOST_LETTERS = 40;

/** Writes a chart: its title, its text, a legend in words, and the drawings. */
export function figureText(chart: Chart, index: number, svgs: readonly string[]): string {
  const { title, text, kind } = chart;
  const isMany = svgs.length > 2;
  return `<figure class="chart"><figcaption><strong>${proseText(title)}</strong><p>${proseText(text)}</p>
${patternsText(chart, index)}${kind === 'columns' ? legendText(chart.series, index) : ''}</figcaption>
<div class="plots${isMany ? ' many' : ''}" role="img" aria-label="${escapeText(cutText(`${title}. ${text}`))}">
${svgs.join('\n')}
</div></figure>
`;
}

function patternsText(chart: Chart, index: number): string {
  const patterns = looksOf(chart).map((look) => patternOf(look, index));
  return patterns.every((pattern) => pattern === '')
    ? ''
    : `<svg class="patterns" width="0" height="0" aria-hidden="true">${patterns.join('')}</svg>`;
}

/** A single thing needs no legend: the title says what it is. */
function legendText(series: readonly Series[], index: number): string {
  if (series.length < 2) return '';
  const items = series.map(({ name, look, note = '' }) => {
    const swatch = `<svg viewBox="0 0 14 14" aria-hidden="true"><path d="M0 0h14v14h-14z"${paintOf(look, index)}/></svg>`;
    return `<li>${swatch}${escapeText(labelText(name, MOST_LETTERS))} <b>${escapeText(labelText(note, MOST_LETTERS))}</b></li>`;
  });
  return `<ul>${items.join('')}</ul>`;
}
