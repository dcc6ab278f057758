import type { CustomSeriesRenderItem } from 'echarts';
import type { SpanChart } from '../document.ts';
import { colorOf, INK, LINE, MUTED } from './paint.ts';
import { rowNames, type RowLayout } from './rows.ts';
import type { Drawing, Size } from './size.ts';
import { placeOf, ticksOf } from './times.ts';

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
    series: rows.map(({ span }, index) => ({
      type: 'custom' as const,
      silent: true,
      clip: false,
      data: [[span.p1, span.p25, span.p50, span.p75, span.p99].map(placeOf)],
      renderItem: strip(colorOf(index), index, layout),
    })),
  };
  return [{ option, width: size.width, height: rows.length * layout.pitch + 26 }];
}

function strip(color: string, row: number, { pitch, top, height }: RowLayout): CustomSeriesRenderItem {
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
    const mark = {
      type: 'line' as const,
      shape: { x1: p50, x2: p50, y1: y - height / 2 - 2, y2: y + height / 2 + 2 },
      style: { stroke: INK, lineWidth: 2.5 },
    };
    return {
      type: 'group',
      children: [box(p1, Math.max(2, p99 - p1), 3), box(p25, Math.max(2, p75 - p25), height), mark],
    };
  };
}
