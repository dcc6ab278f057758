import type { CustomSeriesRenderItem } from 'echarts';
import type { SpanChart } from '../document.ts';
import { colorOf, INK, LINE, MUTED } from './paint.ts';
import { rowNames, type RowLayout } from './rows.ts';
import type { Drawing, Size } from './size.ts';
import { placeOf, ticksOf, type Tick } from './times.ts';

/** Pixels between two marks. */
const LEAST_MARK_GAP = 3;

/** Draws a strip for each thing: a line from 1 % to 99 %, a box for the middle half, and a mark at the median. */
export function spanDrawings({ rows }: SpanChart, size: Size): readonly Drawing[] {
  const isWide = size.name === 'wide';
  const layout: RowLayout = isWide
    ? { left: 210, right: 22, pitch: 40, top: 10, height: 20 }
    : { left: 14, right: 22, pitch: 46, top: 22, height: 16 };
  const plot = size.width - layout.left - layout.right;
  const ticks = ticksOf(
    rows.map(({ span }) => span),
    plot / 56,
  );
  const option = {
    graphic: rowNames(rows, { ...layout, left: 0, right: 0 }, size),
    grid: {
      outerBoundsMode: 'none' as const,
      left: layout.left,
      right: layout.right,
      top: 0,
      height: rows.length * layout.pitch,
    },
    xAxis: {
      type: 'value' as const,
      min: ticks[0]?.place ?? 0,
      max: ticks.at(-1)?.place ?? 1,
      splitLine: { lineStyle: { color: LINE } },
      axisTick: { customValues: ticks.map(({ place }) => place), show: false },
      axisLine: { show: false },
      axisLabel: {
        color: MUTED,
        fontSize: size.fontSize,
        customValues: ticks.map(({ place }) => place),
        formatter: (place: number) => ticks.find((tick) => tick.place === place)?.name ?? '',
      },
    },
    yAxis: { type: 'value' as const, min: 0, max: rows.length, inverse: true, show: false },
    series: rows.map(({ span, marks = [] }, index) => ({
      type: 'custom' as const,
      silent: true,
      clip: false,
      data: [[span.p1, span.p25, span.p50, span.p75, span.p99].map(placeOf)],
      renderItem: strip(colorOf(index), index, layout, shownMarks(marks, ticks, plot)),
    })),
  };
  return [{ option, width: size.width, height: rows.length * layout.pitch + 26 }];
}

/** The places of the marks on the axis, without those beside it, and those that would run together. */
function shownMarks(marks: readonly number[], ticks: readonly Tick[], plot: number): readonly number[] {
  const [first, last] = [ticks[0]?.place ?? 0, ticks.at(-1)?.place ?? 1];
  const least = ((last - first) / plot) * LEAST_MARK_GAP;
  const shown: number[] = [];
  for (const place of marks.map(placeOf)) {
    const isApart = place - (shown.at(-1) ?? Number.NEGATIVE_INFINITY) >= least;
    if (isApart && place >= first && place <= last) shown.push(place);
  }
  return shown;
}

function strip(
  color: string,
  row: number,
  { pitch, top, height }: RowLayout,
  marks: readonly number[],
): CustomSeriesRenderItem {
  return (_, api) => {
    const [p1, p25, p50, p75, p99] = [0, 1, 2, 3, 4].map((place) => api.coord([api.value(place), 0])[0] ?? 0) as [
      number,
      number,
      number,
      number,
      number,
    ];
    const y = row * pitch + top + height / 2;
    const box = (x: number, width: number, tall: number) => ({
      type: 'rect' as const,
      shape: { x, y: y - tall / 2, width, height: tall },
      style: { fill: color },
    });
    const stroke = (x: number, y1: number, y2: number, lineWidth: number, ink: string) => ({
      type: 'line' as const,
      shape: { x1: x, x2: x, y1, y2 },
      style: { stroke: ink, lineWidth },
    });
    const median = stroke(p50, y - height / 2 - 2, y + height / 2 + 2, 2.5, INK);
    const below = y + height / 2 + 3;
    const strokes = marks.map((place) => stroke(api.coord([place, 0])[0] ?? 0, below, below + 5, 1, MUTED));
    return {
      type: 'group',
      children: [box(p1, Math.max(2, p99 - p1), 3), box(p25, Math.max(2, p75 - p25), height), median, ...strokes],
    };
  };
}
