import type { RowChart, Series } from '../document.ts';
import { colorOf, INK, LINE, MUTED } from './paint.ts';
import type { Drawing, Size } from './size.ts';
import { labelText, stepAxis } from './words.ts';

/** Where the rows of a chart stand: the name beside its row, or above it on a narrow page. */
export interface RowLayout {
  readonly left: number;
  readonly right: number;
  /** From row to row. */
  readonly pitch: number;
  /** Of the row itself, below its name. */
  readonly top: number;
  readonly height: number;
}

/** Draws a row of columns for each thing. */
export function rowDrawings({ rows, steps }: RowChart, size: Size): readonly Drawing[] {
  const layout: RowLayout =
    size.name === 'wide'
      ? { left: 210, right: 20, pitch: 34, top: 8, height: 24 }
      : { left: 14, right: 14, pitch: 46, top: 20, height: 22 };
  const most = Math.max(1, ...rows.flatMap(({ values }) => values));
  const grids = rows.map((_, index) => ({
    // The row that bears the names of the steps is as wide as the others.
    outerBoundsMode: 'none' as const,
    left: layout.left,
    right: layout.right,
    top: layout.top + index * layout.pitch,
    height: layout.height,
  }));
  const hidden = {
    type: 'category' as const,
    axisLabel: { show: false },
    axisTick: { show: false },
    axisLine: { lineStyle: { color: LINE } },
    data: [...steps] as string[],
  };
  const option = {
    graphic: rowNames(rows, { ...layout, left: 0, right: 0 }, size),
    grid: grids,
    xAxis: rows.map((_, index) => ({
      ...(index === rows.length - 1 ? stepAxis(steps, size) : hidden),
      gridIndex: index,
    })),
    yAxis: rows.map((_, index) => ({ type: 'value' as const, gridIndex: index, max: most, show: false })),
    series: rows.map(({ values }, index) => ({
      type: 'bar' as const,
      xAxisIndex: index,
      yAxisIndex: index,
      silent: true,
      clip: false,
      barCategoryGap: '22%',
      barMaxWidth: 24,
      barMinHeight: 4,
      itemStyle: { color: colorOf(index) },
      data: values.map((value) => (value === 0 ? null : value)),
    })),
  };
  return [{ option, width: size.width, height: rows.length * layout.pitch + 26 }];
}

/** The name of each row in ink, and its note. */
export function rowNames(rows: readonly Series[], { left, right, pitch, top, height }: RowLayout, size: Size) {
  const isWide = size.name === 'wide';
  return rows.flatMap(({ name, note = '' }, index) => {
    const middle = top + index * pitch + height / 2;
    const style = { fontSize: size.fontSize, verticalAlign: 'middle' as const };
    const names = { text: labelText(name, isWide ? 28 : 24), fill: INK, ...style };
    const notes = { text: labelText(note, isWide ? 34 : 30), fill: MUTED, ...style };
    return isWide
      ? [
          { type: 'text' as const, x: 0, y: middle - 7, style: names },
          { type: 'text' as const, x: 0, y: middle + 8, style: notes },
        ]
      : [
          { type: 'text' as const, x: left, y: middle - height / 2 - 9, style: names },
          {
            type: 'text' as const,
            x: size.width - right,
            y: middle - height / 2 - 9,
            style: { ...notes, align: 'right' as const },
          },
        ];
  });
}
