import type { EChartsOption } from 'echarts';
import type { Chart, SectionPart } from './document.ts';
import { proseText } from './html/text.ts';
import { printable } from './text.ts';

const WIDTH = 1_040;
const HEIGHT = 340;
const LONGEST_NAME = 40;
const COLORS = ['#2f6fbb', '#e08214', '#4d9f5c', '#c0504d', '#7b5ea7', '#8c6d4f', '#c776b0', '#6b7785', '#a8a832'];

/** A chart as a `figure` of HTML, and the part of the page that it stands in. */
export interface Figure {
  readonly part: SectionPart;
  readonly text: string;
}

/** The style of the figures, beside the colours of the page. */
export const FIGURE_STYLE = '';

/** Draws charts. The same chart gives the same text. */
export async function drawFigures(charts: readonly Chart[]): Promise<readonly Figure[]> {
  if (charts.length === 0) return [];
  // The library takes time and memory to load, and only this form needs it.
  const { init } = await loadLibrary();
  return charts.map((chart, index) => {
    const canvas = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height: HEIGHT });
    try {
      canvas.setOption({
        animation: false,
        color: COLORS,
        ...(chart.kind === 'flow' ? flowOption(chart) : barOption(chart)),
      });
      const svg = plainSvg(canvas.renderToSVGString(), index);
      const text = `<figure><figcaption>${proseText(chart.title)}</figcaption>\n${svg}\n</figure>\n`;
      return { part: chart.part, text };
    } finally {
      canvas.dispose();
    }
  });
}

async function loadLibrary() {
  const [core, { BarChart, SankeyChart }, { GridComponent, LegendComponent }, { SVGRenderer }] = await Promise.all([
    import('echarts/core'),
    import('echarts/charts'),
    import('echarts/components'),
    import('echarts/renderers'),
  ]);
  core.use([BarChart, SankeyChart, GridComponent, LegendComponent, SVGRenderer]);
  return core;
}

function barOption({ categories, series, unit }: Chart): EChartsOption {
  return {
    legend: { top: 0, type: 'plain' },
    grid: { left: 64, right: 24, top: 48, bottom: 40 },
    xAxis: { type: 'category', data: categories.map(name), axisLabel: { hideOverlap: true } },
    yAxis: { type: 'value', name: name(unit) },
    series: series.map((one) => ({
      type: 'bar' as const,
      name: name(one.name),
      data: [...one.values],
      ...(unit === 'orders' && { stack: 'all' }),
    })),
  };
}

function flowOption({ categories, links = [] }: Chart): EChartsOption {
  return {
    series: [
      {
        type: 'sankey',
        left: 16,
        right: 200,
        top: 16,
        bottom: 16,
        // Two long names may be cut to the same text and must stay two nodes.
        data: categories.map((category, index) => ({
          name: String(index),
          value: 0,
          itemStyle: { color: COLORS[index % COLORS.length] ?? '' },
          label: { formatter: () => name(category) },
        })),
        links: links.map(({ from, to, value }) => ({
          source: String(categories.indexOf(from)),
          target: String(categories.indexOf(to)),
          value,
        })),
        lineStyle: { color: 'gradient', opacity: 0.4 },
      },
    ],
  };
}

function name(text: string): string {
  const shown = printable(text).toWellFormed();
  return shown.length > LONGEST_NAME ? `${shown.slice(0, LONGEST_NAME)}…` : shown;
}

/**
 * Makes the ids of a chart its own, as several charts are on one page, and removes what only scripts and pointers need.
 * Quotes in texts are escaped, so no text can match.
 */
function plainSvg(svg: string, index: number): string {
  return svg
    .replace(/<style\b[^>]*>.*?<\/style>\s*/gs, '')
    .replace(/ (?:class|ecmeta_\w+)="[^"]*"/g, '')
    .replace(/(\bid="|"url\(#)zr\d+-/g, `$1chart${index}-`);
}
