import { columnDrawings } from './chart/columns.ts';
import { figureText } from './chart/figure.ts';
import { paintsOf } from './chart/paint.ts';
import { rowDrawings } from './chart/rows.ts';
import { SIZES, type Drawing, type Size } from './chart/size.ts';
import { spanDrawings } from './chart/spans.ts';
import { compactSvg } from './chart/svg.ts';
import type { Chart, SectionPart } from './document.ts';

/** A chart as a `figure` of HTML, and the part of the page that it stands in. */
export interface Figure {
  readonly part: SectionPart;
  readonly text: string;
}

/** Draws charts, each for wide and for narrow pages. The same chart gives the same text. */
export async function drawFigures(charts: readonly Chart[]): Promise<readonly Figure[]> {
  if (charts.length === 0) return [];
  // The library takes time and memory to load, and only this form needs it.
  const { init } = await loadLibrary();
  const draw = ({ option, width, height }: Drawing) => {
    const canvas = init(null, null, { renderer: 'svg', ssr: true, width, height });
    try {
      canvas.setOption({ animation: false, ...option });
      return canvas.renderToSVGString();
    } finally {
      canvas.dispose();
    }
  };
  return charts.map((chart, index) => {
    const paints = paintsOf(chart, index);
    const svgs = SIZES.flatMap((size) =>
      drawingsOf(chart, size).map((drawing) => compactSvg(draw(drawing), drawing, size, paints)),
    );
    return { part: chart.part, text: figureText(chart, index, svgs) };
  });
}

async function loadLibrary() {
  const [core, { BarChart, CustomChart }, { GraphicComponent, GridComponent }, { SVGRenderer }] = await Promise.all([
    import('echarts/core'),
    import('echarts/charts'),
    import('echarts/components'),
    import('echarts/renderers'),
  ]);
  core.use([BarChart, CustomChart, GraphicComponent, GridComponent, SVGRenderer]);
  return core;
}

function drawingsOf(chart: Chart, size: Size): readonly Drawing[] {
  switch (chart.kind) {
    case 'columns':
      return columnDrawings(chart, size);
    case 'rows':
      return rowDrawings(chart, size);
    case 'spans':
      return spanDrawings(chart, size);
  }
}
